#include "partitioning/block_partitioner.h"

#include <algorithm>

#include "base/checkpoint.h"
#include "partitioning/late.h"
#include "partitioning/segment_builder.h"
#include "partitioning/worth.h"

namespace torchtrt::partitioning {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

namespace {

const char* const kNonTensor = "non-tensor-dependency";

std::string count(int64_t number, const char* what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

// Says why the value cannot cross a border; of tensors, complex ones cannot.
std::string cannotCross(const Value& value) {
  const std::string name = "%" + value.debugName() + " of type ";
  return isTensor(value) ? name + "complex Tensor, and engines give real tensors"
                         : name + value.type()->str() + ", and engines give tensors";
}

}  // namespace

BlockPartitioner::BlockPartitioner(const Block& block, const PartitioningContext& context)
    : block_(block),
      context_(context),
      dependencies_(dependenciesOf(block, context.roles)),
      late_before_(lateBefore(dependencies_, context.options.late)) {
  for (size_t i = 0; i < dependencies_.nodes.size(); ++i) {
    numbers_[dependencies_.nodes[i]] = static_cast<int>(i);
  }
}

std::vector<Segment> BlockPartitioner::run() {
  judge();
  spreadNonTensors();
  std::vector<Group> ordered = groups();
  while (true) {
    std::vector<Move> moves = listsAcross(ordered);
    if (moves.empty()) {
      moves = lateThatSplit(ordered);
    }
    if (moves.empty()) {
      moves = leastWorthwhile(ordered);
    }
    if (moves.empty()) {
      break;
    }
    for (Move& move : moves) {
      moveToTorch(move.node, std::move(move.refusal));
    }
    spreadNonTensors();
    ordered = groups();
  }
  std::vector<Segment> segments = build(ordered);
  addVerdicts();
  return segments;
}

std::optional<Refusal> BlockPartitioner::refusalFor(const Node& node) const {
  const auto known = context_.options.refused.find(&node);
  if (known != context_.options.refused.end()) {
    return known->second;
  }
  if (auto refusal = refusalBy(context_.options.user_choice, node)) {
    return refusal;
  }
  // Nothing can be behind in a branch or loop that an engine would take over whole, or if one engine has to do.
  const bool nothing_behind =
      node.owningBlock() != &block_ || (context_.options.require_full_compilation && !isOnlyReturned(node));
  if (nothing_behind && context_.options.late.count(&node) != 0) {
    return Refusal{"data-dependent", std::string(node.kind().toQualString()) +
                                         " shows how large its result is when it has run, and what needs it is in the "
                                         "same engine"};
  }
  if (context_.deciders_of_layout.count(&node) != 0) {
    return Refusal{"memory-layout", std::string(node.kind().toQualString()) +
                                        " is made for what sees strides, and engines lay tensors out their own way"};
  }
  for (const Block* inner : node.blocks()) {
    for (const Node* each : inner->nodes()) {
      if (auto refusal = refusalFor(*each)) {
        return refusal;
      }
    }
  }
  return node.owningBlock() == &block_ ? context_.refusal_of(node) : std::nullopt;
}

void BlockPartitioner::judge() {
  for (const Node* node : dependencies_.nodes) {
    std::optional<Refusal> refusal = refusalFor(*node);
    if (!refusal && sharesWrittenMemory(*node, context_.roles)) {
      refusal = Refusal{"mutation", std::string(node->kind().toQualString()) +
                                        " writes to memory that others see, or gives a view of such memory"};
    }
    colours_.push_back(Colour::kEngine);
    refusals_.emplace_back();
    if (refusal) {
      moveToTorch(static_cast<int>(colours_.size()) - 1, std::move(*refusal));
    }
  }
}

void BlockPartitioner::moveToTorch(int node, Refusal refusal) {
  const auto index = static_cast<size_t>(node);
  const bool stands_alone = context_.roles.of(*dependencies_.nodes[index]) == Role::kControl;
  colours_[index] = stands_alone ? Colour::kAlone : Colour::kTorch;
  refusals_[index] = std::move(refusal);
}

int BlockPartitioner::producerOf(const Value& value) const {
  const Node* producer = ancestorIn(block_, *value.node());
  const auto found = producer != nullptr ? numbers_.find(producer) : numbers_.end();
  return found == numbers_.end() ? -1 : found->second;
}

void BlockPartitioner::spreadNonTensors() {
  while (spreadOnce()) {
    checkpoint();
  }
}

bool BlockPartitioner::spreadOnce() {
  bool changed = false;
  taken_.clear();
  const auto give_up_producers = [&](const std::vector<Value*>& needs, const char* who) {
    for (const Value* need : needs) {
      const int producer = producerOf(*need);
      if (producer >= 0 && colours_[static_cast<size_t>(producer)] == Colour::kEngine && !mayCross(*need)) {
        moveToTorch(producer, {kNonTensor, std::string(who) + " reads " + cannotCross(*need)});
        changed = true;
      }
    }
  };
  for (size_t i = 0; i < colours_.size(); ++i) {
    const Node& node = *dependencies_.nodes[i];
    if (colours_[i] != Colour::kEngine) {
      give_up_producers(context_.roles.needsOf(node), "PyTorch");
    } else if (!takesAll(node, node)) {
      moveToTorch(static_cast<int>(i),
                  {kNonTensor, std::string(node.kind().toQualString()) +
                                   " takes a value that PyTorch computes, and engines take tensors"});
      changed = true;
    }
  }
  std::vector<Value*> returned;
  for (Value* output : const_cast<Block&>(block_).outputs()) {
    context_.roles.addNeeds(output, returned);
  }
  give_up_producers(returned, "the result");
  return changed;
}

bool BlockPartitioner::mayCross(const Value& value) const {
  return isTensor(value) && context_.options.inner.count(&value) == 0;
}

bool BlockPartitioner::takesAll(const Node& node, const Node& outermost) {
  const auto is_taken = [&](const Value* value) {
    return lowering::isInside(*value->node(), outermost) || engineTakes(*value);
  };
  return std::all_of(node.inputs().begin(), node.inputs().end(), is_taken) &&
         std::all_of(node.blocks().begin(), node.blocks().end(), [&](const Block* inner) {
           return std::all_of(inner->nodes().begin(), inner->nodes().end(),
                              [&](const Node* each) { return takesAll(*each, outermost); }) &&
                  std::all_of(inner->outputs().begin(), inner->outputs().end(), is_taken);
         });
}

bool BlockPartitioner::engineTakes(const Value& value) {
  const Node& node = *value.node();
  switch (context_.roles.of(node)) {
    case Role::kConstant:
      return true;
    case Role::kCarried: {
      const auto known = taken_.find(&node);
      if (known != taken_.end()) {
        return known->second;
      }
      const bool is_refused = context_.options.refused.count(&node) != 0 ||
                              refusalBy(context_.options.user_choice, node) || context_.refusal_of(node);
      return taken_[&node] = !is_refused && std::all_of(node.inputs().begin(), node.inputs().end(),
                                                        [this](const Value* input) { return engineTakes(*input); });
    }
    default:
      break;
  }
  if (mayCross(value)) {
    return true;
  }
  const int producer = producerOf(value);
  return producer >= 0 && colours_[static_cast<size_t>(producer)] == Colour::kEngine;
}

DependencyGraph BlockPartitioner::graph() const {
  return {colours_, dependencies_.predecessors, late_before_};
}

std::vector<BlockPartitioner::Group> BlockPartitioner::groups() const {
  return fewestGroups(graph());
}

// An engine that ends with such a node may be one more than there has to be: then PyTorch runs it.
std::vector<BlockPartitioner::Move> BlockPartitioner::lateThatSplit(const std::vector<Group>& groups) const {
  for (size_t i = 0; i < colours_.size(); ++i) {
    if (colours_[i] != Colour::kEngine || context_.options.late.count(dependencies_.nodes[i]) == 0) {
      continue;
    }
    DependencyGraph without = graph();
    without.colours[i] = Colour::kTorch;
    if (fewestGroups(without).size() < groups.size()) {
      return {{static_cast<int>(i),
               {"data-dependent", "an engine that ends where the size of its result shows would be one more"}}};
    }
  }
  return {};
}

bool BlockPartitioner::allConverts() const {
  return std::all_of(colours_.begin(), colours_.end(), [](Colour colour) { return colour == Colour::kEngine; });
}

// A list that one engine makes and another takes would have to cross the border.
std::vector<BlockPartitioner::Move> BlockPartitioner::listsAcross(const std::vector<Group>& groups) const {
  std::vector<int> group_of(colours_.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const int node : groups[g]) {
      group_of[static_cast<size_t>(node)] = static_cast<int>(g);
    }
  }
  for (size_t i = 0; i < colours_.size(); ++i) {
    for (const Value* need : context_.roles.needsOf(*dependencies_.nodes[i])) {
      const int producer = producerOf(*need);
      if (producer >= 0 && !mayCross(*need) && colours_[i] == Colour::kEngine &&
          colours_[static_cast<size_t>(producer)] == Colour::kEngine &&
          group_of[static_cast<size_t>(producer)] != group_of[i]) {
        return {{producer, {kNonTensor, "another engine reads " + cannotCross(*need)}}};
      }
    }
  }
  return {};
}

// The group that is worth an engine least, if it is not worth one. One at a time: where it runs in PyTorch, others may
// come together. A block of which all converts is one engine, however small.
std::vector<BlockPartitioner::Move> BlockPartitioner::leastWorthwhile(const std::vector<Group>& groups) const {
  const bool is_whole = block_.owningNode() == nullptr && allConverts() && groups.size() == 1;
  if (is_whole || context_.options.require_full_compilation) {
    return {};
  }
  const auto& minimum = context_.options.min_block_size;
  const Group* least = nullptr;
  Worth least_worth;
  int64_t least_count = 0;
  for (const Group& group : groups) {
    if (colours_[static_cast<size_t>(group.front())] != Colour::kEngine) {
      continue;
    }
    std::vector<const Node*> nodes;
    for (const int node : group) {
      nodes.push_back(dependencies_.nodes[static_cast<size_t>(node)]);
    }
    const int64_t node_count = countWithCarried(nodes, context_.roles);
    const Worth worth = worthOf(nodes, node_count, minimum);
    if (!worth.suffices && (least == nullptr || worth.saving < least_worth.saving)) {
      least = &group;
      least_worth = worth;
      least_count = node_count;
    }
  }
  std::vector<Move> moves;
  if (least != nullptr) {
    const std::string nodes = count(least_count, "node");
    const Refusal refusal =
        minimum
            ? Refusal{"min-block-size", "its block has " + nodes + ", min_block_size is " + std::to_string(*minimum)}
            : Refusal{"small-block", "an engine for its block of " + nodes + " would save nothing"};
    for (const int node : *least) {
      moves.push_back({node, refusal});
    }
  }
  return moves;
}

std::vector<Segment> BlockPartitioner::build(const std::vector<Group>& groups) {
  // The block's results come first, so that an engine's outputs stand in the user's order. The needs of other groups
  // follow, in the order of the graph.
  std::vector<Value*> wanted;
  for (Value* output : const_cast<Block&>(block_).outputs()) {
    context_.roles.addNeeds(output, wanted);
  }
  std::unordered_set<const Value*> returned(wanted.begin(), wanted.end());
  std::unordered_set<const Value*> crossing;
  for (const Group& group : groups) {
    for (const int node : group) {
      for (const Value* need : context_.roles.needsOf(*dependencies_.nodes[static_cast<size_t>(node)])) {
        if (std::find(group.begin(), group.end(), producerOf(*need)) == group.end()) {
          crossing.insert(need);
        }
      }
    }
  }
  for (const Node* node : dependencies_.nodes) {
    for (Value* output : const_cast<Node*>(node)->outputs()) {
      if (crossing.count(output) != 0 && returned.count(output) == 0) {
        wanted.push_back(output);
      }
    }
  }
  std::vector<Segment> segments;
  for (const Group& group : groups) {
    Segment segment = buildSegment(group, wanted);
    if (segment.target == Target::kTorch || !segment.outputs.empty()) {
      segments.push_back(std::move(segment));
    }
  }
  return segments;
}

Segment BlockPartitioner::buildSegment(const Group& group, const std::vector<Value*>& wanted) {
  const Colour colour = colours_[static_cast<size_t>(group.front())];
  SegmentBuilder builder(colour == Colour::kEngine ? Target::kEngine : Target::kTorch, context_.roles);
  for (const int node : group) {
    builder.add(*dependencies_.nodes[static_cast<size_t>(node)]);
  }
  for (const Value* value : wanted) {
    if (std::find(group.begin(), group.end(), producerOf(*value)) != group.end()) {
      builder.addOutput(*value);
    }
  }
  Segment segment = builder.take();
  if (colour == Colour::kAlone) {
    segment.do_not_merge = true;
    const Node& node = *segment.nodes.front();
    for (const Block* inner : node.blocks()) {
      BlockPartitioner partitioner(*inner, context_);
      segment.blocks.push_back(partitioner.run());
      auto& verdicts = inner_verdicts_[&node];
      verdicts.insert(verdicts.end(), partitioner.verdicts().begin(), partitioner.verdicts().end());
    }
  }
  return segment;
}

void BlockPartitioner::addVerdicts() {
  for (size_t i = 0; i < colours_.size(); ++i) {
    if (colours_[i] != Colour::kEngine) {
      continue;
    }
    std::vector<const Node*> open = {dependencies_.nodes[i]};
    while (!open.empty()) {
      const Node* node = open.back();
      open.pop_back();
      for (const Value* input : node->inputs()) {
        if (context_.roles.of(*input->node()) == Role::kCarried && carried_by_engines_.insert(input->node()).second) {
          open.push_back(input->node());
        }
      }
    }
  }
  for (const Node* node : block_.nodes()) {
    const auto inner = inner_verdicts_.find(node);
    if (inner != inner_verdicts_.end()) {
      verdicts_.insert(verdicts_.end(), inner->second.begin(), inner->second.end());
    }
    const auto number = numbers_.find(node);
    if (number != numbers_.end()) {
      const auto index = static_cast<size_t>(number->second);
      const bool is_engine = colours_[index] == Colour::kEngine;
      verdicts_.push_back({node, is_engine ? Target::kEngine : Target::kTorch, refusals_[index]});
    } else if (carried_by_engines_.count(node) != 0) {
      verdicts_.push_back({node, Target::kEngine, std::nullopt});
    } else if (context_.roles.of(*node) != Role::kConstant) {
      verdicts_.push_back({node, Target::kTorch,
                           Refusal{kCarriedCode, "numbers, shapes and collections are made where they are needed"}});
    }
  }
}

}  // namespace torchtrt::partitioning
