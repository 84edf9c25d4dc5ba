#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/scalar/half.h"
#include "kernels/scale.h"
#include "optimization/affine.h"

namespace torchtrt::optimization {

using namespace rewriting;

namespace {

// The kernel seen as [d0, d1, inner]: how each element's output and input channel follow from the first two indices.
class KernelShape {
 public:
  explicit KernelShape(const WeightedLayer& weighted) : type_(weighted.layer->getType()) {
    const Weights& kernel = *weighted.kernel;
    d0_ = kernel.dims[0];
    d1_ = kernel.dims[1];
    inner_ = d0_ * d1_ == 0 ? 0 : static_cast<int64_t>(kernel.count()) / (d0_ * d1_);
    transposed_ = type_ == LayerType::kMATRIX_MULTIPLY && weighted.layer->attributes().getBool("transpose_b", false);
    const int64_t groups = type_ == LayerType::kMATRIX_MULTIPLY ? 1 : weighted.layer->attributes().getInt("groups", 1);
    d0_per_group_ = d0_ / groups;
  }

  // visit(output channel, input channel, first element, number of elements)
  template <typename Visit>
  void forEach(Visit&& visit) const {
    for (int64_t i = 0; i < d0_; ++i) {
      const int64_t group = d0_per_group_ == 0 ? 0 : i / d0_per_group_;
      for (int64_t j = 0; j < d1_; ++j) {
        const int64_t grouped_j = group * d1_ + j;
        const bool output_first = type_ == LayerType::kCONVOLUTION || transposed_;
        visit(output_first ? i : grouped_j, output_first ? grouped_j : i, (i * d1_ + j) * inner_, inner_);
      }
    }
  }

 private:
  LayerType type_;
  int64_t d0_, d1_, inner_, d0_per_group_;
  bool transposed_;
};

double toDouble(double value) {
  return value;
}
double toDouble(kernels::Float16 value) {
  return kernels::toFloat(value);
}

// The nearest number of the type.
template <typename T>
T rounded(double value) {
  return static_cast<T>(value);
}
template <>
kernels::Float16 rounded(double value) {
  return kernels::toFloat16(static_cast<float>(value));
}

// visit(a number of the type that elements have); weights of bfloat16 absorb nothing
template <typename Visit>
auto withElementOf(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::kFloat16:
      return visit(kernels::Float16());
    case DType::kFloat64:
      return visit(0.0);
    default:
      return visit(0.0F);
  }
}

// Below so much, weights in float16 are so few steps apart that rounding them once more would show.
constexpr double kLeastOfFloat16 = 0x1p-14;

// kernel[e] * factor(output channel, input channel); nothing if a finite weight becomes an infinite one, or if all
// weights of a channel become too small for float16.
template <typename T, typename Factor>
std::optional<Weights> scaledKernel(const WeightedLayer& weighted, Factor&& factor) {
  void* memory = nullptr;
  Weights scaled = Weights::allocate(weighted.kernel->dtype, weighted.kernel->dims, &memory);
  const T* from = weighted.kernel->as<T>();
  T* to = static_cast<T*>(memory);
  bool finite = true;
  std::vector<double> greatest(static_cast<size_t>(weighted.outputs), 0.0);  // of each output channel
  KernelShape(weighted).forEach([&](int64_t output, int64_t input, int64_t first, int64_t count) {
    const double by = factor(output, input);
    double& most = greatest[static_cast<size_t>(output)];
    for (int64_t e = first; e < first + count; ++e) {
      const double exact = toDouble(from[e]) * by;
      to[e] = rounded<T>(exact);
      finite = finite && (std::isfinite(toDouble(to[e])) || !std::isfinite(toDouble(from[e])));
      most = std::max(most, std::abs(exact));
    }
  });
  const bool is_precise =
      !std::is_same_v<T, kernels::Float16> ||
      std::all_of(greatest.begin(), greatest.end(), [](double most) { return most == 0 || most >= kLeastOfFloat16; });
  return finite && is_precise ? std::optional(scaled) : std::nullopt;
}

template <typename Factor>
std::optional<Weights> scaledKernelOf(const WeightedLayer& weighted, Factor&& factor) {
  return withElementOf(weighted.kernel->dtype,
                       [&](auto element) { return scaledKernel<decltype(element)>(weighted, factor); });
}

std::optional<Weights> vectorWeights(DType dtype, const std::vector<double>& values) {
  return withElementOf(dtype, [&](auto element) -> std::optional<Weights> {
    using T = decltype(element);
    void* memory = nullptr;
    Weights weights = Weights::allocate(dtype, {static_cast<int64_t>(values.size())}, &memory);
    for (size_t i = 0; i < values.size(); ++i) {
      const T stored = static_cast<T*>(memory)[i] = rounded<T>(values[i]);
      if (!std::isfinite(toDouble(stored))) {
        return std::nullopt;
      }
    }
    return weights;
  });
}

// A copy of the layer with kernel * factor (if the affine scales) and the given bias (if there is any). Null, and no
// edit, if one of them is not finite.
template <typename Factor>
Layer* createFolded(Rewriter& rewriter, const WeightedLayer& weighted, Tensor* input, const Affine& affine,
                    const Factor& factor, const std::vector<double>& bias) {
  const auto kernel = affine.hasScale() ? scaledKernelOf(weighted, factor) : *weighted.kernel;
  if (!kernel) {
    return nullptr;
  }
  WeightedLayer folded = weighted;
  folded.bias = bias;
  folded.has_bias = weighted.has_bias || affine.hasShift();
  return createWithWeights(rewriter, folded, *input, affine.hasScale() ? &*kernel : nullptr);
}

// Output channel k's sum over the kernel of weight * shift[input channel].
template <typename T>
std::vector<double> shiftThroughKernel(const WeightedLayer& weighted, const std::vector<double>& shift) {
  std::vector<double> sums(static_cast<size_t>(weighted.outputs), 0.0);
  const T* kernel = weighted.kernel->as<T>();
  KernelShape(weighted).forEach([&](int64_t output, int64_t input, int64_t first, int64_t count) {
    double weight = 0;
    for (int64_t e = first; e < first + count; ++e) {
      weight += static_cast<double>(kernel[e]);
    }
    sums[static_cast<size_t>(output)] += weight * shift[static_cast<size_t>(input)];
  });
  return sums;
}

bool readBias(WeightedLayer& weighted) {
  const Tensor* bias = weighted.layer->getInput(2);
  weighted.has_bias = bias != nullptr;
  if (!bias) {
    weighted.bias.assign(static_cast<size_t>(weighted.outputs), 0.0);
    return true;
  }
  if (!bias->constant()) {
    return false;
  }
  std::optional<std::vector<double>> values;
  if (weighted.layer->getType() == LayerType::kMATRIX_MULTIPLY) {
    values = channelValues(bias, weighted.layer->getOutput(0)->getDimensions(), weighted.output_axis);
  } else {
    values = channelValues(bias, Dims({Dim(weighted.outputs)}), 0);
  }
  if (values) {
    weighted.bias = std::move(*values);
  }
  return values.has_value();
}

}  // namespace

