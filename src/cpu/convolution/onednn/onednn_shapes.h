// A convolution's geometry as oneDNN wants it, for convolution, deconvolution and quantized convolution.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/convolution/geometry.h"

namespace torchtrt::kernels::convolution {

// The last `rank` of three values.
inline std::vector<int64_t> lastDims(const Spatial& values, int rank, int64_t less = 0) {
  std::vector<int64_t> result(values.end() - rank, values.end());
  for (int64_t& value : result) {
    value -= less;
  }
  return result;
}

// [K, C/g, k...] for a convolution, [C, K/g, k...] as oneDNN's [K/g, C/g, k...] for a deconvolution; with groups in
// front.
struct WeightShape {
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
};

inline WeightShape weightShape(const Geometry& g, bool transposed) {
  const int64_t in = g.channels / g.groups;
  const int64_t out = g.outputs / g.groups;
  const int64_t taps = g.taps();
  WeightShape shape;
  if (g.groups > 1) {
    shape.dims.push_back(g.groups);
    shape.strides.push_back(in * out * taps);
  }
  shape.dims.insert(shape.dims.end(), {out, in});
  shape.strides.insert(shape.strides.end(), {transposed ? taps : in * taps, transposed ? out * taps : taps});
  const auto kernel = lastDims(g.kernel, g.spatial_rank);
  shape.dims.insert(shape.dims.end(), kernel.begin(), kernel.end());
  const auto strides = denseStrides(kernel);
  shape.strides.insert(shape.strides.end(), strides.begin(), strides.end());
  return shape;
}

}  // namespace torchtrt::kernels::convolution
