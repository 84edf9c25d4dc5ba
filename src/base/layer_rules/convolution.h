// Convolution and deconvolution. Convolutions of integers share the rules that do not ask for dtypes.
#pragma once

#include <algorithm>

#include "base/layer_rules/windows.h"

namespace torchtrt::layer_rules {

template <typename D>
class ConvolutionRules {
 public:
  using Layer = LayerView<D>;
  using Dims = typename Layer::Dims;
  using Types = typename Layer::Types;

  static std::vector<Kind<D>> kinds() {
    const char* const bias = "the bias has one element per output channel";
    const Rule<D> numeric = {"dtype", "the input is numeric", numericInput};
    const Rule<D> one_dtype = {"one-dtype", "all operands have one dtype", oneDType};
    const Rule<D> activation = {"activation", kFusedActivation, fusedActivation};
    return {
        {"convolution",
         {
             rank(),
             numeric,
             {"one-dtype",
              "all operands have one dtype; with a scale, bias and scale are of float32, the others of 16 bits",
              checkDTypes},
             window(),
             kernel(),
             groups(),
             channels(),
             {"bias", bias, [](const Layer& layer) { return checkBias(layer, layer.dims(1)[0]); }},
             output(),
             {"residual", "the residual has the output's dims", checkResidual},
             {"scale", "the scale has one element per output channel", checkScale},
             activation,
         },
         convolution},
        {"deconvolution",
         {
             rank(),
             numeric,
             one_dtype,
             {"window",
              "stride, paddings, dilation and output_padding have one entry per spatial dim; stride and dilation >= 1, "
              "paddings >= 0",
              checkWindow},
             kernel(),
             groups(),
             {"channels", "the input has the kernel's first dim as channels", checkDeconvolutionChannels},
             {"bias", bias, [](const Layer& layer) { return checkBias(layer, deconvolvedChannels(layer)); }},
             {"output-padding", "output_padding is below stride or dilation", checkOutputPadding},
             {"output", "the paddings leave at least nothing", checkDeconvolutionOutput},
             activation,
         },
         deconvolution},
    };
  }

  // ---- rules whatever the dtypes are ----

  static Rule<D> rank() {
    return {"rank", "the input has 1 to 3 spatial dims, and the kernel as many", checkRank};
  }
  static Rule<D> window() {
    return {"window",
            "stride, paddings and dilation have one entry per spatial dim; stride and dilation >= 1, paddings >= 0",
            checkWindow};
  }
  static Rule<D> kernel() {
    return {"kernel", "no spatial dim of the kernel is empty", checkKernel};
  }
  static Rule<D> groups() {
    return {"groups", "groups >= 1, and they divide the kernel's first dim", checkGroups};
  }
  static Rule<D> channels() {
    return {"channels", "the input has groups times the kernel's second dim as channels", checkChannels};
  }
  static Rule<D> output() {
    return {"output", "the dilated kernel fits into the padded input", checkOutput};
  }

  static Dims convolvedDims(const Layer& layer) {
    Dims dims = withSpatial(layer.dims(0), layer.rank(0) - 2, [&](const D& input, int i) {
      return convolutionSize(input, windowAt(layer, i, layer.dims(1)[i + 2]));
    });
    dims[1] = layer.dims(1)[0];
    return dims;
  }

 private:
  static constexpr int kBias = 2, kScale = 4;
  static constexpr const char* kOtherChannels = "the kernel's channels are not the input's";

  static Problem checkRank(const Layer& layer) {
    const int rank = layer.rank(0);
    if (rank < 3 || rank > 5) {
      return broken(kNotSpatial, "an input of rank 3 to 5", operandText(layer, 0));
    }
    return layer.rank(1) == rank ? Problem()
                                 : broken("input and kernel differ in rank", "a kernel of rank " + std::to_string(rank),
                                          operandText(layer, 1));
  }

  static Problem checkWindow(const Layer& layer) {
    const auto spatial = static_cast<size_t>(layer.rank(0) - 2);
    Problem problem = checkWindowLists(layer, spatial);
    return !problem && layer.attributes().has("output_padding") ? checkList(layer, "output_padding", spatial, 0)
                                                                : problem;
  }

