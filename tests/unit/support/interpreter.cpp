#include "support/interpreter.h"

#include <cmath>
#include <cstring>
#include <random>
#include <unordered_map>

#include "base/check.h"
#include "optimization/evaluate_layer.h"

namespace torchtrt::testing {

using network::Network;
using network::Tensor;
using network::Weights;

namespace {

std::map<std::string, int64_t> bindSymbols(const Network& network, const std::vector<Weights>& inputs) {
  std::map<std::string, int64_t> values;
  for (int i = 0; i < network.getNbInputs(); ++i) {
    const Dims& dims = network.getInput(i)->getDimensions();
    for (int axis = 0; axis < dims.rank(); ++axis) {
      if (dims[axis].isSymbol()) {
        values[dims[axis].symbolName()] = inputs[static_cast<size_t>(i)].dims[static_cast<size_t>(axis)];
      }
    }
  }
  return values;
}

Weights randomWeights(DType dtype, const std::vector<int64_t>& dims, std::mt19937& random) {
  void* memory = nullptr;
  Weights weights = Weights::allocate(dtype, dims, &memory);
  for (size_t i = 0; i < weights.count(); ++i) {
    // Eighths from -2 to 2: exact in every floating type, and integers among them.
    const int eighths = static_cast<int>(random() % 33) - 16;
    switch (dtype) {
      case DType::kFloat32:
        static_cast<float*>(memory)[i] = static_cast<float>(eighths) / 8;
        break;
      case DType::kFloat64:
        static_cast<double*>(memory)[i] = static_cast<double>(eighths) / 8;
        break;
      case DType::kInt32:
        static_cast<int32_t*>(memory)[i] = eighths;
        break;
      case DType::kInt64:
        static_cast<int64_t*>(memory)[i] = eighths;
        break;
      case DType::kBool:
        static_cast<uint8_t*>(memory)[i] = eighths > 0 ? 1 : 0;
        break;
      default:
        throw InternalError(std::string("no random inputs of ") + toString(dtype));
    }
  }
  return weights;
}

template <typename T>
::testing::AssertionResult agreeAs(const Weights& got, const Weights& expected, double tolerance) {
  double largest = 0;
  for (size_t i = 0; i < expected.count(); ++i) {
    const double value = static_cast<double>(expected.as<T>()[i]);
    largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
  }
  for (size_t i = 0; i < expected.count(); ++i) {
    const double a = static_cast<double>(got.as<T>()[i]), b = static_cast<double>(expected.as<T>()[i]);
    const bool equal = std::isnan(b) ? std::isnan(a) : std::isinf(b) ? a == b : std::abs(a - b) <= tolerance * largest;
    if (!equal) {
      return ::testing::AssertionFailure()
             << "element " << i << " is " << a << ", expected " << b << " to " << tolerance << " of " << largest;
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace

std::vector<Weights> interpret(const Network& network, const std::vector<Weights>& inputs, const Adjust& adjust) {
  TORCHTRT_CHECK(static_cast<int>(inputs.size()) == network.getNbInputs(), inputs.size() << " inputs given");
  const std::map<std::string, int64_t> symbols = bindSymbols(network, inputs);
  const auto value_of_symbol = [&](const std::string& name) { return symbols.at(name); };
  std::unordered_map<const Tensor*, Weights> values;
  for (int i = 0; i < network.getNbInputs(); ++i) {
    values[network.getInput(i)] = inputs[static_cast<size_t>(i)];
  }
  for (const network::Layer* layer : network.layers()) {
    if (layer->weights()) {
      values[layer->getOutput(0)] = *layer->weights();
      continue;
    }
    std::vector<const Weights*> operands;
    operands.reserve(static_cast<size_t>(layer->getNbInputs()));
    for (int i = 0; i < layer->getNbInputs(); ++i) {
      operands.push_back(layer->getInput(i) ? &values.at(layer->getInput(i)) : nullptr);
    }
    std::vector<Weights> results = optimization::evaluateLayer(*layer, operands, value_of_symbol);
    for (size_t i = 0; i < results.size(); ++i) {
      if (adjust) {
        adjust(*layer, operands, results[i]);
      }
      values[layer->getOutput(static_cast<int>(i))] = results[i];
    }
  }
  std::vector<Weights> outputs;
  outputs.reserve(static_cast<size_t>(network.getNbOutputs()));
  for (int i = 0; i < network.getNbOutputs(); ++i) {
    outputs.push_back(values.at(network.getOutput(i)));
  }
  return outputs;
}

std::optional<std::vector<Weights>> interpretIfPossible(const Network& network, const std::vector<Weights>& inputs) {
  try {
    return interpret(network, inputs);
  } catch (const InternalError&) {
    return std::nullopt;
  }
}

std::vector<Weights> randomInputs(const Network& network, uint32_t seed,
                                  const std::map<std::string, int64_t>& symbols) {
  std::mt19937 random(seed);
  std::vector<Weights> inputs;
  for (int i = 0; i < network.getNbInputs(); ++i) {
    const Tensor& input = *network.getInput(i);
    std::vector<int64_t> dims;
    for (const Dim& dim : input.getDimensions()) {
      dims.push_back(dim.evaluate([&](const std::string& name) {
        const auto given = symbols.find(name);
        return given != symbols.end() ? given->second : network.findSymbol(name)->opt;
      }));
    }
    inputs.push_back(randomWeights(input.getType(), dims, random));
  }
  return inputs;
}

::testing::AssertionResult agree(const Weights& got, const Weights& expected, double tolerance) {
  if (got.dtype != expected.dtype || got.dims != expected.dims) {
    return ::testing::AssertionFailure() << "got " << toString(got.dtype) << Dims::of(got.dims).toString()
                                         << ", expected " << toString(expected.dtype)
                                         << Dims::of(expected.dims).toString();
  }
  if (expected.dtype == DType::kFloat32) {
    return agreeAs<float>(got, expected, tolerance);
  }
  if (expected.dtype == DType::kFloat64) {
    return agreeAs<double>(got, expected, tolerance);
  }
  if (expected.bytes() != 0 && std::memcmp(got.data.get(), expected.data.get(), expected.bytes()) != 0) {
    return ::testing::AssertionFailure() << "values of " << toString(expected.dtype) << " differ";
  }
  return ::testing::AssertionSuccess();
}

}  // namespace torchtrt::testing