std::optional<WeightedLayer> asWeighted(const Layer& layer, bool takes_float16) {
  const LayerType type = layer.getType();
  const bool is_matmul = type == LayerType::kMATRIX_MULTIPLY;
  if (!is_matmul && type != LayerType::kCONVOLUTION && type != LayerType::kDECONVOLUTION) {
    return std::nullopt;
  }
  const Weights* kernel =
      layer.getInput(kernels::kScale) ? nullptr : layer.getInput(1)->constant();  // a scale stays beside it
  if (!kernel || !(kernel->dtype == DType::kFloat32 || kernel->dtype == DType::kFloat64 ||
                   (kernel->dtype == DType::kFloat16 && takes_float16))) {
    return std::nullopt;
  }
  if (is_matmul && (kernel->dims.size() != 2 || layer.attributes().getBool("transpose_a", false))) {
    return std::nullopt;
  }
  WeightedLayer weighted{&layer, kernel, {}, false, 0, 0, 1, 1};
  if (is_matmul) {
    const bool transposed = layer.attributes().getBool("transpose_b", false);
    weighted.inputs = kernel->dims[transposed ? 1 : 0];
    weighted.outputs = kernel->dims[transposed ? 0 : 1];
    weighted.input_axis = weighted.output_axis = layer.getOutput(0)->rank() - 1;
  } else {
    const int64_t groups = layer.attributes().getInt("groups", 1);
    const bool forward = type == LayerType::kCONVOLUTION;
    weighted.inputs = forward ? kernel->dims[1] * groups : kernel->dims[0];
    weighted.outputs = forward ? kernel->dims[0] : kernel->dims[1] * groups;
  }
  if (!readBias(weighted)) {
    return std::nullopt;
  }
  return weighted;
}

std::optional<WeightedLayer> asAbsorbing(const Tensor* tensor, bool takes_float16) {
  const Layer* layer = tensor->producer();
  if (!layer || m::countUses(*tensor) != 1 || layer->getInput(3) ||
      !layer->attributes().getString("activation", "").empty()) {
    return std::nullopt;
  }
  return asWeighted(*layer, takes_float16);
}

Layer* createWithWeights(Rewriter& rewriter, const WeightedLayer& weighted, Tensor& input, const Weights* kernel) {
  const auto bias = vectorWeights(weighted.kernel->dtype, weighted.bias);
  if (!bias) {
    return nullptr;
  }
  const Layer& layer = *weighted.layer;
  std::vector<Tensor*> inputs = {&input, kernel ? &rewriter.createConstant(*kernel) : layer.getInput(1),
                                 weighted.has_bias ? &rewriter.createConstant(*bias) : nullptr};
  if (Tensor* residual = layer.getInput(3)) {
    inputs.push_back(residual);
  } else if (!weighted.has_bias) {
    inputs.pop_back();
  }
  return &rewriter.create(layer.getType(), inputs, layer.attributes());
}

Layer* createWithOutputAffine(Rewriter& rewriter, const WeightedLayer& weighted, const Affine& affine) {
  std::vector<double> bias = weighted.bias;
  for (size_t i = 0; i < bias.size(); ++i) {
    bias[i] = bias[i] * affine.scale[i] + affine.shift[i];
  }
  const auto factor = [&](int64_t output, int64_t) { return affine.scale[static_cast<size_t>(output)]; };
  return createFolded(rewriter, weighted, weighted.layer->getInput(0), affine, factor, bias);
}

Layer* createWithInputAffine(Rewriter& rewriter, const WeightedLayer& weighted, const Affine& affine, Tensor& input) {
  std::vector<double> bias = weighted.bias;
  if (affine.hasShift()) {
    const bool is_single = weighted.kernel->dtype == DType::kFloat32;
    const std::vector<double> sums = is_single ? shiftThroughKernel<float>(weighted, affine.shift)
                                               : shiftThroughKernel<double>(weighted, affine.shift);
    for (size_t i = 0; i < bias.size(); ++i) {
      bias[i] += sums[i];
    }
  }
  const auto factor = [&](int64_t, int64_t in) { return affine.scale[static_cast<size_t>(in)]; };
  return createFolded(rewriter, weighted, &input, affine, factor, bias);
}

}  // namespace torchtrt::optimization
