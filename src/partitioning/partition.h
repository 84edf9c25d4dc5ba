// The result of partitioning: ordered segments, each for Torch or for an engine, and for every node where it went and
// why. A value: nothing here builds or runs anything.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <torch/script.h>

#include "torchtrt/error.h"
#include "torchtrt/export.h"

namespace torchtrt::partitioning {

enum class Target { kTorch, kEngine };
TORCHTRT_API const char* toString(Target target);  // "Torch", "Engine"

// An output of an engine segment whose values go into the memory of one of its inputs, by position.
struct Update {
  size_t output = 0;
  size_t input = 0;
};

// Work for one target, as a graph of its own. Graph input i stands for inputs[i] of the partitioned graph, graph output
// i for outputs[i]. Inputs and outputs of engine segments are Tensors. Constants, and numbers and lists that are made
// from them or from shapes, are copied into every segment that needs them.
struct Segment {
  Target target = Target::kTorch;
  bool do_not_merge = false;  // a branch or loop: the interpreter runs it, `blocks` is what is inside
  std::shared_ptr<torch::jit::Graph> graph;
  std::vector<const torch::jit::Value*> inputs;
  std::vector<const torch::jit::Value*> outputs;
  std::vector<const torch::jit::Node*> nodes;  // of the partitioned graph, in its order, without what is copied
  // A node of `graph`, at any depth -> the node of the partitioned graph that it is a copy of.
  std::unordered_map<const torch::jit::Node*, const torch::jit::Node*> origins;
  std::vector<std::vector<Segment>> blocks;  // one list per block of a branch or loop
  std::vector<Update> updates;               // of an engine segment; such outputs have no other readers
};

// The place of a node of the partitioned graph. A node for Torch has a refusal: why it is not in an engine.
struct Verdict {
  const torch::jit::Node* node = nullptr;
  Target target = Target::kTorch;
  std::optional<Refusal> refusal;
};

struct Partition {
  std::shared_ptr<torch::jit::Graph> graph;  // the partitioned graph, unchanged; owns the values that segments name
  std::vector<Segment> segments;             // in the order of execution
  std::vector<Verdict> verdicts;             // in graph order, those of inner blocks before their node
};

TORCHTRT_API std::string print(const Partition& partition);  // "Segment Block @0:\n  Target: Engine\n  Graph: ..."
// All segments of a target at any depth, in the order of execution.
TORCHTRT_API std::vector<const Segment*> segmentsOf(const std::vector<Segment>& segments, Target target);

}  // namespace torchtrt::partitioning
