// Convolution as a matrix product whose rows of A are read where they lie in the image: what is packed once, and how it
// runs on one set of shapes. Which problems it takes is packed_gemm.cpp's.
#pragma once

#include <memory>
#include <vector>

#include "cpu/convolution/geometry.h"
#include "cpu/gemm/packed_gemm.h"
#include "kernels/fusion.h"

namespace torchtrt::kernels::convolution {

inline constexpr int64_t kMaxTaps = 512;    // pointers of a tile are on the stack
inline constexpr int64_t kMaxPatch = 8192;  // elements of a tile's border patches, on the stack too

// How the input is read. A run is what lies next to each other in memory and is multiplied with consecutive rows of B.
enum class Reading {
  kChannels,     // a run is the channels of one pixel; taps are depth x height x width
  kChannelRows,  // channels-last and few channels: a run is kernel width x channels; taps are depth x height
  kPlanes,       // row-major: a run is the kernel's width; taps are channels x depth x height
};

inline constexpr int64_t kFewChannels = 16;  // up to here a row of taps is read as one run

struct Runs {
  Reading reading = Reading::kChannels;
  int64_t taps = 0;  // of a window
  int64_t run = 0;   // elements of each
};
Runs runsOf(const Geometry& geometry, const Operand& input);

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

// A run of a window.
struct Tap {
  Spatial at;      // offset from the window's start
  int64_t offset;  // the same in elements
};
std::vector<Tap> tapsOf(const Geometry& geometry, Reading reading, const Image& input);
// Where the window of an output pixel begins, in elements; outside of the image where there is padding.
int64_t offsetOfWindow(const Geometry& geometry, const Image& input, const Pixel& pixel);

template <typename T>
std::unique_ptr<Prepared> prepareImplicitGemm(std::shared_ptr<const PackedConvolutionOf<T>> packed,
                                              const ShapeSet& shapes);

// PoolsOutput::preparePooled (kernels/fusion.h), channels-last.
Fused preparePooledProduct(std::shared_ptr<const PackedConvolution> packed, const ShapeSet& shapes);

}  // namespace torchtrt::kernels::convolution
