#include "partitioning/late.h"

#include <algorithm>

namespace torchtrt::partitioning {

using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

namespace {

bool takesListApart(const Node& node) {
  static const auto kGetItem = c10::Symbol::fromQualString("aten::__getitem__");
  return node.kind() == prim::ListUnpack || node.kind() == kGetItem;
}

}  // namespace

std::vector<std::vector<int>> lateBefore(const BlockDependencies& dependencies,
                                         const std::unordered_set<const Node*>& late) {
  std::vector<std::vector<int>> result(dependencies.nodes.size());
  std::vector<bool> is_late(dependencies.nodes.size(), false);
  for (size_t i = 0; i < result.size(); ++i) {
    const Node& node = *dependencies.nodes[i];
    is_late[i] = late.count(&node) != 0;
    for (const int before : dependencies.predecessors[i]) {
      if (!is_late[static_cast<size_t>(before)]) {
        continue;
      }
      if (takesListApart(node)) {
        is_late[i] = true;
      } else {
        result[i].push_back(before);
      }
    }
  }
  return result;
}

bool isOnlyReturned(const Node& node) {
  return std::all_of(node.outputs().begin(), node.outputs().end(), [](const Value* output) {
    return std::all_of(output->uses().begin(), output->uses().end(), [](const torch::jit::Use& use) {
      const auto kind = use.user->kind();
      const bool passes_on = kind == prim::ListConstruct || kind == prim::TupleConstruct || takesListApart(*use.user);
      return kind == prim::Return || (passes_on && isOnlyReturned(*use.user));
    });
  });
}

}  // namespace torchtrt::partitioning
