// Tells which memory a value may live in, more finely than libtorch's AliasDb. For that, whatever went through a list
// may share memory with everything else that did. Pieces of one tensor would then keep writes to another from becoming
// functional. Values are called disjoint only if every operator in between is known.
#pragma once

#include <map>
#include <set>
#include <vector>

#include <torch/csrc/jit/ir/ir.h>

namespace torchtrt::lowering {

class MemoryRoots {
 public:
  explicit MemoryRoots(torch::jit::Graph& graph);

  // True if nothing reachable from one of them is memory of the other.
  bool areDisjoint(const torch::jit::Value* a, const torch::jit::Value* b) const;
  // True if something is known to be reachable from both.
  bool meet(const torch::jit::Value* a, const torch::jit::Value* b) const;
  // `value` stands for `former` from now on.
  void replace(const torch::jit::Value* former, const torch::jit::Value* value);

 private:
  using Roots = std::set<const torch::jit::Value*>;  // values that were memory of their own when made; null is unknown

  void visit(torch::jit::Block* block);
  void visit(torch::jit::Node* node);
  void note(const torch::jit::Value* value, Roots roots);
  Roots unionOf(const std::vector<const torch::jit::Value*>& values) const;
  Roots sharedWith(const torch::jit::Node& node, size_t output) const;
  const Roots& rootsOf(const torch::jit::Value* value) const;
  void letEscape(const torch::jit::Value* value);
  bool reachesUnknown(const Roots& roots) const;

  std::map<const torch::jit::Value*, Roots> roots_;
  Roots escaped_;              // memory that unknown values may live in
  bool lists_change_ = false;  // then what a list holds is unknown
};

}  // namespace torchtrt::lowering
