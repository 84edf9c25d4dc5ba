#include "cpu/convolution/direct/grouped_row.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/convolution/direct/grouped_row.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "cpu/gemm/epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::convolution::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

#if HWY_TARGET == HWY_SCALAR

GroupedFunctions functionsForTarget() {
  return {static_cast<int64_t>(hn::Lanes(D())), nullptr};
}

#else

// Adds the products of one tap: lane i of every block of 128 bits is input i of its group.
template <int kInput, int kPixels>
HWY_INLINE void addProducts(const V (&pixels)[kPixels], const float* weights, V (&sums)[kPixels]) {
  if constexpr (kInput < kGroupChannels) {
    const D d;
    const V line = hn::Load(d, weights + kInput * static_cast<int64_t>(hn::Lanes(d)));
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) {
      sums[p] = hn::MulAdd(hn::Broadcast<kInput>(pixels[p]), line, sums[p]);
    }
    addProducts<kInput + 1>(pixels, weights, sums);
  }
}

// Output columns [column, column + kPixels).
template <int kPixels, bool kPartial>
HWY_INLINE void tile(const Row& row, const GroupedBlock& block, int64_t column) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto mask = hn::FirstN(d, static_cast<size_t>(kPartial ? block.valid : lanes));
  const int64_t start = column * row.stride - row.padding;
  const int64_t end = start + (kPixels - 1) * row.stride + (row.width_taps - 1) * row.dilation;
  const bool inside = start >= 0 && end < row.width;
  const float* weights = block.weights;
  V sums[kPixels];
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) {
    sums[p] = hn::Zero(d);
  }
  for (int64_t t = 0; t < row.line_taps; ++t) {
    if (row.lines[t] == nullptr) {
      weights += row.width_taps * kGroupChannels * lanes;
      continue;
    }
    const float* line = row.lines[t] + block.channel;
    for (int64_t w = 0; w < row.width_taps; ++w, weights += kGroupChannels * lanes) {
      V pixels[kPixels];
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p) {
        const int64_t x = start + p * row.stride + w * row.dilation;
        const float* from = inside || (x >= 0 && x < row.width) ? line + x * row.pixel_stride : row.zeros;
        pixels[p] = kPartial ? hn::MaskedLoad(mask, d, from) : hn::LoadU(d, from);
      }
      addProducts<0>(pixels, weights, sums);
    }
  }
  if (row.bias != nullptr) {
    const float* from = row.bias + block.channel;
    const V bias = kPartial ? hn::MaskedLoad(mask, d, from) : hn::LoadU(d, from);
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) {
      sums[p] = hn::Add(sums[p], bias);
    }
  }
  gemm::HWY_NAMESPACE::applyEpilogue<kPixels>(*row.epilogue, sums);
  float* out = row.out + column * row.out_stride + block.channel;
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) {
    if (kPartial) {
      hn::BlendedStore(sums[p], mask, d, out + p * row.out_stride);
    } else {
      hn::StoreU(sums[p], d, out + p * row.out_stride);
    }
  }
}

// The last tile reaches back over columns that are done already: it computes the same again.
template <int kPixels, bool kPartial>
void tiles(const Row& row, const GroupedBlock& block) {
  for (int64_t next = 0; next < row.columns; next += kPixels) {
    tile<kPixels, kPartial>(row, block, std::min(next, row.columns - kPixels));
  }
}

// Six sums, their pixels, the weights and a broadcast fit 16 registers.
template <bool kPartial>
void columns(const Row& row, const GroupedBlock& block) {
  if (row.columns >= 6) {
    tiles<6, kPartial>(row, block);
  } else if (row.columns >= 2) {
    tiles<2, kPartial>(row, block);
  } else {
    tiles<1, kPartial>(row, block);
  }
}

void runRow(const Row& row, const GroupedBlock& block) {
  block.valid < static_cast<int64_t>(hn::Lanes(D())) ? columns<true>(row, block) : columns<false>(row, block);
}

GroupedFunctions functionsForTarget() {
  return {static_cast<int64_t>(hn::Lanes(D())), runRow};
}

#endif

}  // namespace
}  // namespace torchtrt::kernels::convolution::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::convolution {

HWY_EXPORT(functionsForTarget);

GroupedFunctions groupedFunctions() {
  return HWY_DYNAMIC_DISPATCH(functionsForTarget)();
}

}  // namespace torchtrt::kernels::convolution
#endif  // HWY_ONCE
