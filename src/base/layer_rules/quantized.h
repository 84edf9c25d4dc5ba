// Kinds that make steps of int8 or uint8, read them and multiply them.
#pragma once

#include "base/layer_rules/convolution.h"
#include "base/steps.h"

namespace torchtrt::layer_rules {

template <typename D>
class QuantizedRules {
 public:
  using Layer = LayerView<D>;
  using Dims = typename Layer::Dims;
  using Types = typename Layer::Types;
  using Convolution = ConvolutionRules<D>;

  static std::vector<Kind<D>> kinds() {
    const Rule<D> scale = {"scale", "the scale is a normal float32 above zero",
                           [](const Layer& layer) { return checkScale(layer, "scale"); }};
    const Rule<D> zero_point = {"zero-point", "the zero point is a value of the input's dtype",
                                [](const Layer& layer) { return checkStep(layer, "zero_point", layer.dtype(0)); }};
    const Rule<D> product_dtypes = {
        "dtype",
        "the input is of int8 or uint8, the second operand of int8, scale and bias of float32, the residual of "
        "float32, int8 or uint8",
        checkProductDTypes};
    const char* const vectors = "scale and bias have one element per output channel";
    const char* const sums = "an output sums at most 65793 products, so that int32 holds the sum";
    const char* const residual = "the residual has the output's dims";
    const Rule<D> residual_steps = {"residual-steps",
                                    "residual_scale is a normal float32 above zero, residual_zero_point a value of the "
                                    "dtype of a residual of steps",
                                    checkResidualSteps};
    const Rule<D> output_steps = {"output-steps",
                                  "`to` is float32, or int8 or uint8: then output_scale is a normal float32 above "
                                  "zero, output_zero_point, low and high are values of it, and low is at most high",
                                  checkOutputSteps};
    const Rule<D> activation = {"activation", "a fused activation is one of ACTIVATION", knownActivation};
    return {
        {"quantize",
         {
             {"dtype", "the input is of float32", checkFloat32},
             {"to", "`to` is int8 or uint8", checkMadeSteps},
             scale,
             {"zero-point", "the zero point is a value of `to`",
              [](const Layer& layer) { return checkStep(layer, "zero_point", madeDType(layer)); }},
             {"limits", "low and high are values of `to`, and low is at most high", checkLimits},
         },
         [](const Layer& layer) {
           return Types{{madeDType(layer), layer.dims(0)}};
         }},
        {"dequantize",
         {
             {"dtype", "the input is of int8 or uint8", checkSteps},
             scale,
             zero_point,
         },
         [](const Layer& layer) {
           return Types{{DType::kFloat32, layer.dims(0)}};
         }},
        {"quantized_convolution",
         {
             Convolution::rank(),
             product_dtypes,
             Convolution::window(),
             Convolution::kernel(),
             Convolution::groups(),
             Convolution::channels(),
             {"vectors", vectors, [](const Layer& layer) { return checkVectors(layer, layer.dims(1)[0]); }},
             {"sums", sums, checkConvolutionSums},
             Convolution::output(),
             {"residual", residual,
              [](const Layer& layer) { return sameDims(layer, kResidual, convolvedDims(layer), kOtherResidual); }},
             zero_point,
             residual_steps,
             output_steps,
             activation,
         },
         [](const Layer& layer) {
           return Types{{madeDType(layer), convolvedDims(layer)}};
         }},
        {"quantized_matrix_multiply",
         {
             {"rank", "the input has rank 2 or more, the second operand rank 2", checkMatrixRanks},
             product_dtypes,
             {"inner", "the inner dims are equal", checkInner},
             {"vectors", vectors, [](const Layer& layer) { return checkVectors(layer, layer.dims(1)[1]); }},
             {"sums", sums, [](const Layer& layer) { return checkSums(layer, layer.dims(1)[0]); }},
             {"residual", residual,
              [](const Layer& layer) { return sameDims(layer, kResidual, multiplied(layer), kOtherResidual); }},
             zero_point,
             residual_steps,
             output_steps,
             activation,
         },
         [](const Layer& layer) {
           return Types{{madeDType(layer), multiplied(layer)}};
         }},
    };
  }

 private:
  static constexpr int kScale = 2;  // operands of the products
  static constexpr int kBias = 3;
  static constexpr int kResidual = 4;
  static constexpr const char* kNotMade = "it makes neither int8 nor uint8";
  static constexpr const char* kNotSteps = "a quantized operand is not int8 or uint8";

  static bool isFloat32(const Layer& layer, int operand) {
    return layer.dtype(operand) == DType::kFloat32;
  }

  static DType madeDType(const Layer& layer) {
    return layer.attributes().getDType("to");
  }

  static Problem checkFloat32(const Layer& layer) {
    return isFloat32(layer, 0) ? Problem() : broken("its input is not float32", "float32", operandText(layer, 0));
  }

  static Problem checkSteps(const Layer& layer) {
    return isSteps(layer.dtype(0)) ? Problem() : broken(kNotSteps, "int8 or uint8", operandText(layer, 0));
  }

