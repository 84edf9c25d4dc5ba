// Copies nodes of a graph into a graph of their own, with the constants and carried values that they need.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>

#include <torch/script.h>

#include "partitioning/partition.h"
#include "partitioning/roles.h"

namespace torchtrt::partitioning {

class TORCHTRT_API SegmentBuilder {
 public:
  SegmentBuilder(Target target, const Roles& roles);

  // Adds a node; nodes come in graph order. A need that no added node gives becomes an input. The whole chain that
  // makes a carried value is copied.
  void add(const torch::jit::Node& node);
  // Adds an output; outputs keep the order of the calls. A second call for one value does nothing.
  void addOutput(const torch::jit::Value& value);

  Segment take() {
    return std::move(segment_);
  }

 private:
  torch::jit::Value* valueInSegment(torch::jit::Value* value);
  void copy(const torch::jit::Node& node);

  const Roles& roles_;
  Segment segment_;
  std::unordered_map<const torch::jit::Value*, torch::jit::Value*> map_;
};

}  // namespace torchtrt::partitioning
