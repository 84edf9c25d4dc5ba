#include "partitioning/segment_builder.h"

#include <algorithm>

namespace torchtrt::partitioning {

SegmentBuilder::SegmentBuilder(Target target, std::string reason) {
  segment_.target = target;
  segment_.reason = std::move(reason);
  segment_.graph = std::make_shared<torch::jit::Graph>();
}

torch::jit::Value* SegmentBuilder::valueInSegment(torch::jit::Value* value) {
  const auto found = map_.find(value);
  if (found != map_.end()) {
    return found->second;
  }
  if (value->node()->kind() == torch::jit::prim::Constant) {
    // Ahead of all else: a node that is being cloned now may be nested in a block.
    torch::jit::Node* constant = clone(*value->node());
    segment_.graph->prependNode(constant);
    return map_[value] = constant->output();
  }
  torch::jit::Value* input = segment_.graph->addInput()->copyMetadata(value);
  segment_.inputs.push_back(value);
  return map_[value] = input;
}

torch::jit::Node* SegmentBuilder::clone(const torch::jit::Node& node) {
  // createClone only reads from the node.
  return segment_.graph->createClone(const_cast<torch::jit::Node*>(&node),
                                     [this](torch::jit::Value* value) { return valueInSegment(value); });
}

void SegmentBuilder::add(const torch::jit::Node& node) {
  torch::jit::Node* copy = segment_.graph->appendNode(clone(node));
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    map_[node.output(i)] = copy->output(i);
    produced_.insert(node.output(i));
  }
  ++node_count_;
}

void SegmentBuilder::addOutput(const torch::jit::Value& value) {
  const auto known = std::find(segment_.outputs.begin(), segment_.outputs.end(), &value);
  if (known == segment_.outputs.end()) {
    segment_.outputs.push_back(&value);
    segment_.graph->registerOutput(map_.at(&value));
  }
}

void SegmentBuilder::addConstant(const torch::jit::Value& value) {
  valueInSegment(const_cast<torch::jit::Value*>(&value));
  produced_.insert(&value);
  ++node_count_;
}

}  // namespace torchtrt::partitioning
