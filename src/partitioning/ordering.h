// The order that gives the fewest segments. Knows of no graph but numbered nodes, their colours and what depends on
// what.
#pragma once

#include <vector>

#include "torchtrt/export.h"

namespace torchtrt::partitioning {

enum class Colour { kEngine, kTorch, kAlone };  // kAlone: a segment of its own

struct DependencyGraph {
  std::vector<Colour> colours;
  std::vector<std::vector<int>> predecessors;  // by node; smaller numbers only
  // Lists, by node, the predecessors that an engine's group has to end with before the node can be in one; empty: none
  // has any.
  std::vector<std::vector<int>> groups_before = {};
};

// Every node in exactly one group, behind or beside all that it depends on; groups of one colour, as few as can be.
// Where several orders are as short, engines begin.
TORCHTRT_API std::vector<std::vector<int>> fewestGroups(const DependencyGraph& graph);

}  // namespace torchtrt::partitioning
