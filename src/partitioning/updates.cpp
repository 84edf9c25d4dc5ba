#include "partitioning/updates.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "partitioning/segment_builder.h"

namespace torchtrt::partitioning {

namespace {

using torch::jit::Node;
using torch::jit::Value;

std::optional<size_t> positionOf(const std::vector<const Value*>& values, const Value* value) {
  const auto found = std::find(values.begin(), values.end(), value);
  return found == values.end() ? std::nullopt : std::optional(static_cast<size_t>(found - values.begin()));
}

// The update that the copy is, if its source is a result of the engine, and its target one of the inputs.
std::optional<Update> updateOf(const Node& node, const Segment& engine) {
  if (node.kind() != torch::jit::aten::copy_ || node.output()->hasUses()) {
    return std::nullopt;
  }
  const auto output = positionOf(engine.outputs, node.input(1));
  const auto input = positionOf(engine.inputs, node.input(0));
  return output && input ? std::optional(Update{*output, *input}) : std::nullopt;
}

// True if the value is a result of the method, or another segment needs it.
bool isNeededElsewhere(const Value* value, const Partition& partition, const Segment& copies, const Roles& roles) {
  std::vector<Value*> returned;
  for (Value* output : partition.graph->outputs()) {
    roles.addNeeds(output, returned);
  }
  const auto needs = [&](const Segment& segment) {
    return &segment != &copies && positionOf(segment.inputs, value).has_value();
  };
  return std::find(returned.begin(), returned.end(), value) != returned.end() ||
         std::any_of(partition.segments.begin(), partition.segments.end(), needs);
}

// The segment's copies as updates. Empty if one of them is none, if two write to one tensor, or if another node of the
// segment looks at elements: the engine changes these in front of it.
std::vector<Update> updatesOf(const Segment& segment, const Segment& engine, const Partition& partition,
                              const Roles& roles) {
  std::vector<Update> updates;
  std::set<size_t> inputs, outputs;
  for (const Node* node : segment.nodes) {
    if (onlyHandsOn(*node)) {
      continue;
    }
    const auto update = updateOf(*node, engine);
    if (!update || !inputs.insert(update->input).second || !outputs.insert(update->output).second ||
        isNeededElsewhere(node->input(1), partition, segment, roles)) {
      return {};
    }
    updates.push_back(*update);
  }
  return updates;
}

// The segment without its copies.
Segment remainderOf(const Segment& copies, const Roles& roles) {
  SegmentBuilder builder(Target::kTorch, roles);
  for (const Node* node : copies.nodes) {
    if (onlyHandsOn(*node)) {
      builder.add(*node);
    }
  }
  for (const Value* output : copies.outputs) {
    builder.addOutput(*output);
  }
  return builder.take();
}

}  // namespace

void absorbUpdates(Partition& partition, const Roles& roles) {
  std::set<const Node*> absorbed;
  std::vector<Segment>& segments = partition.segments;
  for (size_t i = 1; i < segments.size(); ++i) {
    Segment& engine = segments[i - 1];
    Segment& copies = segments[i];
    if (engine.target != Target::kEngine || copies.target != Target::kTorch || copies.do_not_merge) {
      continue;
    }
    engine.updates = updatesOf(copies, engine, partition, roles);
    if (!engine.updates.empty()) {
      std::copy_if(copies.nodes.begin(), copies.nodes.end(), std::inserter(absorbed, absorbed.end()),
                   [](const Node* node) { return !onlyHandsOn(*node); });
      copies = remainderOf(copies, roles);
      if (copies.nodes.empty()) {
        segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
  for (Verdict& verdict : partition.verdicts) {
    if (absorbed.count(verdict.node) != 0) {
      verdict = {verdict.node, Target::kEngine, std::nullopt};
    }
  }
}

}  // namespace torchtrt::partitioning