  static Problem checkDTypes(const Layer& layer) {
    if (!layer.has(kScale)) {
      return oneDType(layer);
    }
    const DType dtype = layer.dtype(0);
    if (dtype != DType::kFloat16 && dtype != DType::kBFloat16) {
      return broken("it has a scale, and its input is not of 16 bits", "float16 or bfloat16", operandText(layer, 0));
    }
    for (int i = 1; i <= kScale; ++i) {
      const bool is_of_channels = i == kBias || i == kScale;
      if (layer.has(i) && layer.dtype(i) != (is_of_channels ? DType::kFloat32 : dtype)) {
        return broken("an operand beside a scale has another element type",
                      toString(is_of_channels ? DType::kFloat32 : dtype), operandText(layer, i));
      }
    }
    return {};
  }

  static Problem checkKernel(const Layer& layer) {
    for (int i = 2; i < layer.rank(1); ++i) {
      if (layer.most(layer.dims(1)[i]) < 1) {
        return broken("the kernel is empty", "a kernel with elements", operandText(layer, 1));
      }
    }
    return {};
  }

  // The kernel's first dim is split over the groups: output channels of a convolution, input channels of a
  // deconvolution.
  static Problem checkGroups(const Layer& layer) {
    const int64_t groups = layer.attributes().getInt("groups");
    if (groups < 1) {
      return broken(kUndividedChannels, "at least one group", std::to_string(groups));
    }
    return layer.unify(D::mod(layer.dims(1)[0], groups), D(0))
               ? Problem()
               : broken(kUndividedChannels,
                        "a multiple of " + std::to_string(groups) + " groups in the kernel's first dim",
                        operandText(layer, 1));
  }

  static Problem checkChannels(const Layer& layer) {
    const D channels = layer.dims(1)[1] * D(layer.attributes().getInt("groups"));
    return layer.unify(layer.dims(0)[1], channels)
               ? Problem()
               : broken(kOtherChannels, channels.toString() + " input channels", operandText(layer, 0));
  }

  static Problem checkOutput(const Layer& layer) {
    return checkOutputSize(layer, convolvedDims(layer), layer.rank(0) - 2, 1, kWindowTooLarge);
  }

  static D deconvolvedChannels(const Layer& layer) {
    return layer.dims(1)[1] * D(layer.attributes().getInt("groups"));
  }

  static Problem checkDeconvolutionChannels(const Layer& layer) {
    if (std::max(layer.least(layer.dims(1)[1]), layer.attributes().getInt("groups")) > kMostEntry) {
      return broken("it has too many channels", "at most " + std::to_string(kMostEntry) + " groups and channels of one",
                    operandText(layer, 1));
    }
    return layer.unify(layer.dims(0)[1], layer.dims(1)[0])
               ? Problem()
               : broken(kOtherChannels, layer.dims(1)[0].toString() + " input channels", operandText(layer, 0));
  }

  static Problem checkBias(const Layer& layer, const D& channels) {
    return sameDims(layer, 2, {channels}, "the bias has not one entry per channel");
  }

  static Problem checkOutputPadding(const Layer& layer) {
    const std::vector<int64_t>& padding = layer.ints("output_padding");
    for (size_t i = 0; i < padding.size(); ++i) {
      if (padding[i] >= std::max(layer.ints("stride")[i], layer.ints("dilation")[i])) {
        return broken(kOutOfRange, "output_padding below stride or dilation", textOf(padding));
      }
    }
    return {};
  }

  static Dims deconvolvedDims(const Layer& layer) {
    Dims dims = withSpatial(layer.dims(0), layer.rank(0) - 2, [&](const D& input, int i) {
      return deconvolutionSize(input, windowAt(layer, i, layer.dims(1)[i + 2]),
                               layer.ints("output_padding")[static_cast<size_t>(i)]);
    });
    dims[1] = deconvolvedChannels(layer);
    return dims;
  }

  static Problem checkDeconvolutionOutput(const Layer& layer) {
    return checkOutputSize(layer, deconvolvedDims(layer), layer.rank(0) - 2, 0, kImpossibleSize);
  }

  static Problem checkResidual(const Layer& layer) {
    return sameDims(layer, 3, convolvedDims(layer), kOtherResidual);
  }

  static Problem checkScale(const Layer& layer) {
    return sameDims(layer, kScale, {layer.dims(1)[0]}, "the scale has not one entry per channel");
  }

  static Types convolution(const Layer& layer) {
    return {{layer.dtype(0), convolvedDims(layer)}};
  }

  static Types deconvolution(const Layer& layer) {
    return {{layer.dtype(0), deconvolvedDims(layer)}};
  }
};

}  // namespace torchtrt::layer_rules
