#include "cpu/convolution/gemm/brain_rows.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/convolution/gemm/brain_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "cpu/gemm/epilogue-inl.h"
#include "cpu/simd/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::convolution::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using Brain = kernels::HWY_NAMESPACE::Brain;

constexpr size_t kMostLanes = HWY_MAX_BYTES / sizeof(float);

// `count` values exist.
template <bool kWhole>
HWY_INLINE V read(const float* from, int64_t count) {
  if constexpr (kWhole) {
    return hn::LoadU(D(), from);
  } else {
    HWY_ALIGN float buffer[kMostLanes] = {};
    std::copy_n(from, count, buffer);
    return hn::Load(D(), buffer);
  }
}

template <bool kWhole>
HWY_INLINE V read(const uint16_t* from, int64_t count) {
  if constexpr (kWhole) {
    return Brain::widen(from);
  } else {
    HWY_ALIGN uint16_t buffer[kMostLanes] = {};
    std::copy_n(from, count, buffer);
    return Brain::widen(buffer);
  }
}

template <bool kWhole>
HWY_INLINE void write(V value, uint16_t* to, int64_t count) {
  if constexpr (kWhole) {
    Brain::narrow(value, to);
  } else {
    HWY_ALIGN uint16_t buffer[kMostLanes];
    Brain::narrow(value, buffer);
    std::copy_n(buffer, count, to);
  }
}

// One vector of columns.
template <bool kWhole>
class Columns {
 public:
  HWY_INLINE Columns(const BrainRows& rows, int64_t column)
      : rows_(rows),
        column_(column),
        count_(std::min<int64_t>(rows.columns - column, static_cast<int64_t>(hn::Lanes(D())))),
        scale_(rows.scale == nullptr ? hn::Set(D(), 1.0F) : read<kWhole>(rows.scale + column, count_)),
        bias_(rows.bias == nullptr ? hn::Zero(D()) : read<kWhole>(rows.bias + column, count_)) {}

  template <int kRows>
  HWY_INLINE void run(int64_t row) const {
    V values[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const V sum = hn::LoadU(D(), rows_.sums + (row + r) * rows_.sums_stride + column_);
      values[r] = hn::MulAdd(sum, scale_, bias_);
    }
    if (rows_.residual != nullptr) {
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const uint16_t* from = rows_.residual + rows_.residual_offsets[row + r] + column_;
        values[r] = hn::Add(values[r], read<kWhole>(from, count_));
      }
    }
    gemm::HWY_NAMESPACE::applyEpilogue<kRows>(*rows_.activation, values);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      write<kWhole>(values[r], rows_.out + rows_.out_offsets[row + r] + column_, count_);
    }
  }

 private:
  const BrainRows& rows_;
  int64_t column_;
  int64_t count_;
  V scale_;
  V bias_;
};

template <bool kWhole>
HWY_INLINE void columnsOfRows(const BrainRows& rows, int64_t column) {
  constexpr int kTogether = 4;  // so that activations of many instructions are called for more than a few values
  const Columns<kWhole> columns(rows, column);
  int64_t row = 0;
  for (; row + kTogether <= rows.rows; row += kTogether) {
    columns.template run<kTogether>(row);
  }
  for (; row < rows.rows; ++row) {
    columns.template run<1>(row);
  }
}

void finish(const BrainRows& rows) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t column = 0;
  for (; column + lanes <= rows.columns; column += lanes) {
    columnsOfRows<true>(rows, column);
  }
  if (column < rows.columns) {
    columnsOfRows<false>(rows, column);
  }
}

FinishBrainRows functionForTarget() {
  return finish;
}

}  // namespace
}  // namespace torchtrt::kernels::convolution::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::convolution {

HWY_EXPORT(functionForTarget);

FinishBrainRows finishBrainRows() {
  return HWY_DYNAMIC_DISPATCH(functionForTarget)();
}

}  // namespace torchtrt::kernels::convolution
#endif  // HWY_ONCE
