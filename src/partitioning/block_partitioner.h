// Partitions one block; branches and loops in it are partitioned the same way, inside.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "partitioning/dependencies.h"
#include "partitioning/ordering.h"
#include "partitioning/partition.h"
#include "partitioning/partitioning.h"
#include "partitioning/roles.h"

namespace torchtrt::partitioning {

struct PartitioningContext {
  const Roles& roles;
  const ConvertibleQuestion& refusal_of;
  const PartitioningOptions& options;
  const std::unordered_set<const torch::jit::Node*> deciders_of_layout;
};

class BlockPartitioner {
 public:
  BlockPartitioner(const torch::jit::Block& block, const PartitioningContext& context);

  // The algorithm.
  std::vector<Segment> run();
  const std::vector<Verdict>& verdicts() const {
    return verdicts_;
  }

 private:
  using Group = std::vector<int>;  // of numbers of placed nodes
  struct Move {
    int node;
    Refusal refusal;
  };

  // These decide where each node goes.
  std::optional<Refusal> refusalFor(const torch::jit::Node& node) const;
  void judge();
  void moveToTorch(int node, Refusal refusal);
  // Engines take and give tensors: what depends on another value that comes from PyTorch, or gives one, moves there.
  void spreadNonTensors();
  bool spreadOnce();
  bool engineTakes(const torch::jit::Value& value);
  bool mayCross(const torch::jit::Value& value) const;  // the border of an engine
  bool takesAll(const torch::jit::Node& node, const torch::jit::Node& outermost);
  int producerOf(const torch::jit::Value& value) const;  // its number; -1 where it is no placed node of this block

  // These group the nodes.
  DependencyGraph graph() const;
  std::vector<Group> groups() const;
  std::vector<Move> leastWorthwhile(const std::vector<Group>& groups) const;
  std::vector<Move> lateThatSplit(const std::vector<Group>& groups) const;
  std::vector<Move> listsAcross(const std::vector<Group>& groups) const;
  bool allConverts() const;

  std::vector<Segment> build(const std::vector<Group>& groups);
  Segment buildSegment(const Group& group, const std::vector<torch::jit::Value*>& wanted);
  void addVerdicts();

  const torch::jit::Block& block_;
  const PartitioningContext& context_;
  BlockDependencies dependencies_;
  std::vector<std::vector<int>> late_before_;
  std::vector<Colour> colours_;
  std::vector<std::optional<Refusal>> refusals_;
  std::unordered_map<const torch::jit::Node*, int> numbers_;
  std::unordered_map<const torch::jit::Node*, bool> taken_;  // carried nodes whose chain an engine can compute
  std::unordered_map<const torch::jit::Node*, std::vector<Verdict>> inner_verdicts_;
  std::unordered_set<const torch::jit::Node*> carried_by_engines_;
  std::vector<Verdict> verdicts_;
};

}  // namespace torchtrt::partitioning
