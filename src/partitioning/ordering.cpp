#include "partitioning/ordering.h"

#include <algorithm>
#include <memory>

namespace torchtrt::partitioning {

// A group takes all nodes of its colour that can run by then. A node that is taken early only frees others, so no order
// with a smaller group is shorter (a state that has run more never needs more groups). For the same reason a node that
// stands alone runs as soon as it can. So does a node that an engine's group has to end with: if it is taken early, the
// nodes that wait for its group wait for an earlier one. Two choices are left. One is the colour of the next group, at
// the start and behind a node that stood alone. The other is if another engine follows an engine. The states that the
// choices lead to are searched breadth first.

namespace {

constexpr size_t kMaxStates = 64;  // kept from step to step: beyond this the result may be longer than need be

struct Group {
  std::vector<int> nodes;
  std::shared_ptr<const Group> before;
};

struct State {
  std::vector<bool> has_run;
  size_t count = 0;
  std::shared_ptr<const Group> last;

  void run(const std::vector<int>& nodes) {
    last = std::make_shared<const Group>(Group{nodes, last});
  }
};

bool isReady(const DependencyGraph& graph, const State& state, size_t node) {
  const auto& before = graph.predecessors[node];
  return !state.has_run[node] && std::all_of(before.begin(), before.end(),
                                             [&](int other) { return state.has_run[static_cast<size_t>(other)]; });
}

// True if a node that this one needs, of another group, is in the group that is being taken.
bool waitsForGroup(const DependencyGraph& graph, const std::vector<int>& taken, size_t node) {
  if (graph.groups_before.empty() || graph.colours[node] != Colour::kEngine) {
    return false;
  }
  const auto& before = graph.groups_before[node];
  return std::any_of(before.begin(), before.end(),
                     [&](int other) { return std::binary_search(taken.begin(), taken.end(), other); });
}

// All of the colour that can run, one after the other. Predecessors have smaller numbers, so one pass finds all.
std::vector<int> take(const DependencyGraph& graph, State& state, Colour colour) {
  std::vector<int> taken;
  for (size_t node = 0; node < graph.colours.size(); ++node) {
    if (graph.colours[node] == colour && isReady(graph, state, node) && !waitsForGroup(graph, taken, node)) {
      state.has_run[node] = true;
      taken.push_back(static_cast<int>(node));
    }
  }
  state.count += taken.size();
  return taken;
}

void takeAlone(const DependencyGraph& graph, State& state) {
  for (const int node : take(graph, state, Colour::kAlone)) {
    state.run({node});
  }
}

bool hasRunAllOf(const State& state, const State& other) {
  for (size_t node = 0; node < other.has_run.size(); ++node) {
    if (other.has_run[node] && !state.has_run[node]) {
      return false;
    }
  }
  return true;
}

// A state is of no use beside one that has run the same and more.
void addUnlessWorse(std::vector<State>& states, State state) {
  if (std::any_of(states.begin(), states.end(), [&](const State& other) { return hasRunAllOf(other, state); })) {
    return;
  }
  std::erase_if(states, [&](const State& other) { return hasRunAllOf(state, other); });
  states.push_back(std::move(state));
}

std::vector<std::vector<int>> groupsOf(const State& state) {
  std::vector<std::vector<int>> groups;
  for (const Group* group = state.last.get(); group != nullptr; group = group->before.get()) {
    groups.push_back(group->nodes);
  }
  std::reverse(groups.begin(), groups.end());
  return groups;
}

}  // namespace

std::vector<std::vector<int>> fewestGroups(const DependencyGraph& graph) {
  State start;
  start.has_run.resize(graph.colours.size());
  takeAlone(graph, start);
  std::vector<State> states = {std::move(start)};
  while (true) {
    for (const State& state : states) {
      if (state.count == graph.colours.size()) {
        return groupsOf(state);
      }
    }
    std::vector<State> next;
    for (const State& state : states) {
      for (const Colour colour : {Colour::kEngine, Colour::kTorch}) {
        State after = state;
        const std::vector<int> taken = take(graph, after, colour);
        if (!taken.empty()) {
          after.run(taken);
          takeAlone(graph, after);
          addUnlessWorse(next, std::move(after));
        }
      }
    }
    std::stable_sort(next.begin(), next.end(), [](const State& a, const State& b) { return a.count > b.count; });
    next.resize(std::min(next.size(), kMaxStates));
    states = std::move(next);
  }
}

}  // namespace torchtrt::partitioning
