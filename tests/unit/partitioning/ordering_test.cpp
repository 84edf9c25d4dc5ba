#include "partitioning/ordering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <tuple>

#include "graphs.h"

namespace torchtrt::partitioning {
namespace {

using Groups = std::vector<std::vector<int>>;

constexpr int kGraphs = 2000;  // random ones, of at most 12 nodes

// The number of groups of the best order, by trying all: the state is the set of nodes that have run and the last
// colour.
class BruteForce {
 public:
  explicit BruteForce(const DependencyGraph& graph) : graph_(graph) {}

  // `start`: what had run when the last group began.
  int run(unsigned done = 0, int last = -1, unsigned start = 0) {
    const auto count = graph_.colours.size();
    if (done == (1U << count) - 1) {
      return 0;
    }
    const auto [entry, is_new] = known_.try_emplace({done, last, start}, 0);
    if (!is_new) {
      return entry->second;
    }
    int best = std::numeric_limits<int>::max();
    for (size_t node = 0; node < count; ++node) {
      const auto& before = graph_.predecessors[node];
      const bool is_ready = std::all_of(before.begin(), before.end(), [&](int other) { return (done >> other) & 1U; });
      if (((done >> node) & 1U) == 0 && is_ready) {
        const Colour colour = graph_.colours[node];
        const bool joins =
            colour != Colour::kAlone && static_cast<int>(colour) == last && !waitsForGroup(node, done & ~start);
        const bool may_wait = !graph_.groups_before.empty();
        const unsigned next = done | (1U << node);
        best = std::min(best, (joins ? 0 : 1) + run(next, static_cast<int>(colour), joins || !may_wait ? start : done));
        if (joins && may_wait) {  // a group may also end before it has to
          best = std::min(best, 1 + run(next, static_cast<int>(colour), done));
        }
      }
    }
    return known_[{done, last, start}] = best;
  }

 private:
  bool waitsForGroup(size_t node, unsigned group) const {
    if (graph_.groups_before.empty() || graph_.colours[node] != Colour::kEngine) {
      return false;
    }
    const auto& before = graph_.groups_before[node];
    return std::any_of(before.begin(), before.end(), [&](int other) { return (group >> other) & 1U; });
  }

