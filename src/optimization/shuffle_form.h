// A shuffle (transpose, reshape, transpose) as a value that can be composed with another and brought into its simplest
// form. Reshape dimensions are resolved here: neither 0 ("copy") nor -1 ("infer") occurs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "torchtrt/network.h"

namespace torchtrt::optimization {

using Permutation = std::vector<int64_t>;  // empty: identity

struct ShuffleForm {
  Permutation first;
  std::optional<Dims> reshape;  // absent: keep
  Permutation second;
  bool operator==(const ShuffleForm&) const = default;

  // Nothing for a shuffle whose resolved dimensions contain a 0, which as an attribute would mean "copy".
  static std::optional<ShuffleForm> of(const network::Layer& shuffle);
  // Fewest parts: one permutation where there is no reshape, a reshape instead of a permutation that only moves
  // dimensions of 1.
  ShuffleForm simplified(const Dims& input) const;
  // This one followed by `next`; nothing if that takes two layers.
  std::optional<ShuffleForm> followedBy(const ShuffleForm& next, const Dims& input) const;
  bool isIdentity() const {
    return first.empty() && !reshape && second.empty();
  }
  Attributes toAttributes() const;
};

Permutation compose(const Permutation& first, const Permutation& second);
Dims permute(const Dims& dims, const Permutation& permutation);
// True if the order of the dimensions other than 1 stays: such a transpose moves no element in memory.
bool movesOnlyUnits(const Dims& dims, const Permutation& permutation);

}  // namespace torchtrt::optimization
