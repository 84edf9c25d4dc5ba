// The kind that multiplies floating matrices with constant weights of 8 or 4 bits.
#pragma once

#include "base/layer_rules/rule.h"

namespace torchtrt::layer_rules {

template <typename D>
class IntegerWeightRules {
 public:
  using Layer = LayerView<D>;
  using Dims = typename Layer::Dims;
  using Types = typename Layer::Types;

  static std::vector<Kind<D>> kinds() {
    return {
        {"integer_weight_matrix_multiply",
         {
             {"rank", "the input has rank 2 or more, weights, scale and offset rank 2", checkRanks},
             {"bits", "bits is 4 or 8", checkBits},
             {"dtype",
              "the input is of float32, float16 or bfloat16, as are bias and residual; weights are int8, or uint8 for "
              "bits=4; scale and offset are float32",
              checkDTypes},
             {"inner", "the input's last dim is the depth of the weights", checkInner},
             {"groups", "scale and offset have a value for each row of the weights and each group_size of its depth",
              checkGroups},
             {"bias", "the bias has one element per row of the weights", checkBias},
             {"residual", "the residual has the output's dims", checkResidual},
             {"activation", kFusedActivation, fusedActivation},
         },
         [](const Layer& layer) {
           return Types{{layer.dtype(0), multiplied(layer)}};
         }},
    };
  }

 private:
  static constexpr int kWeights = 1;  // operands
  static constexpr int kScale = 2;
  static constexpr int kOffset = 3;
  static constexpr int kBias = 4;
  static constexpr int kResidual = 5;

  static int64_t bitsOf(const Layer& layer) {
    return layer.attributes().getInt("bits");
  }
  // Of the weights.
  static D depthOf(const Layer& layer) {
    return layer.dims(kWeights)[1] * D(8 / bitsOf(layer));
  }

  static Problem checkRanks(const Layer& layer) {
    if (layer.rank(0) < 2) {
      return broken(kWrongRank, "rank 2 or more", operandText(layer, 0));
    }
    for (const int operand : {kWeights, kScale, kOffset}) {
      const bool may_be_absent = operand == kOffset;
      if (!layer.has(operand) && !may_be_absent) {
        return broken("weights or scale are missing", "weights and scale", "null");
      }
      if (layer.has(operand) && layer.rank(operand) != 2) {
        return broken(kWrongRank, "rank 2", operandText(layer, operand));
      }
    }
    return {};
  }

  static Problem checkBits(const Layer& layer) {
    const int64_t bits = bitsOf(layer);
    return bits == 4 || bits == 8 ? Problem() : broken(kOutOfRange, "4 or 8 bits", std::to_string(bits) + " bits");
  }

  static Problem checkDTypes(const Layer& layer) {
    const DType dtype = layer.dtype(0);
    if (dtype != DType::kFloat32 && dtype != DType::kFloat16 && dtype != DType::kBFloat16) {
      return broken(kUndefined, "float32, float16 or bfloat16", operandText(layer, 0));
    }
    const DType weights = bitsOf(layer) == 8 ? DType::kInt8 : DType::kUInt8;
    for (const auto& [operand, expected] :
         {std::pair(kWeights, weights), std::pair(kScale, DType::kFloat32), std::pair(kOffset, DType::kFloat32),
          std::pair(kBias, dtype), std::pair(kResidual, dtype)}) {
      if (layer.has(operand) && layer.dtype(operand) != expected) {
        return broken("an operand has a wrong element type", toString(expected), operandText(layer, operand));
      }
    }
    return {};
  }

  static Problem checkInner(const Layer& layer) {
    return layer.unify(layer.dims(0)[layer.rank(0) - 1], depthOf(layer))
               ? Problem()
               : broken(kOtherInner, "an input of " + depthOf(layer).toString() + " columns", operandText(layer, 0));
  }

  static Problem checkGroups(const Layer& layer) {
    const int64_t group_size = layer.attributes().getInt("group_size");
    if (group_size < 1) {
      return broken(kOutOfRange, "a group_size of at least 1", "group_size " + std::to_string(group_size));
    }
    for (const int operand : {kScale, kOffset}) {
      const bool fits = !layer.has(operand) || (layer.unify(layer.dims(operand)[0], layer.dims(kWeights)[0]) &&
                                                layer.unify(layer.dims(operand)[1] * D(group_size), depthOf(layer)));
      if (!fits) {
        return broken("groups of weights do not divide the depth, or scale or offset has not one value for each",
                      "a value for each row and each " + std::to_string(group_size) + " of the depth of " +
                          operandText(layer, kWeights),
                      operandText(layer, operand));
      }
    }
    return {};
  }

  static Problem checkBias(const Layer& layer) {
    return sameDims(layer, kBias, {layer.dims(kWeights)[0]}, "the bias has not one element per row of the weights");
  }

  static Problem checkResidual(const Layer& layer) {
    return sameDims(layer, kResidual, multiplied(layer), kOtherResidual);
  }

  static Dims multiplied(const Layer& layer) {
    Dims dims = layer.dims(0);
    dims[dims.rank() - 1] = layer.dims(kWeights)[0];
    return dims;
  }
};

}  // namespace torchtrt::layer_rules
