#include "kernels/quantized/requantize_rows.h"

#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantized/requantize_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "kernels/gemm/epilogue-inl.h"
#include "kernels/quantized/steps-inl.h"

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

// One vector of columns of all rows.
template <bool kWhole, typename Out, typename Residual>
HWY_INLINE void columnsOfRows(const Requantization& definition, const gemm::Epilogue& activation,
                              const RequantizedRows& rows, int64_t column) {
  constexpr int kTogether =
      4;  // vectors, so that activations of many instructions are called for more than a few values
  const D d;
  const StepInts di;
  const FromSteps reader(definition.residual);
  const ToSteps maker(definition.output);
  const int64_t count = std::min<int64_t>(rows.columns - column, static_cast<int64_t>(hn::Lanes(d)));
  const V scale = read<kWhole>(reader, rows.scale + column, count);
  const V bias = rows.bias == nullptr ? hn::Zero(d) : read<kWhole>(reader, rows.bias + column, count);
  const auto* residual = static_cast<const Residual*>(rows.residual);
  auto* out = static_cast<Out*>(rows.out);
  for (int64_t row = 0; row < rows.rows; row += kTogether) {
    const int64_t last = rows.rows - row - 1;  // rows beyond repeat it
    V values[kTogether];
#pragma GCC unroll 4
    for (int r = 0; r < kTogether; ++r) {
      const int64_t at = row + std::min<int64_t>(r, last);
      const auto sum = hn::LoadU(di, rows.sums + at * rows.sums_stride + column);
      values[r] = hn::Mul(hn::ConvertTo(d, sum), scale);
      if (rows.bias != nullptr) {
        values[r] = hn::Add(values[r], bias);
      }
      if (residual != nullptr) {
        values[r] = hn::Add(values[r], read<kWhole>(reader, residual + rows.residual_offsets[at] + column, count));
      }
    }
    gemm::HWY_NAMESPACE::applyEpilogue<kTogether>(activation, values);
#pragma GCC unroll 4
    for (int r = 0; r < kTogether; ++r) {
      if (r <= last) {
        write<kWhole>(maker, values[r], out + rows.out_offsets[row + r] + column, count);
      }
    }
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

Requantizer::Requantizer(const Problem& problem) : definition_(requantizationOf(problem)) {
  const ActivationSpec& activation = definition_.activation;
  activation_ = gemm::makeEpilogue(activation.op, activation.alpha, activation.beta);
  function_ = HWY_DYNAMIC_DISPATCH(functionForTarget)(definition_.to, definition_.residual_dtype);
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
