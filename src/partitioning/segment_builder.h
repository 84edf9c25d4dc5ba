// Copies nodes of a graph into the graph of a segment, with what they need as inputs and constants.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <torch/script.h>

#include "partitioning/partition.h"

namespace torchtrt::partitioning {

class SegmentBuilder {
 public:
  SegmentBuilder(Target target, std::string reason);

  // Nodes come in graph order. A value that no added node makes becomes an input, a constant is copied.
  void add(const torch::jit::Node& node);
  bool empty() const {
    return node_count_ == 0;
  }
  bool produces(const torch::jit::Value& value) const {
    return produced_.count(&value) != 0;
  }
  // In the order of the calls; a second call for one value does nothing.
  void addOutput(const torch::jit::Value& value);
  // A constant of the partitioned graph, as something that this segment makes.
  void addConstant(const torch::jit::Value& value);

  Segment take() {
    return std::move(segment_);
  }

 private:
  torch::jit::Value* valueInSegment(torch::jit::Value* value);
  torch::jit::Node* clone(const torch::jit::Node& node);

  Segment segment_;
  std::unordered_map<const torch::jit::Value*, torch::jit::Value*> map_;
  std::unordered_set<const torch::jit::Value*> produced_;
  int node_count_ = 0;
};

}  // namespace torchtrt::partitioning
