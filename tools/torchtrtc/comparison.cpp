#include "comparison.h"

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "messages.h"
#include "rows.h"
#include "torchtrt/logging.h"

namespace torchtrtc {
namespace {

using torch::jit::IValue;

void warn(const std::string& text) {
  torchtrt::logging::log(torchtrt::logging::Level::kWARNING, text);
}

// The tensors of a result, in order. Dictionaries keep the order in which they were filled.
void flatten(const IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    tensors.push_back(value.toTensor());
  } else if (value.isList()) {
    for (const IValue& element : value.toListRef()) {
      flatten(element, tensors);
    }
  } else if (value.isTuple()) {
    for (const IValue& element : value.toTupleRef().elements()) {
      flatten(element, tensors);
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      flatten(entry.value(), tensors);
    }
  }
}

std::vector<at::Tensor> tensorsOf(torch::jit::Module& module, const std::vector<IValue>& inputs) {
  std::vector<at::Tensor> tensors;
  flatten(module.forward(inputs), tensors);
  return tensors;
}

struct Difference {
  double found = 0;
  double allowed = 0;
  std::string other;  // what is different besides numbers; empty where nothing is

  bool isAllowed() const {
    return other.empty() && found <= allowed;
  }
};

// Infinities and NaN have to be in the same places.
Difference differenceOf(const at::Tensor& expected, const at::Tensor& actual, const Threshold& threshold) {
  if (expected.sizes() != actual.sizes() || expected.scalar_type() != actual.scalar_type()) {
    std::ostringstream text;
    text << "is " << actual.scalar_type() << actual.sizes() << ", expected " << expected.scalar_type()
         << expected.sizes();
    return {0, 0, text.str()};
  }
  if (!at::isFloatingType(expected.scalar_type())) {
    return {0, 0, at::equal(expected, actual) ? "" : "has other values than PyTorch"};
  }
  const at::Tensor wanted = expected.to(at::kDouble);
  const at::Tensor got = actual.to(at::kDouble);
  const at::Tensor is_same = at::isclose(got, wanted, /*rtol=*/0, /*atol=*/0, /*equal_nan=*/true);
  const at::Tensor apart = (got - wanted).abs().masked_fill(is_same, 0);
  const at::Tensor sizes = wanted.abs().masked_fill(~wanted.isfinite(), 0);
  const auto largest = [](const at::Tensor& tensor) { return tensor.numel() == 0 ? 0 : tensor.max().item<double>(); };
  const double found = largest(apart);
  return {std::isnan(found) ? std::numeric_limits<double>::infinity() : found,
          threshold.atol + threshold.rtol * largest(sizes),
          {}};
}

}  // namespace

void compareWithOriginal(torch::jit::Module original, torch::jit::Module compiled, const std::vector<IValue>& inputs,
                         const Threshold& threshold) {
  const c10::InferenceMode inference;
  original.eval();
  std::vector<at::Tensor> expected;
  try {
    expected = tensorsOf(original, inputs);
  } catch (const std::exception& e) {
    warn("the comparison with PyTorch cannot be made, since the module itself fails on random input: " +
         reasonOf(e.what()) + "; give each input the shape and dtype that the module takes, or --no-threshold-check");
    return;
  }
  const std::vector<at::Tensor> actual = tensorsOf(compiled, inputs);
  if (expected.size() != actual.size()) {
    warn("the compiled module gives " + std::to_string(actual.size()) + " tensors, expected " +
         std::to_string(expected.size()));
    return;
  }
  if (expected.empty()) {
    tellRow("check", "not compared with PyTorch: no result is a tensor");
    return;
  }
  size_t worst = 0;
  std::vector<Difference> differences;
  for (size_t i = 0; i < expected.size(); ++i) {
    differences.push_back(differenceOf(expected[i], actual[i], threshold));
    const Difference& each = differences.back();
    if (!each.isAllowed()) {
      warn("output " + std::to_string(i) + " " +
           (each.other.empty() ? "differs by more than --atol and --rtol allow" : each.other));
    }
    const Difference& least = differences[worst];
    worst = each.found * least.allowed > least.found * each.allowed ? i : worst;
  }
  std::ostringstream text;
  text << "largest difference from PyTorch " << differences[worst].found << ", allowed " << differences[worst].allowed;
  if (expected.size() > 1) {
    text << ", in output " << worst << " of " << expected.size();
  }
  tellRow("check", text.str());
}

}  // namespace torchtrtc
