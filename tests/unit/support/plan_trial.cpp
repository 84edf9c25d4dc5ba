#include "support/plan_trial.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <vector>

#include "support/engine_call.h"

namespace torchtrt::testing {
namespace {

// Zeros and small numbers of any dtype.
struct Input {
  explicit Input(const engine::BindingInfo& info) : dtype(info.dtype), dims(info.opt), strides(dims.size()) {
    size_t count = 1;
    for (size_t i = dims.size(); i-- > 0;) {
      strides[i] = static_cast<int64_t>(count);
      count *= static_cast<size_t>(dims[i]);
    }
    bytes.resize(count * sizeOf(dtype));
    for (size_t i = 0; i < count && dtype == DType::kFloat32; ++i) {
      reinterpret_cast<float*>(bytes.data())[i] = static_cast<float>(i % 7) - 3;
    }
  }
  engine::TensorView view() const {
    return {dtype, static_cast<int32_t>(dims.size()), dims.data(), strides.data(), bytes.data()};
  }

  DType dtype;
  std::vector<int64_t> dims, strides;
  std::vector<std::byte> bytes;
};

using Outputs = std::vector<KeptOutputs::Output>;

Outputs loadAndCall(const std::string& bytes, bool force_reference) {
  engine::LoadOptions options;
  options.force_reference = force_reference;
  options.device = testDeviceName();
  const auto engine = engine::Engine::load(bytesOf(bytes), nullptr, {}, options);
  std::vector<Input> inputs;
  std::vector<engine::TensorView> views;
  for (const engine::BindingInfo& info : engine->inputs()) {
    inputs.emplace_back(info);
  }
  views.reserve(inputs.size());
  for (const Input& input : inputs) {
    views.push_back(input.view());
  }
  const InputsOnDevice given(testDevice(), views);
  KeptOutputs outputs;
  engine->enqueue(given.views(), outputs, 1);
  if (options.device != "cpu") {  // the next call tells if an index was out of range: then there is nothing to compare
    KeptOutputs next;
    testDevice().wait({});
    engine->enqueue(given.views(), next, 1);
  }
  return std::move(outputs.outputs);
}

// A square of such a value, and a sum of many, is finite. Beyond, kernels differ: the reference adds in float64.
bool isTame(float value) {
  return std::fabs(value) < 1e15F;
}

// True if two results are as far apart as different kernels never are. Values that are not finite, or near to it, say
// nothing: a plan may ask for anything.
bool areFarApart(const KeptOutputs::Output& x, const KeptOutputs::Output& y) {
  if (x.dims != y.dims) {
    return true;
  }
  if (x.dtype != DType::kFloat32) {
    return false;
  }
  const std::vector<float> xs = x.values();
  const std::vector<float> ys = y.values();
  float largest = 0;
  float distance = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!isTame(xs[i]) || !isTame(ys[i])) {
      return false;
    }
    largest = std::max(largest, std::fabs(ys[i]));
    distance = std::max(distance, std::fabs(xs[i] - ys[i]));
  }
  return distance > 0.02F * largest;
}

// The same of the tensors between the steps, from which tame results may come: 1 / 1e30 is 0.
bool hasOnlyTameTensors(const std::string& bytes) {
  plan::Plan plan = plan::parse(bytesOf(bytes), nullptr);
  plan.outputs.clear();
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    if (plan.tensors[i].dtype == DType::kFloat32) {
      plan.outputs.push_back({std::to_string(i), static_cast<int32_t>(i)});
    }
  }
  const Outputs all = loadAndCall(plan::serialize(plan), true);
  return std::all_of(all.begin(), all.end(), [](const KeptOutputs::Output& output) {
    const std::vector<float> values = output.values();
    return std::all_of(values.begin(), values.end(), isTame);
  });
}

// Kernels that read outside of their operands have other results than the reference, most likely.
std::string compare(const std::string& bytes) {
  const Outputs fast = loadAndCall(bytes, false);
  const Outputs reference = loadAndCall(bytes, true);
  for (size_t i = 0; i < fast.size(); ++i) {
    if (areFarApart(fast[i], reference[i]) && hasOnlyTameTensors(bytes)) {
      return "output " + std::to_string(i) + " is not the reference's";
    }
  }
  return "";
}

}  // namespace

size_t tensorBytes(const plan::Plan& plan, size_t most) {
  std::vector<int64_t> symbols;
  for (const Symbol& symbol : plan.symbols) {
    symbols.push_back(symbol.opt);
  }
  std::vector<int64_t> registers;
  plan::runProgram(plan, symbols, registers);
  size_t bytes = 0;
  for (const plan::Tensor& tensor : plan.tensors) {
    std::vector<int64_t> sizes;
    for (const plan::Register r : tensor.dims) {
      sizes.push_back(registers[r]);
    }
    bytes += std::min(plan::checkedBytes(sizes, tensor.dtype), most + 1);
  }
  return bytes;
}

PlanTrial tryPlan(const std::string& bytes, size_t most_bytes) {
  using Outcome = PlanTrial::Outcome;
  try {
    if (tensorBytes(plan::parse(bytesOf(bytes), nullptr), most_bytes) > most_bytes) {
      return {Outcome::kLarge, ""};
    }
    return {Outcome::kAnswer, compare(bytes)};
  } catch (const EngineError&) {
    return {Outcome::kRefused, ""};
  } catch (const std::exception& error) {
    return {Outcome::kFailure, std::string("not an EngineError: ") + error.what()};
  }
}

}  // namespace torchtrt::testing
