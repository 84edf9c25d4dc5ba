// Tries partitions until nothing fails: nodes that failed move to PyTorch, and the rest is tried again.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "compiler/phase_clock.h"
#include "compiler/segments/segment_engines.h"
#include "compiler/task.h"
#include "compiler/updates/choices.h"
#include "partitioning/partitioning.h"
#include "partitioning/roles.h"

namespace torchtrt::compiler {

partitioning::PartitioningOptions partitioningOptions(const lowering::LoweredGraph& lowered,
                                                      const ts::CompileSpec& spec, const DeviceTarget& target);
partitioning::Partition partitionOf(const lowering::LoweredGraph& lowered, const partitioning::Roles& roles,
                                    const partitioning::PartitioningOptions& options);

class Attempts {
 public:
  // The result of trying a partition. With failures, another partition without them is tried.
  struct Outcome {
    Failures failures = {};
    std::optional<std::string> difference = std::nullopt;  // of the whole module from PyTorch
  };
  using Try = std::function<Outcome(const partitioning::Partition& partition)>;
  // Returns the nodes that a difference is known to come from, if any are; throws where nothing may fall back.
  using Blame = std::function<Failures(const partitioning::Partition& partition, const std::string& difference)>;

  // Begins, given choices, where the attempts that made these ended.
  Attempts(const Task& task, const partitioning::Roles& roles, PhaseClock& clock, const Choices* choices = nullptr)
      : lowered_(task.lowered),
        roles_(roles),
        clock_(clock),
        options_(partitioningOptions(task.lowered, task.spec, task.target)) {
    if (choices != nullptr) {
      follow(*choices, *lowered_.graph, options_);
    }
  }

  // Partitions and tries until nothing fails and nothing differs. Where nobody can be blamed for a difference, the
  // first node that brings it is searched for, by further attempts.
  void run(const Try& attempt, const Blame& blame);
  // The same without a comparison of the whole.
  void run(const std::function<Failures(const partitioning::Partition& partition)>& attempt);

  // The last that was tried.
  partitioning::Partition& partition() {
    return partition_;
  }
  // Returns the choices that led to this attempt.
  Choices choices() const {
    return choicesOf(*lowered_.graph, last_options_);
  }

 private:
  // A failure is known to this attempt alone: another that leaves more to PyTorch may convert it.
  std::optional<std::string> untilNothingFails(partitioning::PartitioningOptions tried, const Try& attempt);

  const lowering::LoweredGraph& lowered_;
  const partitioning::Roles& roles_;
  PhaseClock& clock_;
  partitioning::PartitioningOptions options_;
  partitioning::Partition partition_;
  partitioning::PartitioningOptions last_options_;
};

}  // namespace torchtrt::compiler
