// Observes tensors while PyTorch runs the graph on example arguments: the types of what Torch segments give, where no
// symbolic propagation reaches. It goes node by node, in branches and loops too; the result of a failing node stays
// unknown.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <torch/script.h>

#include "partitioning/roles.h"
#include "torchtrt/export.h"

namespace torchtrt::partitioning {

struct ObservedType {
  at::ScalarType dtype = at::kFloat;
  std::vector<std::vector<int64_t>> sizes;  // per run in which it was seen; -1 where a run saw several sizes
  std::vector<int> runs;                    // the numbers of these runs
  std::vector<int64_t> largest;             // of all runs
  bool is_steady = true;                    // always of one dtype and rank
};

// The random numbers that are drawn in its scope are given back at its end, or before.
class TORCHTRT_API KeepRandomState {
 public:
  KeepRandomState();
  ~KeepRandomState() {
    restore();
  }
  KeepRandomState(const KeepRandomState&) = delete;
  KeepRandomState& operator=(const KeepRandomState&) = delete;
  void restore() const;

 private:
  std::vector<std::pair<at::Generator, at::Tensor>> states_;
};

class TORCHTRT_API Observations {
 public:
  Observations(std::shared_ptr<torch::jit::Graph> graph, const Roles& roles)
      : graph_(std::move(graph)), roles_(roles) {}

  // One run. An argument that is missing is nothing; what depends on it is not seen. Arguments may be written to. Where
  // they are made up, indices may be out of range: nodes that take any from a GPU run on the CPU.
  void run(const std::vector<std::optional<torch::jit::IValue>>& arguments, bool are_made_up = false);
  int runs() const {
    return runs_;
  }
  // True if a branch was taken without its condition being known: another run takes the other one.
  bool guesses() const {
    return guesses_;
  }
  // True if a run is known to have come through the block: not if it ran only for the nodes in it.
  bool cameThrough(const torch::jit::Block& block) const;
  // The failures of nodes outside of branches and loops.
  struct Failure {
    int runs = 0;
    std::string text;  // of the first
  };
  const std::unordered_map<const torch::jit::Node*, Failure>& failures() const {
    return failures_;
  }
  // The first failure of the last run, with the sizes of its tensors. A branch that the run need not have taken does
  // not count.
  struct FirstFailure {
    const torch::jit::Node* node;
    std::vector<int64_t> sizes;
  };
  const std::optional<FirstFailure>& firstFailure() const {
    return first_failure_;
  }
  // Null where the value was not seen, or is no tensor.
  const ObservedType* find(const torch::jit::Value& value) const;
  // Nodes that failed in the last run, which is known to have come to them.
  const std::unordered_set<const torch::jit::Node*>& failed() const {
    return failed_;
  }
  // Returns the seconds that PyTorch took for the nodes that the last run is known to have come to. Carried nodes have
  // none.
  const std::unordered_map<const torch::jit::Node*, double>& seconds() const {
    return seconds_;
  }

 private:
  using Environment = std::unordered_map<const torch::jit::Value*, torch::jit::IValue>;

  void runBlock(const torch::jit::Block& block, Environment& environment);
  void runNode(const torch::jit::Node& node, Environment& environment);
  void runContext(const torch::jit::Node& node, Environment& environment);
  void runIf(const torch::jit::Node& node, Environment& environment);
  void runAside(const torch::jit::Block& block, Environment& environment);
  void runLoop(const torch::jit::Node& node, Environment& environment);
  void giveOutputs(const torch::jit::Node& node, const torch::jit::Block& block, const Environment& environment,
                   Environment& results);
  std::optional<torch::jit::IValue> valueOf(const torch::jit::Value& value, const Environment& environment);
  void observe(const torch::jit::Value& value, const torch::jit::IValue& seen);
  void noteFailure(const torch::jit::Node& node, const torch::jit::Stack& inputs);

  std::shared_ptr<torch::jit::Graph> graph_;
  const Roles& roles_;
  std::unordered_map<const torch::jit::Value*, ObservedType> types_;
  std::unordered_map<const torch::jit::Value*, int> last_run_;
  std::unordered_set<const torch::jit::Block*>
      entered_;  // beside those that ran aside, whose inner ones count here too
  std::unordered_map<const torch::jit::Node*, Failure> failures_;
  std::unordered_set<const torch::jit::Node*> failed_;
  std::unordered_map<const torch::jit::Node*, double> seconds_;
  int aside_ = 0;  // blocks around what runs that no run is known to come to
  int runs_ = 0;
  bool guesses_ = false;
  bool is_made_up_ = false;
  std::optional<FirstFailure> first_failure_;
};

}  // namespace torchtrt::partitioning
