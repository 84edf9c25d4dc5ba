#include "torchtrt/matchers.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace torchtrt::rewriting::m {

namespace {

template <typename T>
std::optional<double> uniform(const Weights& weights) {
  const T* values = weights.as<T>();
  for (size_t i = 1; i < weights.count(); ++i) {
    // Bytes, so that -0.0 is not taken for 0.0, nor one NaN missed for another.
    if (std::memcmp(&values[i], &values[0], sizeof(T)) != 0) {
      return std::nullopt;
    }
  }
  return static_cast<double>(values[0]);
}

// float16 and bfloat16 as bits: sign, exponent of `exponent_bits`, fraction of the rest.
std::optional<double> uniformHalf(const Weights& weights, int exponent_bits) {
  const auto bits = uniform<uint16_t>(weights);
  if (!bits) {
    return std::nullopt;
  }
  const auto word = static_cast<uint32_t>(*bits);
  const int fraction_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(word >> fraction_bits) & ((1 << exponent_bits) - 1);
  const double fraction = std::ldexp(static_cast<double>(word & ((1u << fraction_bits) - 1)), -fraction_bits);
  if (exponent == (1 << exponent_bits) - 1) {
    return std::nullopt;  // infinities and NaN take part in no rule
  }
  const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1.0 + fraction, exponent - bias);
  return (word & 0x8000u) != 0 ? -magnitude : magnitude;
}

}  // namespace

size_t countUses(const Tensor& tensor) {
  size_t uses = tensor.uses().size();
  if (tensor.isNetworkOutput()) {
    const network::Network& network = *tensor.network();
    for (int i = 0; i < network.getNbOutputs(); ++i) {
      uses += network.getOutput(i) == &tensor ? 1 : 0;
    }
  }
  return uses;
}

std::vector<Layer*> usersOf(const Layer& layer) {
  std::vector<Layer*> users;
  for (int i = 0; i < layer.getNbOutputs(); ++i) {
    for (const Tensor::Use& use : layer.getOutput(i)->uses()) {
      if (std::find(users.begin(), users.end(), use.layer) == users.end()) {
        users.push_back(use.layer);
      }
    }
  }
  return users;
}

std::optional<double> uniformValue(const Tensor& tensor) {
  const Weights* weights = tensor.constant();
  if (!weights || weights->count() == 0) {
    return std::nullopt;
  }
  switch (weights->dtype) {
    case DType::kFloat32:
      return uniform<float>(*weights);
    case DType::kFloat64:
      return uniform<double>(*weights);
    case DType::kFloat16:
      return uniformHalf(*weights, 5);
    case DType::kBFloat16:
      return uniformHalf(*weights, 8);
    case DType::kInt8:
      return uniform<int8_t>(*weights);
    case DType::kInt16:
      return uniform<int16_t>(*weights);
    case DType::kInt32:
      return uniform<int32_t>(*weights);
    case DType::kInt64:
      return uniform<int64_t>(*weights);
    case DType::kUInt8:
      return uniform<uint8_t>(*weights);
    case DType::kBool:
      return uniform<bool>(*weights);
  }
  return std::nullopt;
}

std::string label(const Layer& layer) {
  return std::string(layer.info().name) + " '" + layer.getName() + "'";
}

}  // namespace torchtrt::rewriting::m
