// Reads the attributes of a normalization: what it computes, and the form of its parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "cpu/simd/activation_rows.h"
#include "cpu/storage/half_rows.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels::normalization {

enum Input : size_t { kIn, kScale, kBias, kMean, kVariance };

template <typename T>
struct Config {
  bool is_rms = false;
  double eps = 0;
  size_t normalized_rank = 1;
  int64_t groups = 1;  // 0: each channel is one
  bool present[5] = {};
  ActivationRowsOf<T> activation;
  HalfRows halves = {};  // empty unless operands are of 16 bits
  // Batch, if its parameters are constants: a factor for each channel, then a term for each.
  std::shared_ptr<const std::vector<T>> channel_lines = nullptr;
};

// Element i of a parameter, or `missing`. Stored, here and below, is T or uint16_t.
template <typename T, typename Stored>
T parameterAt(const Config<T>& config, const RunArgs& args, Input input, int64_t i, T missing) {
  if (!config.present[input]) {
    return missing;
  }
  const Stored* values = static_cast<const Stored*>(args.inputs[input]) + i;
  if constexpr (std::is_same_v<T, Stored>) {
    return *values;
  } else {
    T wide = 0;
    config.halves.widen(values, &wide, 1);
    return wide;
  }
}

// True when the last `rank` dims of a tensor are dense and row-major.
inline bool isDenseTail(const TensorDesc& desc, size_t rank) {
  int64_t stride = 1;
  for (size_t i = desc.dims.size(); i-- > desc.dims.size() - rank;) {
    if (desc.dims[i] != 1 && desc.strides[i] != stride) {
      return false;
    }
    stride *= desc.dims[i];
  }
  return true;
}

}  // namespace torchtrt::kernels::normalization
