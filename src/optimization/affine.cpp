#include "optimization/affine.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kernels/scalar/half.h"

namespace torchtrt::optimization {

using namespace rewriting;

namespace {

bool allFinite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

template <typename T>
std::vector<double> widened(const T* values, size_t count) {
  std::vector<double> wide;
  std::transform(values, values + count, std::back_inserter(wide), [](T value) { return kernels::toFloat(value); });
  return wide;
}

std::optional<std::vector<double>> toDoubles(const Weights& weights) {
  const size_t count = weights.count();
  switch (weights.dtype) {
    case DType::kFloat16:
      return widened(weights.as<kernels::Float16>(), count);
    case DType::kBFloat16:
      return widened(weights.as<kernels::BFloat16>(), count);
    case DType::kFloat32:
      return std::vector<double>(weights.as<float>(), weights.as<float>() + count);
    case DType::kFloat64:
      return std::vector<double>(weights.as<double>(), weights.as<double>() + count);
    default:
      return std::nullopt;
  }
}

std::optional<AffineLayer> elementwiseAffine(const Layer& layer, int axis) {
  const std::string& op = layer.attributes().getString("op");
  const bool commutes = op == "sum" || op == "prod";
  if (!commutes && op != "sub" && op != "div") {
    return std::nullopt;
  }
  const int constant = commutes && layer.getInput(0)->constant() ? 0 : 1;
  Tensor* input = layer.getInput(1 - constant);
  const Dims& dims = layer.getOutput(0)->getDimensions();
  if (axis < 0 || axis >= dims.rank() || !(input->getDimensions() == dims)) {
    return std::nullopt;
  }
  auto values = channelValues(layer.getInput(constant), dims, axis);
  if (!values) {
    return std::nullopt;
  }
  Affine affine{std::vector<double>(values->size(), 1.0), std::vector<double>(values->size(), 0.0)};
  for (size_t i = 0; i < values->size(); ++i) {
    const double value = (*values)[i];
    if (op == "prod") {
      affine.scale[i] = value;
    } else if (op == "div") {
      affine.scale[i] = 1.0 / value;
    } else {
      affine.shift[i] = op == "sum" ? value : -value;
    }
  }
  return AffineLayer{input, std::move(affine)};
}

std::optional<AffineLayer> normalizationAffine(const Layer& layer, int axis) {
  if (axis != 1 || layer.attributes().getString("mode") != "batch") {
    return std::nullopt;
  }
  Tensor* input = layer.getInput(0);
  const Dims& dims = input->getDimensions();
  const auto channels = dims.rank() > 1 ? dims[1].asConstant() : std::nullopt;
  if (!channels) {
    return std::nullopt;
  }
  const auto operand = [&](int index, double fallback) -> std::optional<std::vector<double>> {
    const Tensor* tensor = layer.getInput(index);
    if (!tensor) {
      return std::vector<double>(static_cast<size_t>(*channels), fallback);
    }
    return tensor->constant() ? toDoubles(*tensor->constant()) : std::nullopt;
  };
  const auto scale = operand(1, 1.0), bias = operand(2, 0.0), mean = operand(3, 0.0), variance = operand(4, 1.0);
  if (!scale || !bias || !mean || !variance) {
    return std::nullopt;
  }
  const double eps = layer.attributes().getDouble("eps");
  Affine affine;
  for (size_t i = 0; i < static_cast<size_t>(*channels); ++i) {
    affine.scale.push_back((*scale)[i] / std::sqrt((*variance)[i] + eps));
    affine.shift.push_back((*bias)[i] - (*mean)[i] * affine.scale[i]);
  }
  return AffineLayer{input, std::move(affine)};
}

}  // namespace

bool Affine::hasScale() const {
  return std::any_of(scale.begin(), scale.end(), [](double value) { return value != 1.0; });
}

bool Affine::hasShift() const {
  return std::any_of(shift.begin(), shift.end(), [](double value) { return value != 0.0; });
}

std::optional<std::vector<double>> channelValues(const Tensor* constant, const Dims& dims, int axis) {
  const auto channels = dims[axis].asConstant();
  if (!constant || !constant->constant() || !channels || constant->rank() > dims.rank()) {
    return std::nullopt;
  }
  const Weights& weights = *constant->constant();
  const int missing = dims.rank() - constant->rank();  // NumPy rules align at the last axis
  for (int i = 0; i < constant->rank(); ++i) {
    const int64_t size = weights.dims[static_cast<size_t>(i)];
    if (size != 1 && (i + missing != axis || size != *channels)) {
      return std::nullopt;
    }
  }
  auto values = toDoubles(weights);
  if (values && values->size() == 1) {
    values->resize(static_cast<size_t>(*channels), values->front());
  }
  return values;
}

std::optional<AffineLayer> asAffine(const Layer& layer, int axis) {
  std::optional<AffineLayer> found;
  if (layer.getType() == LayerType::kELEMENTWISE) {
    found = elementwiseAffine(layer, axis);
  } else if (layer.getType() == LayerType::kNORMALIZATION) {
    found = normalizationAffine(layer, axis);
  }
  if (found && !(allFinite(found->affine.scale) && allFinite(found->affine.shift))) {
    return std::nullopt;
  }
  return found;
}

void copyActivation(Rewriter& rewriter, const Layer& from, Layer& to) {
  const std::string activation = from.attributes().getString("activation", "");
  if (!activation.empty()) {
    rewriter.setAttribute(to, "activation", activation);
    rewriter.setAttribute(to, "activation_alpha", from.attributes().getDouble("activation_alpha", 0.0));
    rewriter.setAttribute(to, "activation_beta", from.attributes().getDouble("activation_beta", 0.0));
  }
}

}  // namespace torchtrt::optimization
