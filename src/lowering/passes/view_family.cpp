#include "lowering/passes/view_family.h"

#include <algorithm>
#include <set>

#include "lowering/graph_walk.h"
#include "lowering/memory/write_origins.h"
#include "lowering/passes/in_place.h"
#include "lowering/passes/known_trips.h"
#include "lowering/passes/views.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;
namespace prim = torch::jit::prim;

bool asksWhichOne(const Node& node) {
  return node.kind() == torch::jit::aten::__is__ || node.kind() == torch::jit::aten::__isnot__;
}

// True if the node leaves this operand as it is and keeps nothing of it.
bool readsOnly(const Use& use) {
  const Node& user = *use.user;
  const auto* schema = user.maybeSchema();
  if (!schema || asksWhichOne(user) || use.offset >= schema->arguments().size() ||
      schema->arguments()[use.offset].alias_info() != nullptr) {
    return false;
  }
  return isInPlace(user) || std::all_of(user.outputs().begin(), user.outputs().end(), [](const Value* output) {
           return !isMutable(*output->type()) || makesMemory(*output);
         });
}

// Results are the operands, views or copies of them, or hold them, and nothing else gets hold of those.
bool handsOn(const Node& node) {
  static const std::set<c10::Symbol> kinds = {prim::ListConstruct, prim::ListUnpack, prim::TupleConstruct,
                                              prim::TupleUnpack,   prim::TupleIndex, prim::TupleSlice,
                                              prim::unchecked_cast};
  const auto* schema = node.kind().is_aten() ? node.maybeSchema() : nullptr;
  return kinds.count(node.kind()) != 0 || (schema != nullptr && !schema->is_mutable() && !asksWhichOne(node));
}

bool isReturned(const Use& use) {
  return use.user->kind() == prim::Return;
}

}  // namespace

std::optional<ViewFamily> ViewFamily::of(Value& root, Owner owner) {
  ViewFamily family;
  family.addMember(root, nullptr);
  if ((owner == Owner::kGraph && !makesMemory(root)) || !family.follow()) {
    return std::nullopt;
  }
  return family;
}

bool ViewFamily::hasWriteInside(const Node& node) const {
  return std::any_of(writes_.begin(), writes_.end(), [&](const Node* write) { return isInside(*write, node); });
}

bool ViewFamily::follow() {
  for (size_t i = 0; i < members_.size(); ++i) {  // grows
    Value* member = members_[i];
    for (const Use& use : std::vector<Use>(member->uses())) {  // asking for functional forms makes uses
      addUser(*use.user);
      if (!followMember(*member, use)) {
        return false;
      }
    }
  }
  for (size_t i = 0; i < snapshots_.size(); ++i) {
    if (!followSnapshot(*snapshots_[i])) {
      return false;
    }
  }
  return std::all_of(writes_.begin(), writes_.end(), [&](const Node* write) { return canMove(*write); }) &&
         std::none_of(readings_.begin(), readings_.end(), [&](const Reading& each) { return isWrittenIn(each); });
}

bool ViewFamily::followMember(Value& member, const Use& use) {
  Node& user = *use.user;
  if (use.offset == 0 && isInPlace(user)) {
    if (viewedBy(*user.output()) == nullptr || !hasFunctionalForm(user)) {
      return false;  // it may change what shape the member has
    }
    writes_.push_back(&user);
    addMember(*user.output(), &member);
    return true;
  }
  if (readsOnly(use)) {
    return true;
  }
  const bool is_view = use.offset == 0 && user.outputs().size() == 1 && viewedBy(*user.output()) == &member;
  if (!is_view) {
    return takeSnapshots(use);
  }
  if (user.output()->type()->kind() == c10::TypeKind::ListType) {
    return followPieces(*user.output(), member);
  }
  addMember(*user.output(), &member);
  return true;
}

// The pieces are known if all are taken out by number, right behind the node that splits.
bool ViewFamily::followPieces(Value& pieces, Value& whole) {
  for (const Use& use : pieces.uses()) {
    Node& user = *use.user;
    addUser(user);
    for (Value* output : user.outputs()) {
      if (isPiece(*output)) {
        addMember(*output, &whole);
      } else if (!readsOnly(use)) {
        return false;
      }
    }
    readings_.push_back({pieces.node(), &user});
  }
  return true;
}

bool ViewFamily::followSnapshot(Value& snapshot) {
  for (const Use& use : snapshot.uses()) {
    readings_.push_back({makers_.at(&snapshot), use.user});
    if (!readsOnly(use) && !takeSnapshots(use)) {
      return false;
    }
  }
  return true;
}

bool ViewFamily::takeSnapshots(const Use& use) {
  Node& user = *use.user;
  if (isReturned(use)) {
    const Node* owner = user.owningBlock()->owningNode();
    if (owner == nullptr) {
      return true;
    }
    const bool is_loop = owner->kind() == prim::Loop;
    if (is_loop && use.offset > 0) {
      addSnapshot(*user.owningBlock()->inputs()[use.offset], *owner);
    }
    if (owner->kind() != prim::If && !is_loop) {
      return false;
    }
    addSnapshot(*const_cast<Node*>(owner)->output(use.offset - (is_loop ? 1 : 0)), *owner);
    return true;
  }
  if (user.kind() == prim::Loop && use.offset >= 2) {
    addSnapshot(*user.blocks()[0]->inputs()[use.offset - 1], user);
    addSnapshot(*user.output(use.offset - 2), user);
    return true;
  }
  if (!handsOn(user)) {
    return false;
  }
  for (Value* output : user.outputs()) {
    if (isMutable(*output->type())) {
      addSnapshot(*output, user);
    }
  }
  return true;
}

void ViewFamily::addMember(Value& value, Value* parent) {
  if (parents_.emplace(&value, parent).second) {
    members_.push_back(&value);
  }
}

void ViewFamily::addSnapshot(Value& value, const Node& maker) {
  if (makers_.emplace(&value, &maker).second) {
    snapshots_.push_back(&value);
  }
}

void ViewFamily::addUser(const Node& user) {
  const Block* outermost = root().node()->owningBlock();
  for (const Node* node = &user; node != nullptr && users_.insert(node).second && node->owningBlock() != outermost;
       node = node->owningBlock()->owningNode()) {
  }
}

// Every write in a loop that the maker is not in comes before every reading, in the next trip.
bool ViewFamily::isWrittenIn(const Reading& reading) const {
  return std::any_of(writes_.begin(), writes_.end(), [&](const Node* write) {
    if (reading.maker->isBefore(write) && write->isBefore(reading.user)) {
      return true;
    }
    for (const Node* outer = write->owningBlock()->owningNode(); outer != nullptr;
         outer = outer->owningBlock()->owningNode()) {
      if (outer->kind() == prim::Loop && isInside(*reading.user, *outer) && !isInside(*reading.maker, *outer)) {
        return true;
      }
    }
    return false;
  });
}

bool ViewFamily::canMove(const Node& write) const {
  for (const Value* member = write.input(0); parents_.at(member) != nullptr; member = parents_.at(member)) {
    if (!canPutBack(*member)) {
      return false;
    }
  }
  const Block* outermost = root().node()->owningBlock();
  for (const Block* block = write.owningBlock(); block != outermost; block = block->owningNode()->owningBlock()) {
    const Node* owner = block->owningNode();
    if (owner == nullptr || (owner->kind() != prim::If && !(owner->kind() == prim::Loop && hasKnownTrips(*owner)))) {
      return false;
    }
  }
  return true;
}

}  // namespace torchtrt::lowering
