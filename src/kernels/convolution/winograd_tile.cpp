#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolution/winograd_tile.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/convolution/winograd_tile.h"
#include "kernels/gemm/epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::convolution::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// B^T d B of a 4x4 patch d.
void transformInput(const WinogradInput& tile) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < tile.channels; c += lanes) {
    V rows[kPatch];
#pragma GCC unroll 4
    for (int x = 0; x < 4; ++x) {
      const V d0 = hn::LoadU(d, tile.pixels[static_cast<size_t>(x)] + c);
      const V d1 = hn::LoadU(d, tile.pixels[static_cast<size_t>(4 + x)] + c);
      const V d2 = hn::LoadU(d, tile.pixels[static_cast<size_t>(8 + x)] + c);
      const V d3 = hn::LoadU(d, tile.pixels[static_cast<size_t>(12 + x)] + c);
      rows[x] = hn::Sub(d0, d2);
      rows[4 + x] = hn::Add(d1, d2);
      rows[8 + x] = hn::Sub(d2, d1);
      rows[12 + x] = hn::Sub(d1, d3);
    }
    float* to = tile.to + c;
#pragma GCC unroll 4
    for (int y = 0; y < 4; ++y) {
      const V* r = rows + 4 * y;
      hn::StoreU(hn::Sub(r[0], r[2]), d, to + (4 * y) * tile.step);
      hn::StoreU(hn::Add(r[1], r[2]), d, to + (4 * y + 1) * tile.step);
      hn::StoreU(hn::Sub(r[2], r[1]), d, to + (4 * y + 2) * tile.step);
      hn::StoreU(hn::Sub(r[1], r[3]), d, to + (4 * y + 3) * tile.step);
    }
  }
}

// A^T m A of 4x4 products m, then bias, residual and epilogue.
bool transformOutput(const WinogradOutput& tile) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V nothing = hn::Zero(d);  // stays 0 while everything is finite
  for (int64_t n = 0; n < tile.columns; n += lanes) {
    V left[4];
    V right[4];
#pragma GCC unroll 4
    for (int y = 0; y < 4; ++y) {
      const float* from = tile.from + 4 * y * tile.step + n;
      const V m1 = hn::LoadU(d, from + tile.step);
      const V m2 = hn::LoadU(d, from + 2 * tile.step);
      left[y] = hn::Add(hn::LoadU(d, from), hn::Add(m1, m2));
      right[y] = hn::Sub(hn::Sub(m1, m2), hn::LoadU(d, from + 3 * tile.step));
    }
    const V bias = tile.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, tile.bias + n);
    V sums[kOutputs] = {hn::Add(left[0], hn::Add(left[1], left[2])), hn::Add(right[0], hn::Add(right[1], right[2])),
                        hn::Sub(hn::Sub(left[1], left[2]), left[3]), hn::Sub(hn::Sub(right[1], right[2]), right[3])};
#pragma GCC unroll 4
    for (int i = 0; i < kOutputs; ++i) {
      nothing = hn::MulAdd(sums[i], hn::Zero(d), nothing);
      sums[i] = hn::Add(sums[i], bias);
      if (tile.residual[static_cast<size_t>(i)] != nullptr) {
        sums[i] = hn::Add(sums[i], hn::LoadU(d, tile.residual[static_cast<size_t>(i)] + n));
      }
    }
    gemm::HWY_NAMESPACE::applyEpilogue<kOutputs>(*tile.epilogue, sums);
#pragma GCC unroll 4
    for (int i = 0; i < kOutputs; ++i) {
      if (tile.out[static_cast<size_t>(i)] != nullptr) {
        hn::StoreU(sums[i], d, tile.out[static_cast<size_t>(i)] + n);
      }
    }
  }
  return hn::AllTrue(d, hn::Eq(nothing, hn::Zero(d)));
}

// The epilogue over values in memory.
void finish(const gemm::Epilogue& epilogue, float* values, int64_t count) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count; i += lanes) {
    V value[1] = {hn::LoadU(d, values + i)};
    gemm::HWY_NAMESPACE::applyEpilogue<1>(epilogue, value);
    hn::StoreU(value[0], d, values + i);
  }
}

WinogradFunctions functionsForTarget() {
  return {transformInput, transformOutput, finish};
}

}  // namespace
}  // namespace torchtrt::kernels::convolution::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::convolution {

HWY_EXPORT(functionsForTarget);

WinogradFunctions winogradFunctions() {
  return HWY_DYNAMIC_DISPATCH(functionsForTarget)();
}

}  // namespace torchtrt::kernels::convolution
#endif  // HWY_ONCE
