// Rules of the elementwise kinds and of matrix multiplication.
#include "base/operations.h"
#include "network/inference/inference.h"
#include "network/rules/checks.h"
#include "network/rules/rules.h"

namespace torchtrt::network {
namespace {

// The dtype of operand 0 is one that the layer's operation takes.
std::string checkOperand(const LayerContext& context, std::span<const Operation> operations) {
  const Operation* const operation = findOperation(operations, context.op());
  if (operation == nullptr || operation->domain == Domain::kFloating) {
    return floatingInput(context);
  }
  if (operation->domain == Domain::kNumeric) {
    return numericInput(context);
  }
  return operation->takes(context.dtype(0)) ? "" : expectedGot("an integer dtype or bool", operandText(context, 0));
}

std::string checkActivation(const LayerContext& context) {
  return isActivation(context.op()) ? "" : expectedGot("an activation of the layer table", "\"" + context.op() + "\"");
}

std::string checkActivationDType(const LayerContext& context) {
  return checkOperand(context, activations());
}

std::string checkBroadcastToInput(const LayerContext& context) {
  return context.broadcastsTo(context.dims(1), context.dims(0))
             ? ""
             : expectedGot("a slope that broadcasts to " + context.dims(0).toString(), operandText(context, 1));
}

std::string checkUnary(const LayerContext& context) {
  return findOperation(unaryOperations(), context.op()) != nullptr
             ? ""
             : expectedGot("a unary operation of the layer table", "\"" + context.op() + "\"");
}

std::string checkUnaryDType(const LayerContext& context) {
  return checkOperand(context, unaryOperations());
}

std::string checkBinary(const LayerContext& context) {
  return findOperation(binaryOperations(), context.op()) != nullptr
             ? ""
             : expectedGot("an elementwise operation of the layer table", "\"" + context.op() + "\"");
}

std::string checkBinaryDType(const LayerContext& context) {
  return checkOperand(context, binaryOperations());
}

std::string checkBroadcast(const LayerContext& context) {
  const std::string problem = context.broadcast(context.dims(0), context.dims(1)).problem;
  return problem.empty() ? "" : expectedGot("operands that broadcast", problem);
}

std::string checkCondition(const LayerContext& context) {
  return context.dtype(0) == DType::kBool ? "" : expectedGot("a bool condition", operandText(context, 0));
}

std::string checkBranches(const LayerContext& context) {
  return context.dtype(1) == context.dtype(2)
             ? ""
             : expectedGot(std::string(toString(context.dtype(1))) + " as operand 1 is", operandText(context, 2));
}

std::string checkSelectBroadcast(const LayerContext& context) {
  const LayerContext::Broadcast branches = context.broadcast(context.dims(1), context.dims(2));
  const std::string problem =
      branches.problem.empty() ? context.broadcast(context.dims(0), branches.dims).problem : branches.problem;
  return problem.empty() ? "" : expectedGot("operands that broadcast", problem);
}

std::string checkMatrixRanks(const LayerContext& context) {
  for (int i = 0; i < 2; ++i) {
    if (context.rank(i) < 2) {
      return expectedGot("operands of rank 2 or more", operandText(context, i));
    }
  }
  return "";
}

std::string checkInner(const LayerContext& context) {
  const Dims& a = context.dims(0);
  const Dims& b = context.dims(1);
  const Dim& inner_a = a[a.rank() - (context.attributes().getBool("transpose_a") ? 2 : 1)];
  const Dim& inner_b = b[b.rank() - (context.attributes().getBool("transpose_b") ? 1 : 2)];
  return context.unify(inner_a, inner_b)
             ? ""
             : expectedGot("equal inner dims", inner_a.toString() + " and " + inner_b.toString() + " of " +
                                                   operandText(context, 0) + " and " + operandText(context, 1));
}

std::string checkBatches(const LayerContext& context) {
  const auto batch = [&](int i) { return Dims(std::vector<Dim>(context.dims(i).begin(), context.dims(i).end() - 2)); };
  const std::string problem = context.broadcast(batch(0), batch(1)).problem;
  return problem.empty() ? "" : expectedGot("leading dims that broadcast", problem);
}

std::string checkMatrixBias(const LayerContext& context) {
  const Dims output = inferMatrixMultiply(context)[0].dims;
  return !context.has(2) || context.broadcastsTo(context.dims(2), output)
             ? ""
             : expectedGot("a bias that broadcasts to " + output.toString(), operandText(context, 2));
}

std::string checkMatrixResidual(const LayerContext& context) {
  return sameDims(context, 3, inferMatrixMultiply(context)[0].dims);
}

}  // namespace

bool isActivation(const std::string& op) {
  return findOperation(activations(), op) != nullptr;
}

std::string knownActivation(const LayerContext& context) {
  const std::string& activation = context.attributes().getString("activation");
  return activation.empty() || isActivation(activation)
             ? ""
             : expectedGot("the name of an activation or nothing", "activation \"" + activation + "\"");
}

std::string fusedActivation(const LayerContext& context) {
  const std::string& activation = context.attributes().getString("activation");
  if (const std::string problem = knownActivation(context); activation.empty() || !problem.empty()) {
    return problem;
  }
  const DType dtype = inferTypes(context)[0].dtype;
  return findOperation(activations(), activation)->takes(dtype)
             ? ""
             : expectedGot("an activation that takes " + std::string(toString(dtype)), "\"" + activation + "\"");
}

Rules activationRules() {
  return {
      {"op", "the operation is one of those above", checkActivation},
      {"dtype", "relu, clip and thresholded_relu take all dtypes but bool, the others floating ones",
       checkActivationDType},
  };
}

Rules parametricReluRules() {
  return {
      {"dtype", "the input is floating", floatingInput},
      {"one-dtype", "both operands have one dtype", oneDType},
      {"broadcast", "the slope broadcasts to the input", checkBroadcastToInput},
  };
}

Rules unaryRules() {
  return {
      {"op", "the operation is one of those above", checkUnary},
      {"dtype",
       "not, sign, isinf, isnan and isfinite take every dtype, bitwise_not integers and bool; abs, neg, square, ceil, "
       "floor, "
       "round and trunc all but bool; the others floating ones",
       checkUnaryDType},
  };
}

Rules elementwiseRules() {
  return {
      {"op", "the operation is one of those above", checkBinary},
      {"one-dtype", "both operands have one dtype", oneDType},
      {"dtype",
       "logical operations, comparisons, sum, prod, max and min take every dtype (sum and max of bool are its or, prod "
       "and min "
       "its and); bitwise ones integers and bool; div and atan2 floating ones; the others all but bool",
       checkBinaryDType},
      {"broadcast", "the operands broadcast", checkBroadcast},
      {"activation", "a fused activation is one of ACTIVATION that takes the output's dtype", fusedActivation},
  };
}

Rules selectRules() {
  return {
      {"condition", "the condition is bool", checkCondition},
      {"one-dtype", "both branches have one dtype", checkBranches},
      {"broadcast", "the operands broadcast", checkSelectBroadcast},
  };
}

Rules matrixMultiplyRules() {
  return {
      {"rank", "both operands have rank 2 or more", checkMatrixRanks},
      {"dtype", "the operands are numeric", numericInput},
      {"one-dtype", "all operands have one dtype", oneDType},
      {"inner", "the inner dims are equal", checkInner},
      {"batch", "the leading dims broadcast", checkBatches},
      {"bias", "the bias broadcasts to the output", checkMatrixBias},
      {"residual", "the residual has the output's dims", checkMatrixResidual},
      {"activation", "a fused activation is one of ACTIVATION that takes the output's dtype", fusedActivation},
  };
}

}  // namespace torchtrt::network
