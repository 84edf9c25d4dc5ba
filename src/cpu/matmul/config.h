// The fast matrix multiplications read this from a problem. The reference kernel does not use it.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cpu/storage/order.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels::matmul {

struct Config {
  bool transpose_a = false;
  bool transpose_b = false;
  bool has_bias = false;
  bool has_residual = false;
  std::string activation;  // fused, "" for none
  double alpha = 0;
  double beta = 0;
};

inline Config configOf(const Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  Config config;
  config.transpose_a = attributes.getBool("transpose_a", false);
  config.transpose_b = attributes.getBool("transpose_b", false);
  config.has_bias = problem.inputs.size() > 2 && problem.inputs[2].present;
  config.has_residual = problem.inputs.size() > 3 && problem.inputs[3].present;
  config.activation = attributes.getString("activation", "");
  config.alpha = attributes.getDouble("activation_alpha", 0);
  config.beta = attributes.getDouble("activation_beta", 0);
  return config;
}

inline std::optional<Refusal> refuseOtherOrders(const Problem& problem) {
  for (const std::vector<Operand>* operands : {&problem.inputs, &problem.outputs}) {
    for (const Operand& operand : *operands) {
      if (operand.present && !isRowMajor(operand)) {
        return Refusal{"memory-order", "reads and writes row-major only"};
      }
    }
  }
  return std::nullopt;
}

// Returns the refusal that all implementations share, if there is one.
inline std::optional<Refusal> commonRefusal(const Problem& problem, DType dtype = DType::kFloat32) {
  for (const std::vector<Operand>* operands : {&problem.inputs, &problem.outputs}) {
    for (const Operand& operand : *operands) {
      if (operand.present && operand.dtype != dtype) {
        return Refusal{"dtype", std::string("computes ") + toString(dtype) + " only, not " + toString(operand.dtype)};
      }
    }
  }
  return refuseOtherOrders(problem);
}

// True when every dim but the last is 1: one row for all of the output.
inline bool isRow(const std::vector<int64_t>& dims) {
  return !dims.empty() && std::all_of(dims.begin(), dims.end() - 1, [](int64_t size) { return size == 1; });
}

}  // namespace torchtrt::kernels::matmul
