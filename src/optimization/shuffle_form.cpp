#include "optimization/shuffle_form.h"

#include <algorithm>

namespace torchtrt::optimization {

namespace {

bool isIdentityPermutation(const Permutation& permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) {
      return false;
    }
  }
  return true;
}

Permutation normalized(Permutation permutation) {
  return isIdentityPermutation(permutation) ? Permutation() : permutation;
}

}  // namespace

Permutation compose(const Permutation& first, const Permutation& second) {
  if (first.empty() || second.empty()) {
    return normalized(first.empty() ? second : first);
  }
  Permutation composed;
  for (const int64_t axis : second) {
    composed.push_back(first[static_cast<size_t>(axis)]);
  }
  return normalized(composed);
}

Dims permute(const Dims& dims, const Permutation& permutation) {
  if (permutation.empty()) {
    return dims;
  }
  std::vector<Dim> permuted;
  for (const int64_t axis : permutation) {
    permuted.push_back(dims[static_cast<int>(axis)]);
  }
  return Dims(std::move(permuted));
}

bool movesOnlyUnits(const Dims& dims, const Permutation& permutation) {
  int64_t previous = -1;
  for (const int64_t axis : permutation) {
    if (dims[static_cast<int>(axis)] == Dim(1)) {
      continue;
    }
    if (axis < previous) {
      return false;
    }
    previous = axis;
  }
  return true;
}

std::optional<ShuffleForm> ShuffleForm::of(const network::Layer& shuffle) {
  ShuffleForm form;
  form.first = normalized(shuffle.attributes().getInts("first_permutation", {}));
  form.second = normalized(shuffle.attributes().getInts("second_permutation", {}));
  if (shuffle.attributes().has("reshape_dims")) {
    const Dims& output = shuffle.getOutput(0)->getDimensions();
    if (std::find(output.begin(), output.end(), Dim(0)) != output.end()) {
      return std::nullopt;
    }
    Dims reshape = output;
    for (size_t i = 0; i < form.second.size(); ++i) {
      reshape[static_cast<int>(form.second[i])] = output[static_cast<int>(i)];
    }
    form.reshape = reshape;
  }
  return form;
}

ShuffleForm ShuffleForm::simplified(const Dims& input) const {
  ShuffleForm form{normalized(first), reshape, normalized(second)};
  if (!form.reshape) {
    form.first = compose(form.first, form.second);
    form.second.clear();
  }
  // A size of 0 in reshape_dims is that of the input in the same place.
  const bool can_reshape = form.reshape || std::find(input.begin(), input.end(), Dim(0)) == input.end();
  if (!form.first.empty() && can_reshape && movesOnlyUnits(input, form.first)) {
    if (!form.reshape) {
      form.reshape = permute(input, form.first);
    }
    form.first.clear();
  }
  if (form.reshape && !form.second.empty() && movesOnlyUnits(*form.reshape, form.second)) {
    form.reshape = permute(*form.reshape, form.second);
    form.second.clear();
  }
  if (form.reshape && *form.reshape == permute(input, form.first)) {
    form.reshape.reset();
    form.first = compose(form.first, form.second);
    form.second.clear();
  }
  return form;
}

std::optional<ShuffleForm> ShuffleForm::followedBy(const ShuffleForm& next, const Dims& input) const {
  if (!next.reshape) {
    return ShuffleForm{first, reshape, compose(compose(second, next.first), next.second)}.simplified(input);
  }
  const Permutation middle = compose(second, next.first);
  if (!reshape) {
    return ShuffleForm{compose(first, middle), next.reshape, next.second}.simplified(input);
  }
  if (movesOnlyUnits(*reshape, middle)) {
    return ShuffleForm{first, next.reshape, next.second}.simplified(input);
  }
  return std::nullopt;
}

Attributes ShuffleForm::toAttributes() const {
  Attributes attributes;
  attributes.set("first_permutation", first);
  attributes.set("second_permutation", second);
  if (reshape) {
    attributes.set("reshape_dims", *reshape);
  }
  return attributes;
}

}  // namespace torchtrt::optimization
