#include "builder/memory_order.h"

#include <algorithm>

namespace torchtrt::builder {

namespace {

Order withoutUnits(const Dims& dims, const Order& order) {
  Order result;
  for (const uint8_t axis : explicitOrder(order, dims.rank())) {
    if (!(dims[axis] == Dim(1))) {
      result.push_back(axis);
    }
  }
  return result;
}

std::vector<int64_t> inversePermutation(const std::vector<int64_t>& permutation) {
  std::vector<int64_t> back(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    back[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  }
  return back;
}

Dims permuted(const Dims& dims, const std::vector<int64_t>& permutation) {
  std::vector<Dim> result;
  for (const int64_t axis : permutation) {
    result.push_back(dims[static_cast<int>(axis)]);
  }
  return permutation.empty() ? dims : Dims(std::move(result));
}

// Axes [from_begin, from_end) that a reshape turns into [to_begin, to_end): of equal product, as few as possible.
struct Group {
  int from_begin, from_end, to_begin, to_end;
};

// Numbers decide which of two products has to take in another dim: every symbol counts as a prime.
double magnitude(const Dim& dim) {
  return static_cast<double>(dim.evaluate([](const std::string&) { return int64_t{127}; }));
}

std::optional<std::vector<Group>> findGroups(const Dims& from, const Dims& to) {
  std::vector<Group> groups;
  int i = 0;
  int j = 0;
  while (i < from.rank() || j < to.rank()) {
    Group group{i, i, j, j};
    Dim left = 1;
    Dim right = 1;
    do {
      const bool grow_left = i < from.rank() && (j == to.rank() || magnitude(left) <= magnitude(right));
      if (grow_left) {
        left = left * from[i++];
      } else if (j < to.rank()) {
        right = right * to[j++];
      }
      const bool exhausted = i == from.rank() && j == to.rank();
      if (left == Dim(0) || right == Dim(0) || (exhausted && !(left == right))) {
        return std::nullopt;
      }
    } while (!(left == right));
    group.from_end = i;
    group.to_end = j;
    groups.push_back(group);
  }
  return groups;
}

}  // namespace

Order channelsLast(int rank) {
  Order order = {0};
  for (int axis = 2; axis < rank; ++axis) {
    order.push_back(static_cast<uint8_t>(axis));
  }
  order.push_back(1);
  return order;
}

Order explicitOrder(const Order& order, int rank) {
  Order result = order;
  for (int axis = 0; order.empty() && axis < rank; ++axis) {
    result.push_back(static_cast<uint8_t>(axis));
  }
  return result;
}

Order simplified(const Order& order) {
  return order == explicitOrder({}, static_cast<int>(order.size())) ? Order() : order;
}

bool sameMemory(const Dims& dims, const Order& a, const Order& b) {
  return withoutUnits(dims, a) == withoutUnits(dims, b);
}

Order transposedOrder(const Order& order, const std::vector<int64_t>& permutation) {
  if (permutation.empty()) {
    return order;
  }
  const std::vector<int64_t> back = inversePermutation(permutation);
  Order result;
  for (const uint8_t axis : explicitOrder(order, static_cast<int>(permutation.size()))) {
    result.push_back(static_cast<uint8_t>(back[axis]));
  }
  return simplified(result);
}

Shuffle shuffleOf(const network::Layer& layer) {
  Shuffle shuffle;
  shuffle.first = layer.attributes().getInts("first_permutation", {});
  shuffle.second = layer.attributes().getInts("second_permutation", {});
  // This is read from the output, as the attribute may say 0 for "as before" and -1 for "the rest".
  shuffle.middle = permuted(layer.getOutput(0)->getDimensions(), inversePermutation(shuffle.second));
  return shuffle;
}

Shuffle inverse(const Dims& input, const Shuffle& shuffle) {
  return {inversePermutation(shuffle.second), permuted(input, shuffle.first), inversePermutation(shuffle.first)};
}

std::optional<Order> shuffledOrder(const Dims& input, const Order& order, const Shuffle& shuffle) {
  const Dims before = permuted(input, shuffle.first);
  const std::optional<std::vector<Group>> groups = findGroups(before, shuffle.middle);
  if (!groups) {
    return std::nullopt;
  }
  // Each group has to lie in one piece and in order; then its new axes take its place.
  const Order memory = withoutUnits(before, transposedOrder(order, shuffle.first));
  Order result;
  std::vector<bool> placed(groups->size(), false);
  for (size_t at = 0; at < memory.size();) {
    const auto group = std::find_if(groups->begin(), groups->end(), [&](const Group& g) {
      return memory[at] >= g.from_begin && memory[at] < g.from_end;
    });
    for (int axis = group->from_begin; axis < group->from_end; ++axis) {
      if (before[axis] == Dim(1)) {
        continue;
      }
      if (at == memory.size() || memory[at] != axis) {
        return std::nullopt;
      }
      ++at;
    }
    placed[static_cast<size_t>(group - groups->begin())] = true;
    for (int axis = group->to_begin; axis < group->to_end; ++axis) {
      result.push_back(static_cast<uint8_t>(axis));
    }
  }
  for (size_t g = 0; g < groups->size(); ++g) {  // nothing but dims of size 1: they lie anywhere
    for (int axis = (*groups)[g].to_begin; axis < (*groups)[g].to_end && !placed[g]; ++axis) {
      result.push_back(static_cast<uint8_t>(axis));
    }
  }
  return transposedOrder(simplified(result), shuffle.second);
}

}  // namespace torchtrt::builder
