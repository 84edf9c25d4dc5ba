// The result of partitioning: ordered segments, each for Torch or for an engine, and for every node where it went and
// why. A value: nothing here builds or runs anything.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torch/script.h>

#include "torchtrt/error.h"
#include "torchtrt/export.h"

namespace torchtrt::partitioning {

enum class Target { kTorch, kEngine };
TORCHTRT_API const char* toString(Target target);  // "Torch", "Engine"

// Consecutive work for one target, as a graph of its own. Graph input i stands for inputs[i] of the partitioned graph,
// graph output i for outputs[i]. Inputs and outputs of engine segments are Tensors; constants are copied into every
// segment.
struct Segment {
  Target target = Target::kTorch;
  std::string reason;
  std::shared_ptr<torch::jit::Graph> graph;
  std::vector<const torch::jit::Value*> inputs;
  std::vector<const torch::jit::Value*> outputs;
};

// Where a node of the partitioned graph went. A node for Torch that could have been converted has a refusal too: the
// rule.
struct Verdict {
  const torch::jit::Node* node = nullptr;
  Target target = Target::kTorch;
  std::optional<Refusal> refusal;
};

struct Partition {
  std::shared_ptr<torch::jit::Graph> graph;  // the partitioned graph, unchanged; owns the values that segments name
  std::vector<Segment> segments;             // in the order of execution
  std::vector<Verdict> verdicts;             // in graph order, without constants
};

TORCHTRT_API std::string print(const Partition& partition);  // "Segment Block @0:\n  Target: Engine\n  Graph: ..."

}  // namespace torchtrt::partitioning
