#include "compiler/attempts.h"

#include "base/dump.h"
#include "base/logging.h"
#include "compiler/checking/agreement.h"
#include "compiler/segments/tensor_devices.h"
#include "conversion/conversion.h"
#include "lowering/graph_walk.h"

namespace torchtrt::compiler {

using partitioning::Partition;

namespace {

// Nodes that failed move to PyTorch. An engine ends behind a node whose size is known only when it has run.
void learn(const Failures& failures, partitioning::PartitioningOptions& options) {
  for (const auto& [node, refusal] : failures) {
    const bool ends_engine = refusal.code == conversion::kLateSize && node->blocks().empty();
    if (!ends_engine || !options.late.insert(node).second) {
      options.refused.emplace(node, refusal);
    }
  }
}

}  // namespace

partitioning::PartitioningOptions partitioningOptions(const lowering::LoweredGraph& lowered,
                                                      const ts::CompileSpec& spec, const DeviceTarget& target) {
  partitioning::PartitioningOptions options;
  if (target.mayMeetOthers()) {
    options.refused = elsewhere(*lowered.graph, target.device);
  }
  options.user_choice = {{spec.torch_executed_ops.begin(), spec.torch_executed_ops.end()}, spec.torch_executed_modules};
  if (spec.min_block_size.isGiven()) {
    options.min_block_size = spec.min_block_size;
  }
  options.require_full_compilation = spec.require_full_compilation;
  options.what = methodName(lowered);
  options.inner = conversion::complexValues(*lowered.graph->block());
  lowering::forEachNode(lowered.graph->block(), [&](const torch::jit::Node* node) {
    if (conversion::hasLateSize(*node)) {
      options.late.insert(node);
    }
    if (lowered.computes_gradients) {
      options.refused.emplace(node, Refusal{"gradients", "the method computes gradients, and engines keep none"});
    }
  });
  return options;
}

Partition partitionOf(const lowering::LoweredGraph& lowered, const partitioning::Roles& roles,
                      const partitioning::PartitioningOptions& options) {
  const auto real_question = options.require_full_compilation ? conversion::refusalOfWhole : conversion::refusalOf;
  const auto question = [&](const torch::jit::Node& node) {
    auto refusal = conversion::refusalOfComplex(node, options.inner);
    return refusal ? refusal : real_question(node);
  };
  Partition partition = partitioning::partition(lowered.graph, roles, question, options);
  if (dump::isOn()) {
    dump::write("torchscript", options.what, "partitioned", partitioning::print(partition));
  }
  TORCHTRT_LOG(kGRAPH, "partition of " << options.what << "\n" << partitioning::print(partition));
  return partition;
}

std::optional<std::string> Attempts::untilNothingFails(partitioning::PartitioningOptions tried, const Try& attempt) {
  Outcome outcome;
  do {
    learn(outcome.failures, tried);
    partition_ = clock_.run(Phase::kPartitioning, [&] { return partitionOf(lowered_, roles_, tried); });
    outcome = attempt(partition_);
  } while (!outcome.failures.empty());
  last_options_ = std::move(tried);
  return outcome.difference;
}

void Attempts::run(const Try& attempt, const Blame& blame) {
  while (const auto difference = untilNothingFails(options_, attempt)) {
    const Failures blamed = blame(partition_, *difference);
    learn(blamed, options_);
    if (blamed.empty()) {
      refuseFirstThatDisagrees(partition_, *difference, options_, [&](partitioning::PartitioningOptions tried) {
        return untilNothingFails(std::move(tried), attempt);
      });
    }
  }
}

void Attempts::run(const std::function<Failures(const Partition& partition)>& attempt) {
  untilNothingFails(options_, [&](const Partition& partition) { return Outcome{attempt(partition)}; });
}

}  // namespace torchtrt::compiler
