// The fields of torchtrt::Attention, and what its operands must be.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "torchtrt/plugin.h"

namespace torchtrt::kernels::attention {

struct AttentionFields {
  double scale = 1;
  bool transpose_k = false;
  bool safe = false;
  int64_t heads = 0;  // 0: every head is a matrix of its own
  int64_t head_size = 0, value_size = 0;
  int64_t q_channel = 0, k_channel = 0, v_channel = 0;
  bool sequence_first = false;

  // Throws EngineError(kPlugin) for what is missing or out of range.
  static AttentionFields of(const Attributes& fields);

  static bool supports(std::span<const DType> inputs);
  // Throws EngineError(kPlugin) for operands that do not fit each other.
  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const;

 private:
  Dims scoresOfMatrices(std::span<const TensorType> inputs) const;
  Dims scoresOfChannels(std::span<const TensorType> inputs) const;
};

}  // namespace torchtrt::kernels::attention
