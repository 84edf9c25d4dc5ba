#include "compiler/validation.h"

#include <sstream>

namespace torchtrt::compiler {

namespace {

double toleranceOf(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return 1e-7;
    case at::kHalf:
    case at::kBFloat16:
      return 2e-2;
    default:
      return 1e-4;
  }
}

std::optional<std::string> compareFloating(const at::Tensor& expected, const at::Tensor& got) {
  const at::Tensor a = expected.to(at::kDouble);
  const at::Tensor b = got.to(at::kDouble);
  const at::Tensor finite = at::isfinite(a);
  if (!at::equal(at::nan_to_num(a.masked_fill(finite, 0)), at::nan_to_num(b.masked_fill(at::isfinite(b), 0))) ||
      !at::equal(at::isnan(a), at::isnan(b))) {
    return "NaN or infinity stand in other places";
  }
  const at::Tensor zeroed = a.masked_fill(~finite, 0);
  const double largest = zeroed.abs().max().item<double>();
  const double difference = (zeroed - b.masked_fill(~finite, 0)).abs().max().item<double>();
  const double allowed = toleranceOf(expected.scalar_type()) * largest;
  if (difference <= allowed) {
    return std::nullopt;
  }
  std::ostringstream text;
  text << "the largest difference is " << difference << ", allowed is " << allowed << " (largest value " << largest
       << ")";
  return text.str();
}

std::optional<std::string> compareTensors(const at::Tensor& expected, const at::Tensor& got) {
  if (expected.sizes() != got.sizes() || expected.scalar_type() != got.scalar_type()) {
    return c10::str("expected ", expected.scalar_type(), expected.sizes(), ", got ", got.scalar_type(), got.sizes());
  }
  if (expected.numel() == 0) {
    return std::nullopt;
  }
  if (expected.is_floating_point()) {
    return compareFloating(expected, got);
  }
  return at::equal(expected, got) ? std::nullopt : std::optional<std::string>("integer or boolean values differ");
}

std::optional<std::string> compareSequences(c10::ArrayRef<torch::jit::IValue> expected,
                                            c10::ArrayRef<torch::jit::IValue> got) {
  if (expected.size() != got.size()) {
    return "expected " + std::to_string(expected.size()) + " values, got " + std::to_string(got.size());
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (const auto difference = firstDifference(expected[i], got[i])) {
      return "value " + std::to_string(i) + ": " + *difference;
    }
  }
  return std::nullopt;
}

std::optional<std::string> compareDicts(const c10::Dict<torch::jit::IValue, torch::jit::IValue>& expected,
                                        const c10::Dict<torch::jit::IValue, torch::jit::IValue>& got) {
  if (expected.size() != got.size()) {
    return "expected " + std::to_string(expected.size()) + " entries, got " + std::to_string(got.size());
  }
  for (const auto& entry : expected) {
    if (!got.contains(entry.key())) {
      return c10::str("the key ", entry.key(), " is missing");
    }
    if (const auto difference = firstDifference(entry.value(), got.at(entry.key()))) {
      return c10::str("key ", entry.key(), ": ") + *difference;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> firstDifference(const torch::jit::IValue& expected, const torch::jit::IValue& got) {
  if (expected.tagKind() != got.tagKind()) {
    return "expected a " + expected.tagKind() + ", got a " + got.tagKind();
  }
  if (expected.isTensor()) {
    return compareTensors(expected.toTensor(), got.toTensor());
  }
  if (expected.isTuple()) {
    return compareSequences(expected.toTupleRef().elements(), got.toTupleRef().elements());
  }
  if (expected.isList()) {
    return compareSequences(expected.toListRef(), got.toListRef());
  }
  if (expected.isGenericDict()) {
    return compareDicts(expected.toGenericDict(), got.toGenericDict());
  }
  return expected == got ? std::nullopt : std::optional<std::string>("values differ");
}

}  // namespace torchtrt::compiler