  const DependencyGraph& graph_;
  std::map<std::tuple<unsigned, int, unsigned>, int> known_;
};

// Document 000's segmentation: both targets' segments stay open, one closes when a node of the other depends on it;
// neighbours of one target are merged afterwards.
int document000(const DependencyGraph& graph) {
  std::vector<std::pair<Colour, std::vector<int>>> closed;
  std::map<Colour, std::vector<int>> open;
  std::vector<int> is_open(graph.colours.size(), 0);
  const auto close = [&](Colour colour) {
    if (!open[colour].empty()) {
      for (const int node : open[colour]) {
        is_open[static_cast<size_t>(node)] = 0;
      }
      closed.emplace_back(colour, std::move(open[colour]));
      open[colour].clear();
    }
  };
  for (size_t node = 0; node < graph.colours.size(); ++node) {
    const Colour colour = graph.colours[node];
    const Colour other = colour == Colour::kEngine ? Colour::kTorch : Colour::kEngine;
    const auto& before = graph.predecessors[node];
    if (std::any_of(before.begin(), before.end(), [&](int each) {
          return is_open[static_cast<size_t>(each)] != 0 && graph.colours[static_cast<size_t>(each)] == other;
        })) {
      close(other);
    }
    open[colour].push_back(static_cast<int>(node));
    is_open[node] = 1;
  }
  close(Colour::kEngine);
  close(Colour::kTorch);
  int merged = 0;
  for (size_t i = 0; i < closed.size(); ++i) {
    merged += i == 0 || closed[i].first != closed[i - 1].first ? 1 : 0;
  }
  return merged;
}

DependencyGraph randomGraph(std::mt19937& random, bool with_alone) {
  const int count = std::uniform_int_distribution<int>(1, 12)(random);
  const double density = std::uniform_real_distribution<double>(0.05, 0.6)(random);
  DependencyGraph graph;
  for (int node = 0; node < count; ++node) {
    const int colour = std::uniform_int_distribution<int>(0, with_alone ? 4 : 3)(random);
    graph.colours.push_back(colour == 4 ? Colour::kAlone : colour % 2 == 0 ? Colour::kEngine : Colour::kTorch);
    graph.predecessors.emplace_back();
    for (int before = 0; before < node; ++before) {
      if (std::bernoulli_distribution(density)(random)) {
        graph.predecessors.back().push_back(before);
      }
    }
  }
  return graph;
}

void expectValid(const DependencyGraph& graph, const Groups& groups) {
  std::vector<int> group_of(graph.colours.size(), -1);
  for (size_t g = 0; g < groups.size(); ++g) {
    ASSERT_FALSE(groups[g].empty());
    for (const int node : groups[g]) {
      ASSERT_EQ(group_of[static_cast<size_t>(node)], -1);
      group_of[static_cast<size_t>(node)] = static_cast<int>(g);
      ASSERT_EQ(graph.colours[static_cast<size_t>(node)], graph.colours[static_cast<size_t>(groups[g].front())]);
    }
    ASSERT_TRUE(groups[g].size() == 1 || graph.colours[static_cast<size_t>(groups[g].front())] != Colour::kAlone);
  }
  for (size_t node = 0; node < group_of.size(); ++node) {
    ASSERT_GE(group_of[node], 0);
    for (const int before : graph.predecessors[node]) {
      ASSERT_LE(group_of[static_cast<size_t>(before)], group_of[node]);
    }
  }
}

TEST(FewestGroups, OfNothingAreNone) {
  EXPECT_TRUE(fewestGroups({}).empty());
}

TEST(FewestGroups, NeverMoreThanTheMinimumOfRandomGraphs) {
  std::mt19937 random(4);
  for (int seed = 0; seed < kGraphs; ++seed) {
    const DependencyGraph graph = randomGraph(random, false);
    const Groups groups = fewestGroups(graph);
    expectValid(graph, groups);
    EXPECT_EQ(static_cast<int>(groups.size()), BruteForce(graph).run()) << "graph " << seed;
    EXPECT_LE(static_cast<int>(groups.size()), document000(graph)) << "graph " << seed;
  }
}

TEST(FewestGroups, NeverMoreThanTheMinimumWithNodesThatStandAlone) {
  std::mt19937 random(5);
  for (int seed = 0; seed < kGraphs; ++seed) {
    const DependencyGraph graph = randomGraph(random, true);
    const Groups groups = fewestGroups(graph);
    expectValid(graph, groups);
    EXPECT_EQ(static_cast<int>(groups.size()), BruteForce(graph).run()) << "graph " << seed;
  }
}

// Some nodes end the engines that they are in.
TEST(FewestGroups, NeverMoreThanTheMinimumWithGroupsThatHaveToEnd) {
  std::mt19937 random(7);
  for (int seed = 0; seed < kGraphs / 4; ++seed) {
    DependencyGraph graph = randomGraph(random, true);
    const size_t count = std::min<size_t>(graph.colours.size(), 9);
    graph.colours.resize(count);
    graph.predecessors.resize(count);
    const unsigned enders = std::uniform_int_distribution<unsigned>(0, 511)(random);
    for (const std::vector<int>& before : graph.predecessors) {
      graph.groups_before.emplace_back();
      std::copy_if(before.begin(), before.end(), std::back_inserter(graph.groups_before.back()),
                   [&](int other) { return (enders >> other) & 1U; });
    }
    const Groups groups = fewestGroups(graph);
    expectValid(graph, groups);
    for (const std::vector<int>& group : groups) {
      for (const int node : group) {
        const auto& before = graph.groups_before[static_cast<size_t>(node)];
        EXPECT_TRUE(
            graph.colours[static_cast<size_t>(node)] != Colour::kEngine ||
            std::none_of(before.begin(), before.end(),
                         [&](int other) { return std::find(group.begin(), group.end(), other) != group.end(); }))
            << "graph " << seed;
      }
    }
    EXPECT_EQ(static_cast<int>(groups.size()), BruteForce(graph).run()) << "graph " << seed;
  }
}

// Writes the same as TorchScript, with numbers and lists between: a node is a cat of its predecessors, or a stack if it
// is PyTorch's. Results that no other node needs are returned, so that none is dead.
std::string asText(const DependencyGraph& graph) {
  std::string lines;
  std::vector<bool> is_needed(graph.colours.size(), false);
  for (size_t node = 0; node < graph.colours.size(); ++node) {
    const std::string number = std::to_string(node);
    std::string parts = "%x";
    for (const int before : graph.predecessors[node]) {
      parts += ", %v" + std::to_string(before);
      is_needed[static_cast<size_t>(before)] = true;
    }
    const bool is_engine = graph.colours[node] == Colour::kEngine;
    lines += "  %list" + number + " : Tensor[] = prim::ListConstruct(" + parts + ")\n  %rank" + number +
             " : int = aten::dim(%x)\n  %axis" + number + " : int = aten::sub(%rank" + number + ", %rank" + number +
             ")\n  %v" + number + " : Tensor = aten::" + (is_engine ? "cat" : "stack") + "(%list" + number + ", %axis" +
             number + ")\n";
  }
  std::string results;
  for (size_t node = 0; node < is_needed.size(); ++node) {
    if (!is_needed[node]) {
      results += (results.empty() ? "%v" : ", %v") + std::to_string(node);
    }
  }
  return "graph(%x : Tensor):\n" + lines + "  %out : Tensor[] = prim::ListConstruct(" + results + ")\n  return (%out)";
}

TEST(FewestGroups, SegmentsOfWholeGraphsAreNeverMoreThanTheMinimum) {
  std::mt19937 random(6);
  for (int seed = 0; seed < kGraphs; ++seed) {
    const DependencyGraph graph = randomGraph(random, false);
    const Partition result = partition(graphOf(asText(graph)), allBut({"aten::stack"}), withMinBlockSize(1));
    EXPECT_EQ(static_cast<int>(result.segments.size()), BruteForce(graph).run()) << asText(graph);
  }
}

}  // namespace
}  // namespace torchtrt::partitioning
