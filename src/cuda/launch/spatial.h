// Images of one to three spatial dims as three: what convolution.cuh and pooling.cuh take.
#pragma once

#include <algorithm>
#include <array>

#include "cuda/launch/layout.h"
#include "cuda/launch/types.h"

namespace torchtrt::cuda {

using Spatial = std::array<int64_t, 3>;

// The last values right-aligned: the last one is the width.
inline Spatial spatial(const Ints& values, int64_t missing) {
  Spatial result = {missing, missing, missing};
  std::copy_backward(values.begin(), values.end(), result.end());
  return result;
}

// Strides of batch, channel and places: Image in the texts.
inline std::array<int64_t, 5> imageOf(const Ints& strides) {
  const Spatial places = spatial({strides.begin() + 2, strides.end()}, 0);
  return {strides[0], strides[1], places[0], places[1], places[2]};
}

inline Spatial sizeOfImage(const Ints& dims) {
  return spatial({dims.begin() + 2, dims.end()}, 1);
}

// INDEX and CHANNELS_LAST of those texts, for results of these dims and strides.
inline void defineOrder(Source& source, const Ints& dims, const Ints& strides) {
  source.define("INDEX", indexType(countOf(dims)));
  source.define("CHANNELS_LAST", int64_t{dims[1] > 1 && strides[1] < strides.back()});
}

}  // namespace torchtrt::cuda
