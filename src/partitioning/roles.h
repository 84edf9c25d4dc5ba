// Gives each node a role for partitioning. Most are work that has to be placed. Numbers, shapes and lists are carried
// along: copied to wherever they are needed, so that they never cut a segment.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/script.h>

#include "lowering/graph_walk.h"
#include "lowering/memory/aliases.h"
#include "torchtrt/export.h"

namespace torchtrt::partitioning {

enum class Role {
  kConstant,  // copied
  kCarried,   // copied: numbers made from numbers and shapes, and lists, tuples and dicts as they are built
  kOpener,    // takes a collection among the arguments apart; what comes out is there from the start
  kWork,      // is placed in one segment
  kControl,   // a branch or loop: placed, and partitioned inside
};

class TORCHTRT_API Roles {
 public:
  explicit Roles(const std::shared_ptr<torch::jit::Graph>& graph);

  Role of(const torch::jit::Node& node) const;
  bool isPlaced(const torch::jit::Node& node) const {
    const Role role = of(node);
    return role == Role::kWork || role == Role::kControl;
  }
  // The values that have to be there before the node can run, without repeats: what placed nodes, openers and arguments
  // give, seen through all that is carried, inside of the node's blocks too.
  const std::vector<torch::jit::Value*>& needsOf(const torch::jit::Node& node) const;
  // The same for a value alone; nothing for a constant.
  void addNeeds(torch::jit::Value* value, std::vector<torch::jit::Value*>& needs) const;

  const torch::jit::AliasDb& aliases() const {
    return aliases_;
  }
  // Adds to `written` what stands for memory that somebody writes to: the value, or tensors that it holds.
  void addWritten(const torch::jit::Value* value, torch::jit::ValueSet& written) const;

  // True if all that looks at the value, or at views of it, stands in front of every write of the graph. Then a copy
  // may take its place, even if it lies in memory that is written to.
  bool isReadBeforeWrites(const torch::jit::Value& value) const;

 private:
  Role roleFor(const torch::jit::Node& node) const;
  bool isCarried(const torch::jit::Node& node) const;
  bool isOpener(const torch::jit::Node& node) const;
  bool isWritten(const torch::jit::Node& node) const;
  void addWrittenByName(const torch::jit::Value* value, torch::jit::ValueSet& written) const;
  void addBlock(const torch::jit::Block& block);

  torch::jit::AliasDb aliases_;
  std::vector<torch::jit::Value*> operands_;  // of all writers
  lowering::SecretAliases secrets_;
  bool shapes_are_written_ = false;
  const torch::jit::Node* first_write_ = nullptr;  // if all writes come last; else null
  std::unordered_map<const torch::jit::Node*, Role> roles_;
  mutable std::unordered_map<const torch::jit::Node*, std::vector<torch::jit::Value*>> needs_;
};

using lowering::holdsTensors;
using lowering::isTensor;
// True if the node does not look at elements: its result is a view, or holds its operands.
bool onlyHandsOn(const torch::jit::Node& node);
// The node of the block that is, or contains, this one; null where the block is elsewhere.
const torch::jit::Node* ancestorIn(const torch::jit::Block& block, const torch::jit::Node& node);

}  // namespace torchtrt::partitioning
