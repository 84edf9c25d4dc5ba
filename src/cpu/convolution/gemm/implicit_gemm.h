// Convolution as a matrix multiplication whose rows of A are read where they lie in the image. It is packed once, and
// runs on one set of shapes. packed_gemm.cpp decides which problems it takes.
#pragma once

#include <memory>
#include <vector>

#include "cpu/convolution/gemm/taps.h"
#include "cpu/convolution/geometry.h"
#include "cpu/gemm/packed_gemm.h"
#include "kernels/fusion.h"

namespace torchtrt::kernels::convolution {

inline constexpr int64_t kMaxTaps = 512;    // pointers of a tile are on the stack
inline constexpr int64_t kMaxPatch = 8192;  // elements of a tile's border patches, on the stack too

template <typename T>
struct PackedConvolutionOf : Runs {
  Geometry geometry;
  std::vector<gemm::PackedBOf<T>> groups;
  std::vector<T> zeros;  // what padding reads, `run` of them
  gemm::EpilogueOf<T> epilogue;
  gemm::FunctionsOf<T> functions;
};
using PackedConvolution = PackedConvolutionOf<float>;

// Each output pixel is the product of the channels of one input pixel, at the same place, with all weights.
template <typename T>
bool isPlainProduct(const PackedConvolutionOf<T>& packed) {
  const Geometry& g = packed.geometry;
  return g.isPointwise() && g.stride == Spatial{1, 1, 1} && packed.groups.size() == 1 &&
         packed.reading == Reading::kChannels;
}

template <typename T>
std::unique_ptr<Prepared> prepareImplicitGemm(std::shared_ptr<const PackedConvolutionOf<T>> packed,
                                              const ShapeSet& shapes);

// PoolsOutput::preparePooled (kernels/fusion.h), channels-last.
Fused preparePooledProduct(std::shared_ptr<const PackedConvolution> packed, const ShapeSet& shapes);

}  // namespace torchtrt::kernels::convolution
