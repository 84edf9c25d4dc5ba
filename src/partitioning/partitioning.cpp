#include "partitioning/partitioning.h"

#include <algorithm>
#include <sstream>

#include "lowering/graph_walk.h"
#include "lowering/memory/memory_layout.h"
#include "partitioning/block_partitioner.h"
#include "partitioning/updates.h"

namespace torchtrt::partitioning {

namespace {

bool standsInTheWay(const Verdict& verdict) {
  return verdict.refusal && verdict.refusal->code != kCarriedCode;
}

// "\n  %3 : Tensor = aten::lgamma(%x) # model.py:5:8\n    schema: ...\n    reason: ..."
void explain(std::ostream& out, const Verdict& verdict) {
  const torch::jit::FunctionSchema* schema = verdict.node->maybeSchema();
  out << "\n  " << describe(*verdict.node) << "\n    schema: " << (schema ? c10::toString(*schema) : "none")
      << "\n    reason: " << verdict.refusal->reason;
}

[[noreturn]] void throwUnsupported(const std::vector<Verdict>& verdicts, const std::string& what) {
  std::ostringstream nodes;
  int count = 0;
  for (const Verdict& verdict : verdicts) {
    if (standsInTheWay(verdict)) {
      explain(nodes, verdict);
      ++count;
    }
  }
  throw CompileError(ErrorCode::kUnsupportedOperator,
                     "unable to convert " + std::to_string(count) + (count == 1 ? " node" : " nodes") + " of " + what +
                         ":" + nodes.str(),
                     {},
                     "leave them to PyTorch (require_full_compilation = false), write the operators in other terms, or "
                     "register a converter for each schema with "
                     "RegisterNodeConversionPatterns().pattern({schema, converter})");
}

void checkFullyCompiled(const Partition& partition, const std::string& what) {
  if (std::any_of(partition.verdicts.begin(), partition.verdicts.end(), standsInTheWay)) {
    throwUnsupported(partition.verdicts, what);
  }
  if (partition.segments.empty()) {
    throw CompileError(ErrorCode::kInvalidModule, "there is nothing to compile in " + what + ": it computes nothing",
                       {}, "compile a module whose method works on its inputs");
  }
}

// The nodes of branches and loops within engines go with them, ahead of the node.
std::vector<Verdict> withInner(const std::vector<Verdict>& verdicts, const Roles& roles) {
  std::vector<Verdict> all;
  for (const Verdict& verdict : verdicts) {
    if (verdict.target == Target::kEngine) {
      for (const torch::jit::Block* block : verdict.node->blocks()) {
        lowering::forEachNode(const_cast<torch::jit::Block*>(block), [&](const torch::jit::Node* node) {
          if (roles.of(*node) != Role::kConstant) {
            all.push_back({node, Target::kEngine, std::nullopt});
          }
        });
      }
    }
    all.push_back(verdict);
  }
  return all;
}

}  // namespace

std::string describe(const torch::jit::Node& node) {
  std::ostringstream out;
  node.print(out, 0, nullptr, /*print_source_locations=*/true, /*print_attributes=*/true, /*print_scopes=*/false,
             /*print_body=*/false);
  std::string text = out.str();
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

Partition partition(const std::shared_ptr<torch::jit::Graph>& graph, const Roles& roles,
                    const ConvertibleQuestion& refusal_of, const PartitioningOptions& options) {
  const PartitioningContext context{roles, refusal_of, options,
                                    lowering::decidersOfLayout(graph->block(), lowering::writesThatShow(*graph))};
  BlockPartitioner partitioner(*graph->block(), context);
  Partition result{graph, partitioner.run(), {}};
  result.verdicts = withInner(partitioner.verdicts(), roles);
  absorbUpdates(result, roles);
  if (options.require_full_compilation) {
    checkFullyCompiled(result, options.what);
  }
  return result;
}

Partition partition(const std::shared_ptr<torch::jit::Graph>& graph, const ConvertibleQuestion& refusal_of,
                    const PartitioningOptions& options) {
  return partition(graph, Roles(graph), refusal_of, options);
}

}  // namespace torchtrt::partitioning
