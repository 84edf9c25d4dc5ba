// Kinds whose outputs depend on the elements at the same place, and fill, which has no operands.
#pragma once

#include "base/layer_rules/rule.h"

namespace torchtrt::layer_rules {

template <typename D>
class PointwiseRules {
 public:
  using Layer = LayerView<D>;
  using Types = typename Layer::Types;

  static std::vector<Kind<D>> kinds() {
    const Rule<D> one_dtype = {"one-dtype", "both operands have one dtype", oneDType};
    const char* const known = "the operation is one of those above";
    return {
        {"activation",
         {
             {"op", known,
              [](const Layer& layer) { return checkOp(layer, activations(), "an activation of the layer table"); }},
             {"dtype", "relu, clip and thresholded_relu take all dtypes but bool, the others floating ones",
              [](const Layer& layer) { return checkOperand(layer, activations()); }},
         },
         sameAsInput},
        {"parametric_relu",
         {
             {"dtype", "the input is floating", floatingInput},
             one_dtype,
             {"broadcast", "the slope broadcasts to the input",
              [](const Layer& layer) { return broadcastsTo(layer, 1, layer.dims(0), "a slope that broadcasts to "); }},
         },
         sameAsInput},
        {"unary",
         {
             {"op", known,
              [](const Layer& layer) {
                return checkOp(layer, unaryOperations(), "a unary operation of the layer table");
              }},
             {"dtype",
              "not, sign, isinf, isnan and isfinite take every dtype, bitwise_not integers and bool; abs, neg, square, "
              "ceil, floor, round and trunc all but bool; the others floating ones",
              [](const Layer& layer) { return checkOperand(layer, unaryOperations()); }},
         },
         [](const Layer& layer) {
           return Types{{resultOf(layer, unaryOperations()), layer.dims(0)}};
         }},
        {"elementwise",
         {
             {"op", known,
              [](const Layer& layer) {
                return checkOp(layer, binaryOperations(), "an elementwise operation of the layer table");
              }},
             one_dtype,
             {"dtype",
              "logical operations, comparisons, sum, prod, max and min take every dtype (sum and max of bool are its "
              "or, prod and min its and); bitwise ones integers and bool; div and atan2 floating ones; the others all "
              "but bool",
              [](const Layer& layer) { return checkOperand(layer, binaryOperations()); }},
             {"broadcast", "the operands broadcast", checkBroadcast},
             {"activation", kFusedActivation,
              [](const Layer& layer) { return fusedActivationOf(layer, resultOf(layer, binaryOperations())); }},
         },
         elementwise},
        {"select",
         {
             {"condition", "the condition is bool", checkCondition},
             {"one-dtype", "both branches have one dtype", [](const Layer& layer) { return oneDTypeFrom(layer, 1); }},
             {"broadcast", "the operands broadcast", checkSelectBroadcast},
         },
         [](const Layer& layer) {
           return Types{{layer.dtype(1), selected(layer).dims}};
         }},
        {"cast",
         {},
         [](const Layer& layer) {
           return Types{{layer.attributes().getDType("to"), layer.dims(0)}};
         }},
        {"identity", {}, sameAsInput},
        {"reformat", {}, sameAsInput},
        {"fill",
         {
             {"dims", "no dim is negative", [](const Layer& layer) { return notNegative(layer, "dims"); }},
             {"arange", "arange has one dim and a numeric dtype", checkRange},
         },
         [](const Layer& layer) {
           return Types{{layer.attributes().getDType("dtype"), layer.dimsOf("dims")}};
         }},
    };
  }

 private:
  using Broadcast = typename Layer::Broadcast;

  static constexpr const char* kBroadcasting = "operands that broadcast";

  static Problem checkOp(const Layer& layer, std::span<const Operation> operations, const char* expected) {
    return findOperation(operations, layer.op()) != nullptr
               ? Problem()
               : unknownWord("operation", layer.op(), expected, quoted(layer.op()));
  }

  // The dtype of operand 0 is one that the layer's operation takes.
  static Problem checkOperand(const Layer& layer, std::span<const Operation> operations) {
    const Operation& operation = *findOperation(operations, layer.op());
    if (operation.domain == Domain::kFloating) {
      return floatingInput(layer);
    }
    if (operation.domain == Domain::kNumeric) {
      return numericInput(layer);
    }
    return operation.takes(layer.dtype(0)) ? Problem()
                                           : broken(kUndefined, "an integer dtype or bool", operandText(layer, 0));
  }

  static DType resultOf(const Layer& layer, std::span<const Operation> operations) {
    return findOperation(operations, layer.op())->gives_bool ? DType::kBool : layer.dtype(0);
  }

  static Problem checkBroadcast(const Layer& layer) {
    return broadcasts(layer.broadcast(layer.dims(0), layer.dims(1)), kBroadcasting);
  }

  static Types elementwise(const Layer& layer) {
    return {{resultOf(layer, binaryOperations()), layer.broadcast(layer.dims(0), layer.dims(1)).dims}};
  }

  static Problem checkCondition(const Layer& layer) {
    return layer.dtype(0) == DType::kBool
               ? Problem()
               : broken("its condition is not bool", "a bool condition", operandText(layer, 0));
  }

  static Broadcast selected(const Layer& layer) {
    const Broadcast branches = layer.broadcast(layer.dims(1), layer.dims(2));
    return branches.problem.empty() ? layer.broadcast(layer.dims(0), branches.dims) : branches;
  }

  static Problem checkSelectBroadcast(const Layer& layer) {
    return broadcasts(selected(layer), kBroadcasting);
  }

  static Problem checkRange(const Layer& layer) {
    if (layer.op() != "arange") {
      return {};
    }
    const auto& dims = layer.dimsOf("dims");
    if (dims.rank() != 1) {
      return broken("a range has not one dimension", "one dim for arange", dims.toString());
    }
    return layer.attributes().getDType("dtype") != DType::kBool
               ? Problem()
               : broken("a range has no numbers", "a numeric dtype for arange", "bool");
  }
};

}  // namespace torchtrt::layer_rules
