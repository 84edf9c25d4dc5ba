#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/convolution/gemm/copy_runs.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "base/align.h"
#include "cpu/convolution/gemm/tile_rows.h"
#include "cpu/gemm/tiles.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::convolution::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<uint8_t>;

// It may write zeros up to a vector behind the copy.
HWY_INLINE void copyPiece(const uint8_t* from, int64_t length, uint8_t* to) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= length; i += lanes) {
    hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  }
  if (const auto rest = static_cast<size_t>(length - i); rest != 0) {
#if HWY_TARGET <= HWY_AVX3
    hn::StoreU(hn::MaskedLoad(hn::FirstN(d, rest), d, from + i), d, to + i);
#else
    std::memcpy(to + i, from + i, rest);
    std::memset(to + length, 0, static_cast<size_t>(roundUp(length, gemm::kTileStep) - length));
#endif
  }
}

void copyRuns(const CopiedRuns& runs) {
  auto* to = reinterpret_cast<uint8_t*>(runs.to);
  for (int64_t run = 0; run < runs.count; ++run, to += runs.length) {
    const auto* from = reinterpret_cast<const uint8_t*>(runs.from) + runs.offsets[run];
    copyPiece(from, runs.length, to);
  }
}

void copyRows(const CopiedRows& rows) {
  const auto* from = reinterpret_cast<const uint8_t*>(rows.from);
  auto* to = reinterpret_cast<uint8_t*>(rows.to);
  for (int64_t row = 0; row < rows.count; ++row, from += rows.from_stride, to += rows.to_stride) {
    copyPiece(from, rows.length, to);
  }
}

bool areFinite(const uint16_t* brains, int64_t count) {
  const hn::ScalableTag<uint16_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto exponent = hn::Set(d, 0x7f80);
  auto most = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    most = hn::Max(most, hn::And(hn::LoadU(d, brains + i), exponent));
  }
  bool are = hn::AllFalse(d, hn::Eq(most, exponent));
  for (; i < count; ++i) {
    are = are && (brains[i] & 0x7f80) != 0x7f80;
  }
  return are;
}

Copies functionsForTarget() {
  return {copyRuns, copyRows, areFinite};
}

}  // namespace
}  // namespace torchtrt::kernels::convolution::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::convolution {

HWY_EXPORT(functionsForTarget);

Copies copies() {
  return HWY_DYNAMIC_DISPATCH(functionsForTarget)();
}

}  // namespace torchtrt::kernels::convolution
#endif  // HWY_ONCE