  static Problem checkScale(const Layer& layer, const char* name) {
    const double scale = layer.attributes().getDouble(name);
    return isStepScale(scale) ? Problem()
                              : broken("a scale is not a normal float32 above zero", "a normal float32 above zero",
                                       name + (" " + std::to_string(scale)));
  }

  static Problem checkStep(const Layer& layer, const char* name, DType dtype) {
    const int64_t step = layer.attributes().getInt(name);
    return isStepOf(dtype, step)
               ? Problem()
               : broken("a zero point or limit is out of range", toString(dtype), name + (" " + std::to_string(step)));
  }

  static Problem checkMadeSteps(const Layer& layer) {
    const DType to = madeDType(layer);
    return isSteps(to) ? Problem() : broken(kNotMade, "int8 or uint8", std::string("to ") + toString(to));
  }

  // low and high are values of the dtype that is made.
  static Problem checkLimits(const Layer& layer) {
    for (const char* name : {"low", "high"}) {
      if (Problem problem = checkStep(layer, name, madeDType(layer))) {
        return problem;
      }
    }
    const int64_t low = layer.attributes().getInt("low");
    const int64_t high = layer.attributes().getInt("high");
    return low <= high ? Problem()
                       : broken("its limits are upside down", "low up to high",
                                std::to_string(low) + " and " + std::to_string(high));
  }

  // ---- products ----

  static Problem checkProductDTypes(const Layer& layer) {
    if (Problem problem = checkSteps(layer)) {
      return problem;
    }
    if (layer.dtype(1) != DType::kInt8) {
      return broken("its second operand is not int8", "int8", operandText(layer, 1));
    }
    if (!layer.has(kScale)) {
      return broken("the scale is missing", "a scale", "null");
    }
    for (const int operand : {kScale, kBias}) {
      if (layer.has(operand) && !isFloat32(layer, operand)) {
        return broken(kNotPerChannel, "float32", operandText(layer, operand));
      }
    }
    const bool holds = !layer.has(kResidual) || isFloat32(layer, kResidual) || isSteps(layer.dtype(kResidual));
    return holds ? Problem() : broken(kNotSteps, "float32, int8 or uint8", operandText(layer, kResidual));
  }

  static constexpr const char* kNotPerChannel = "scale or bias has not one float32 per channel";

  static Problem checkVectors(const Layer& layer, const D& channels) {
    const Problem problem = sameDims(layer, kScale, {channels}, kNotPerChannel);
    return problem ? problem : sameDims(layer, kBias, {channels}, kNotPerChannel);
  }

  static Problem checkSums(const Layer& layer, const D& products) {
    return layer.least(products) <= kMostStepProducts
               ? Problem()
               : broken("its sums are too long for int32",
                        "sums of at most " + std::to_string(kMostStepProducts) + " products", products.toString());
  }

  static Problem checkResidualSteps(const Layer& layer) {
    if (Problem problem = checkScale(layer, "residual_scale")) {
      return problem;
    }
    const bool has_steps = layer.has(kResidual) && isSteps(layer.dtype(kResidual));
    return has_steps ? checkStep(layer, "residual_zero_point", layer.dtype(kResidual)) : Problem();
  }

  static Problem checkOutputSteps(const Layer& layer) {
    const DType to = madeDType(layer);
    if (to == DType::kFloat32) {
      return {};
    }
    if (!isSteps(to)) {
      return broken(kNotMade, "float32, int8 or uint8", std::string("to ") + toString(to));
    }
    if (Problem problem = checkScale(layer, "output_scale")) {
      return problem;
    }
    const Problem problem = checkStep(layer, "output_zero_point", to);
    return problem ? problem : checkLimits(layer);
  }

  static Problem checkConvolutionSums(const Layer& layer) {
    D products = 1;
    for (int i = 1; i < layer.rank(1); ++i) {
      products = products * layer.dims(1)[i];
    }
    return checkSums(layer, products);
  }

  static Dims convolvedDims(const Layer& layer) {
    return Convolution::convolvedDims(layer);
  }

  static Problem checkMatrixRanks(const Layer& layer) {
    if (layer.rank(0) < 2) {
      return broken(kWrongRank, "rank 2 or more", operandText(layer, 0));
    }
    return layer.rank(1) == 2 ? Problem() : broken(kWrongRank, "rank 2", operandText(layer, 1));
  }

  static Problem checkInner(const Layer& layer) {
    return layer.unify(layer.dims(0)[layer.rank(0) - 1], layer.dims(1)[0])
               ? Problem()
               : broken(kOtherInner, "equal inner dims", operandText(layer, 0) + " and " + operandText(layer, 1));
  }

  static Dims multiplied(const Layer& layer) {
    Dims dims = layer.dims(0);
    dims[dims.rank() - 1] = layer.dims(1)[1];
    return dims;
  }
};

}  // namespace torchtrt::layer_rules
