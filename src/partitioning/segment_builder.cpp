#include "partitioning/segment_builder.h"

#include <algorithm>

namespace torchtrt::partitioning {

namespace {

using Origins = std::unordered_map<const torch::jit::Node*, const torch::jit::Node*>;

void addOrigins(const torch::jit::Node& clone, const torch::jit::Node& node, Origins& origins) {
  origins[&clone] = &node;
  for (size_t i = 0; i < node.blocks().size(); ++i) {
    auto copied = clone.blocks()[i]->nodes().begin();
    for (const torch::jit::Node* inner : node.blocks()[i]->nodes()) {
      addOrigins(**copied++, *inner, origins);
    }
  }
}

}  // namespace

SegmentBuilder::SegmentBuilder(Target target, const Roles& roles) : roles_(roles) {
  segment_.target = target;
  segment_.graph = std::make_shared<torch::jit::Graph>();
}

torch::jit::Value* SegmentBuilder::valueInSegment(torch::jit::Value* value) {
  const auto found = map_.find(value);
  if (found != map_.end()) {
    return found->second;
  }
  switch (roles_.of(*value->node())) {
    case Role::kConstant: {
      // Ahead of all else: a node that is being copied now may be nested in a block.
      torch::jit::Node* constant = segment_.graph->createClone(value->node(), [](auto* same) { return same; });
      segment_.graph->prependNode(constant);
      return map_[value] = constant->output();
    }
    case Role::kCarried:
      copy(*value->node());
      return map_.at(value);
    default:
      torch::jit::Value* input = segment_.graph->addInput()->copyMetadata(value);
      segment_.inputs.push_back(value);
      return map_[value] = input;
  }
}

void SegmentBuilder::copy(const torch::jit::Node& node) {
  // createClone only reads from the node.
  torch::jit::Node* clone = segment_.graph->createClone(
      const_cast<torch::jit::Node*>(&node), [this](torch::jit::Value* value) { return valueInSegment(value); });
  segment_.graph->appendNode(clone);
  addOrigins(*clone, node, segment_.origins);
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    map_[node.output(i)] = clone->output(i);
  }
}

void SegmentBuilder::add(const torch::jit::Node& node) {
  copy(node);
  segment_.nodes.push_back(&node);
}

void SegmentBuilder::addOutput(const torch::jit::Value& value) {
  const auto known = std::find(segment_.outputs.begin(), segment_.outputs.end(), &value);
  if (known == segment_.outputs.end()) {
    segment_.outputs.push_back(&value);
    segment_.graph->registerOutput(valueInSegment(const_cast<torch::jit::Value*>(&value)));
  }
}

}  // namespace torchtrt::partitioning
