#include "cpu/quantized/requantize_rows.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/quantized/requantize_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "cpu/gemm/epilogue-inl.h"
#include "cpu/quantized/steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::quantized::HWY_NAMESPACE {
namespace {

using D = StepFloats;
using V = hn::Vec<D>;

constexpr size_t kMostLanes = HWY_MAX_BYTES / sizeof(float);

// float, int8_t or uint8_t values as floats. `count` of them exist.
template <bool kWhole, typename T>
HWY_INLINE V read(const FromSteps& reader, const T* from, int64_t count) {
  if constexpr (!kWhole) {
    HWY_ALIGN T buffer[kMostLanes] = {};
    std::copy_n(from, count, buffer);
    return read<true>(reader, static_cast<const T*>(buffer), count);
  } else if constexpr (std::is_same_v<T, float>) {
    return hn::LoadU(D(), from);
  } else {
    return reader(from);
  }
}

template <bool kWhole, typename T>
HWY_INLINE void write(const ToSteps& maker, V values, T* to, int64_t count) {
  if constexpr (!kWhole) {
    HWY_ALIGN T buffer[kMostLanes];
    write<true>(maker, values, static_cast<T*>(buffer), count);
    std::copy_n(buffer, count, to);
  } else if constexpr (std::is_same_v<T, float>) {
    hn::StoreU(values, D(), to);
  } else {
    hn::StoreU(maker(values), StepBytes(), reinterpret_cast<uint8_t*>(to));
  }
}

// One vector of columns.
template <bool kWhole, typename Out, typename Residual>
class Columns {
 public:
  HWY_INLINE Columns(const Requantization& definition, const gemm::Epilogue& activation, const RequantizedRows& rows,
                     int64_t column)
      : activation_(activation),
        rows_(rows),
        reader_(definition.residual),
        maker_(definition.output),
        column_(column),
        count_(std::min<int64_t>(rows.columns - column, static_cast<int64_t>(hn::Lanes(D())))),
        scale_(read<kWhole>(reader_, rows.scale + column, count_)),
        bias_(rows.bias == nullptr ? hn::Zero(D()) : read<kWhole>(reader_, rows.bias + column, count_)) {}

  template <int kRows>
  HWY_INLINE void run(int64_t row) const {
    const D d;
    const auto* residual = static_cast<const Residual*>(rows_.residual);
    V values[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const auto sum = hn::LoadU(StepInts(), rows_.sums + (row + r) * rows_.sums_stride + column_);
      values[r] = hn::Mul(hn::ConvertTo(d, sum), scale_);
    }
    if (rows_.bias != nullptr) {
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        values[r] = hn::Add(values[r], bias_);
      }
    }
    if (residual != nullptr) {
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const Residual* from = residual + rows_.residual_offsets[row + r] + column_;
        values[r] = hn::Add(values[r], read<kWhole>(reader_, from, count_));
      }
    }
    gemm::HWY_NAMESPACE::applyEpilogue<kRows>(activation_, values);
    auto* out = static_cast<Out*>(rows_.out);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      write<kWhole>(maker_, values[r], out + rows_.out_offsets[row + r] + column_, count_);
    }
  }

 private:
  const gemm::Epilogue& activation_;
  const RequantizedRows& rows_;
  FromSteps reader_;
  ToSteps maker_;
  int64_t column_;
  int64_t count_;
  V scale_;
  V bias_;
};

template <bool kWhole, typename Out, typename Residual>
HWY_INLINE void columnsOfRows(const Requantization& definition, const gemm::Epilogue& activation,
                              const RequantizedRows& rows, int64_t column) {
  constexpr int kTogether = 4;  // so that activations of many instructions are called for more than a few values
  const Columns<kWhole, Out, Residual> columns(definition, activation, rows, column);
  int64_t row = 0;
  for (; row + kTogether <= rows.rows; row += kTogether) {
    columns.template run<kTogether>(row);
  }
  for (; row < rows.rows; ++row) {
    columns.template run<1>(row);
  }
}

template <typename Out, typename Residual>
void requantize(const Requantization& definition, const gemm::Epilogue& activation, const RequantizedRows& rows) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t column = 0;
  for (; column + lanes <= rows.columns; column += lanes) {
    columnsOfRows<true, Out, Residual>(definition, activation, rows, column);
  }
  if (column < rows.columns) {
    columnsOfRows<false, Out, Residual>(definition, activation, rows, column);
  }
}

using Function = void (*)(const Requantization&, const gemm::Epilogue&, const RequantizedRows&);

template <typename Out>
Function byResidual(DType residual) {
  switch (residual) {
    case DType::kInt8:
      return requantize<Out, int8_t>;
    case DType::kUInt8:
      return requantize<Out, uint8_t>;
    default:
      return requantize<Out, float>;
  }
}

Function functionForTarget(DType out, DType residual) {
  switch (out) {
    case DType::kInt8:
      return byResidual<int8_t>(residual);
    case DType::kUInt8:
      return byResidual<uint8_t>(residual);
    default:
      return byResidual<float>(residual);
  }
}

}  // namespace
}  // namespace torchtrt::kernels::quantized::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::quantized {

HWY_EXPORT(functionForTarget);

Requantizer::Requantizer(const Problem& problem)
    : definition_(requantizationOf(problem)),
      function_(HWY_DYNAMIC_DISPATCH(functionForTarget)(definition_.to, definition_.residual_dtype)) {
  const ActivationSpec& activation = definition_.activation;
  const Quantizer& output = definition_.output;
  if (activation.op == "relu" && definition_.makesSteps() && output.low >= output.zero_point) {
    return;  // no step is below that of zero
  }
  activation_ = gemm::makeEpilogue(activation.op, activation.alpha, activation.beta);
}

void Requantizer::run(const RunArgs& args, int64_t column, RequantizedRows rows) const {
  const auto at = static_cast<size_t>(column);
  rows.scale = static_cast<const float*>(args.inputs[kScale]) + column;
  rows.bias = definition_.has_bias ? static_cast<const float*>(args.inputs[kBias]) + column : nullptr;
  rows.out = static_cast<std::byte*>(args.outputs[0]) + at * sizeOf(definition_.to);
  rows.residual = definition_.has_residual
                      ? static_cast<const std::byte*>(args.inputs[kResidual]) + at * sizeOf(definition_.residual_dtype)
                      : nullptr;
  function_(definition_, activation_, rows);
}

}  // namespace torchtrt::kernels::quantized
#endif  // HWY_ONCE
