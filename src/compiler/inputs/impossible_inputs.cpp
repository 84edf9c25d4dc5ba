#include "compiler/inputs/impossible_inputs.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

#include "compiler/reports/segment_report.h"
#include "compiler/reports/text.h"
#include "conversion/conversion.h"
#include "lowering/graph_walk.h"
#include "torchtrt/error.h"

namespace torchtrt::compiler {

namespace {

using partitioning::Observations;
using partitioning::Target;
using partitioning::Verdict;
using torch::jit::Node;
using torch::jit::Value;

// True if shapes and dtypes alone decide whether the operator takes its operands.
bool looksAtTypesAlone(const Node& node) {
  static const std::set<std::string> kinds = {
      "aten::conv1d",
      "aten::conv2d",
      "aten::conv3d",
      "aten::conv_transpose1d",
      "aten::conv_transpose2d",
      "aten::conv_transpose3d",
      "aten::linear",
      "aten::matmul",
      "aten::mm",
      "aten::bmm",
      "aten::addmm",
      "aten::baddbmm",
      "aten::batch_norm",
      "aten::layer_norm",
      "aten::group_norm",
      "aten::instance_norm",
      "aten::cat",
      "aten::stack",
      "aten::add",
      "aten::sub",
      "aten::mul",
      "aten::div",
      "aten::max_pool1d",
      "aten::max_pool2d",
      "aten::max_pool3d",
      "aten::avg_pool1d",
      "aten::avg_pool2d",
      "aten::avg_pool3d",
      "aten::lstm",
      "aten::gru",
      "aten::permute",
      "aten::transpose",
      "aten::scaled_dot_product_attention",
      "aten::prelu",
      "aten::pixel_shuffle",
  };
  return kinds.count(node.kind().toQualString()) != 0;
}

// True if sizes may follow from what tensors hold, in which example runs differ from other calls.
bool readsElements(torch::jit::Graph& graph) {
  static const std::set<std::string> kinds = {"aten::item",           "aten::Int",         "aten::Float",
                                              "aten::Bool",           "aten::index",       "aten::masked_select",
                                              "aten::ScalarImplicit", "aten::IntImplicit", "aten::tolist"};
  bool found = false;
  lowering::forEachNode(graph.block(), [&](const Node* node) {
    found = found || kinds.count(node->kind().toQualString()) != 0 || conversion::hasLateSize(*node);
  });
  return found;
}

bool isMisfit(const Verdict& verdict) {
  static const std::set<std::string> codes = {"conversion-failed", "dtype", "argument"};
  return verdict.target == Target::kTorch && verdict.refusal && codes.count(verdict.refusal->code) != 0 &&
         verdict.node->owningBlock()->owningNode() == nullptr;
}

// The first node before which, or at which, example runs fail; null where they come through.
class Causes {
 public:
  explicit Causes(const Observations& observations) : observations_(observations) {}

  const Node* of(const Node& node) {
    const auto [known, is_new] = causes_.emplace(&node, nullptr);
    if (!is_new) {
      return known->second;
    }
    const Node* cause = observations_.failures().count(&node) != 0 ? &node : nullptr;
    for (const Value* input : node.inputs()) {
      const Node* before = of(*input->node());
      cause = before != nullptr ? before : cause;
    }
    return causes_[&node] = cause;
  }

 private:
  const Observations& observations_;
  std::unordered_map<const Node*, const Node*> causes_;
};

}  // namespace

bool hasMisfits(const partitioning::Partition& partition) {
  return std::any_of(partition.verdicts.begin(), partition.verdicts.end(),
                     [](const Verdict& verdict) { return isMisfit(verdict) && looksAtTypesAlone(*verdict.node); });
}

void rejectImpossibleInputs(const partitioning::Partition& partition, const Observations& observations) {
  if (observations.guesses() || readsElements(*partition.graph)) {
    return;
  }
  for (const Verdict& verdict : partition.verdicts) {
    const auto failure = observations.failures().find(verdict.node);
    if (failure == observations.failures().end() || failure->second.runs < observations.runs() || !isMisfit(verdict) ||
        !looksAtTypesAlone(*verdict.node)) {
      continue;
    }
    throw CompileError(ErrorCode::kInvalidInputSpec,
                       std::string("no call with such inputs comes through: ") + verdict.node->kind().toQualString() +
                           ": " + messageOf(failure->second.text),
                       conversion::util::locationOf(*verdict.node), "give the sizes and dtypes that the module takes");
  }
}

void nameCauses(partitioning::Partition& partition, const Observations& observations) {
  Causes causes(observations);
  for (Verdict& verdict : partition.verdicts) {
    const auto failure = observations.failures().find(verdict.node);
    if (failure != observations.failures().end() && verdict.refusal && isMisfit(verdict)) {
      verdict.refusal->reason += "; PyTorch fails there, too: " + messageOf(failure->second.text);
      continue;
    }
    const Node* cause = verdict.refusal && verdict.refusal->code == "unknown-type" ? causes.of(*verdict.node) : nullptr;
    if (cause != nullptr && cause != verdict.node) {
      verdict.refusal->reason = "it is behind " + describe(*cause) + ", at which the example run fails";
    }
  }
}

}  // namespace torchtrt::compiler
