#include "lowering/passes/known_trips.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace torchtrt::lowering {
namespace {

using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

class Trips {
 public:
  bool areKnown(const Node& loop) {
    return follows(*loop.inputs()[0]) && follows(*loop.inputs()[1]) && follows(*loop.blocks()[0]->outputs()[0]);
  }

 private:
  bool follows(const Value& value) {
    const auto [known, is_new] = known_.emplace(&value, false);
    if (!is_new) {
      return known->second;
    }
    const bool is_known = decide(value);
    known_[&value] = is_known;
    return is_known;
  }

  bool decide(const Value& value) {
    static const std::set<std::string> questions = {"aten::size",  "aten::sym_size", "aten::len",
                                                    "aten::numel", "aten::dim",      "prim::shape"};
    const Node& node = *value.node();
    if (node.kind() == prim::Constant) {
      return true;
    }
    if (questions.count(node.kind().toQualString()) != 0) {
      return std::all_of(node.inputs().begin() + 1, node.inputs().end(),
                         [&](const Value* input) { return follows(*input); });
    }
    const Node* owner = node.kind() == prim::Param ? node.owningBlock()->owningNode() : nullptr;
    if (owner != nullptr) {
      return owner->kind() == prim::Loop && value.offset() == 0 && areKnown(*owner);
    }
    const bool moves = node.kind() == prim::ListConstruct || node.kind() == prim::ListUnpack;
    const auto* schema = node.maybeSchema();
    return (moves || (schema && !schema->is_mutable() && !node.isNondeterministic())) && !node.inputs().empty() &&
           std::all_of(node.inputs().begin(), node.inputs().end(), [&](const Value* input) { return follows(*input); });
  }

  std::map<const Value*, bool> known_;
};

}  // namespace

bool hasKnownTrips(const Node& loop) {
  return Trips().areKnown(loop);
}

}  // namespace torchtrt::lowering
