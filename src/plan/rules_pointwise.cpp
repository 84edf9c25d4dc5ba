// Families whose outputs depend on the elements at the same place: activation, unary, elementwise, select, cast and
// their like.
#include "base/operations.h"
#include "plan/step_checker.h"

namespace torchtrt::plan {

namespace {

void checkActivation(const StepChecker& step) {
  step.requirePresent(1);
  step.requireOperation("op", activations());
  step.requireOutput(0, step.in(0).dims, step.in(0).dtype);
}

void checkParametricRelu(const StepChecker& step) {
  step.requirePresent(2);
  step.require(step.in(0).dtype == step.in(1).dtype, "its operands differ in element type");
  step.requireBroadcast(step.in(1).dims, step.in(0).dims);
  step.requireOutput(0, step.in(0).dims, step.in(0).dtype);
}

void checkUnary(const StepChecker& step) {
  step.requirePresent(1);
  const Operation& operation = step.requireOperation("op", unaryOperations());
  step.requireOutput(0, step.in(0).dims, operation.gives_bool ? DType::kBool : step.in(0).dtype);
}

void checkElementwise(const StepChecker& step) {
  step.requirePresent(2);
  const Operation& operation = step.requireOperation("op", binaryOperations());
  step.require(step.in(0).dtype == step.in(1).dtype, "its operands differ in element type");
  step.requireActivation();
  step.requireOutput(0, step.broadcast(step.in(0).dims, step.in(1).dims),
                     operation.gives_bool ? DType::kBool : step.in(0).dtype);
}

void checkSelect(const StepChecker& step) {
  step.requirePresent(3);
  step.require(step.in(0).dtype == DType::kBool, "its condition is not bool");
  step.require(step.in(1).dtype == step.in(2).dtype, "its operands differ in element type");
  const Shape chosen = step.broadcast(step.in(1).dims, step.in(2).dims);
  step.requireOutput(0, step.broadcast(step.in(0).dims, chosen), step.in(1).dtype);
}

void checkCopy(const StepChecker& step) {
  step.requirePresent(1);
  step.requireOutput(0, step.in(0).dims, step.in(0).dtype);
}

void checkCast(const StepChecker& step) {
  step.requirePresent(1);
  step.requireOutput(0, step.in(0).dims, step.attributes().getDType("to"));
}

void checkFill(const StepChecker& step) {
  const std::string& op = step.attributes().getString("op");
  step.requireOneOf(op, {"constant", "arange"}, "operation");
  step.require(op == "constant" || step.dims("dims").size() == 1, "a range has not one dimension");
  step.requireOutput(0, step.dims("dims"), step.attributes().getDType("dtype"));
}

}  // namespace

bool checkPointwise(const StepChecker& step) {
  const std::string& family = step.step().family;
  if (family == "activation") {
    checkActivation(step);
  } else if (family == "parametric_relu") {
    checkParametricRelu(step);
  } else if (family == "unary") {
    checkUnary(step);
  } else if (family == "elementwise") {
    checkElementwise(step);
  } else if (family == "select") {
    checkSelect(step);
  } else if (family == "identity" || family == "reformat") {
    checkCopy(step);
  } else if (family == "cast") {
    checkCast(step);
  } else if (family == "fill") {
    checkFill(step);
  } else {
    return false;
  }
  return true;
}

}  // namespace torchtrt::plan
