// Families that combine elements along axes: matrix multiply, softmax, reduce, normalization, top-k,
// cumulative, recurrent.
#include <algorithm>

#include "plan/step_checker.h"

namespace torchtrt::plan {

namespace {

void checkMatrixMultiply(const StepChecker& step) {
  step.requirePresent(2);
  const auto& a = step.in(0);
  const auto& b = step.in(1);
  step.require(a.rank() >= 2 && b.rank() >= 2, "an operand has fewer than 2 dimensions");
  const bool transpose_a = step.attributes().getBool("transpose_a");
  const bool transpose_b = step.attributes().getBool("transpose_b");
  const int64_t rows = a.dims[a.rank() - (transpose_a ? 1 : 2)];
  const int64_t inner = a.dims[a.rank() - (transpose_a ? 2 : 1)];
  const int64_t columns = b.dims[b.rank() - (transpose_b ? 2 : 1)];
  step.require(inner == b.dims[b.rank() - (transpose_b ? 1 : 2)], "the inner dimensions of its operands differ");
  Shape out = step.broadcast(Shape(a.dims.begin(), a.dims.end() - 2), Shape(b.dims.begin(), b.dims.end() - 2));
  out.push_back(rows);
  out.push_back(columns);
  for (size_t i = 1; i < step.inputs(); ++i) {
    step.require(!step.in(i).present || step.in(i).dtype == a.dtype, "its operands differ in element type");
  }
  if (step.in(2).present) {
    step.requireBroadcast(step.in(2).dims, out);
  }
  step.require(!step.in(3).present || step.in(3).dims == out, "the residual has not the output's dimensions");
  step.requireActivation();
  step.requireOutput(0, out, a.dtype);
}

void checkSoftmax(const StepChecker& step) {
  step.requirePresent(1);
  step.axis(step.in(0));
  step.require(isFloating(step.in(0).dtype), "its input is not floating");
  step.requireOutput(0, step.in(0).dims, step.in(0).dtype);
}

void checkReduce(const StepChecker& step) {
  step.requirePresent(1);
  const auto& input = step.in(0);
  const std::string& op = step.attributes().getString("op");
  step.requireOneOf(op, {"sum", "prod", "max", "min", "avg", "any", "all", "var", "std", "norm1", "norm2", "logsumexp"},
                    "operation");
  const std::vector<int64_t>& axes = step.attributes().getInts("axes");
  step.require(!axes.empty() && std::is_sorted(axes.begin(), axes.end()), "its axes are not sorted or missing");
  const bool keep = step.attributes().getBool("keep_dims");
  Shape out;
  size_t next = 0;
  for (size_t axis = 0; axis < input.rank(); ++axis) {
    const bool reduced = next < axes.size() && axes[next] == static_cast<int64_t>(axis);
    next += reduced ? 1 : 0;
    if (!reduced || keep) {
      out.push_back(reduced ? 1 : input.dims[axis]);
    }
  }
  step.require(next == axes.size(), "an axis is out of range or given twice");
  step.requireOutput(0, out, op == "any" || op == "all" ? DType::kBool : input.dtype);
}

// Dimensions of scale and bias; empty statistics operands where the mode computes its own.
void checkNormalization(const StepChecker& step) {
  step.requirePresent(1);
  const auto& input = step.in(0);
  const std::string& mode = step.attributes().getString("mode");
  step.requireOneOf(mode, {"batch", "layer", "group", "instance", "rms"}, "mode");
  Shape parameters;
  if (mode == "layer" || mode == "rms") {
    const int64_t rank = step.attributes().getInt("normalized_rank");
    step.require(rank >= 1 && static_cast<size_t>(rank) <= input.rank(),
                 "it normalizes more dimensions than there are");
    parameters.assign(input.dims.end() - rank, input.dims.end());
  } else {
    step.require(input.rank() >= 2, "its input has no channels");
    parameters = {input.dims[1]};
  }
  if (mode == "group") {
    const int64_t groups = step.attributes().getInt("groups");
    step.require(groups >= 1 && input.dims[1] % groups == 0, "groups do not divide channels");
  }
  for (size_t i = 1; i < step.inputs(); ++i) {
    step.require(!step.in(i).present || step.in(i).dims == parameters, "an operand has not the normalized dimensions");
    step.require(!step.in(i).present || step.in(i).dtype == input.dtype, "its operands differ in element type");
  }
  step.require(mode != "batch" || (step.in(3).present && step.in(4).present), "mean or variance is missing");
  step.requireActivation();
  step.requireOutput(0, input.dims, input.dtype);
}

void checkTopK(const StepChecker& step) {
  step.requirePresent(1);
  const size_t axis = step.axis(step.in(0));
  const Shape& k = step.dims("k");
  step.require(k.size() == 1 && k[0] >= 0 && k[0] <= step.in(0).dims[axis], "k is larger than the axis");
  step.requireOneOf(step.attributes().getString("ties", "first"), {"first", "sort", "topk", "kthvalue"},
                    "order of equals");
  Shape out = step.in(0).dims;
  out[axis] = k[0];
  step.requireOutput(0, out, step.in(0).dtype);
  step.requireOutput(1, out, DType::kInt64);
}

void checkCumulative(const StepChecker& step) {
  step.requirePresent(1);
  const auto& input = step.in(0);
  const std::string& op = step.attributes().getString("op");
  step.requireOneOf(op, {"sum", "prod", "max", "min", "logsumexp"}, "operation");
  step.axis(input);
  step.require(op == "logsumexp" ? isFloating(input.dtype) : input.dtype != DType::kBool,
               "its operation is not defined for the input's element type");
  step.requireOutput(0, input.dims, input.dtype);
  if (op == "max" || op == "min") {
    step.requireOutput(1, input.dims, DType::kInt64);
  }
}

void checkRecurrent(const StepChecker& step) {
  step.requirePresent(2);
  const auto& input = step.in(0);
  const auto& weights = step.in(1);
  const std::string& op = step.attributes().getString("op");
  step.requireOneOf(op, {"lstm", "gru", "rnn_tanh", "rnn_relu"}, "operation");
  step.require(step.in(3).present, "the state is missing");
  step.require(step.in(4).present == (op == "lstm"), "only lstm has a cell");
  step.require(input.rank() == 3 && weights.rank() == 2, "its input or weights have a wrong rank");
  step.require(isFloating(input.dtype), "its input is not floating");
  const int64_t hidden = weights.dims[1];
  const int64_t gates = op == "lstm" ? 4 : op == "gru" ? 3 : 1;
  step.require(weights.dims[0] % gates == 0 && weights.dims[0] / gates == hidden && input.dims[2] == weights.dims[0],
               "its input or weights have not the gates' dimensions");
  const Shape state = {input.dims[1], hidden};
  for (size_t i = 1; i < step.inputs(); ++i) {
    step.require(!step.in(i).present || step.in(i).dtype == input.dtype, "its operands differ in element type");
    step.require(i == 1 || !step.in(i).present || step.in(i).dims == (i == 2 ? Shape{weights.dims[0]} : state),
                 "an operand has not the state's dimensions");
  }
  step.requireOutput(0, {input.dims[0], state[0], state[1]}, input.dtype);
  step.requireOutput(1, state, input.dtype);
  if (op == "lstm") {
    step.requireOutput(2, state, input.dtype);
  }
}

}  // namespace

bool checkReducing(const StepChecker& step) {
  const std::string& family = step.step().family;
  if (family == "matrix_multiply") {
    checkMatrixMultiply(step);
  } else if (family == "softmax") {
    checkSoftmax(step);
  } else if (family == "reduce") {
    checkReduce(step);
  } else if (family == "normalization") {
    checkNormalization(step);
  } else if (family == "topk") {
    checkTopK(step);
  } else if (family == "cumulative") {
    checkCumulative(step);
  } else if (family == "recurrent") {
    checkRecurrent(step);
  } else {
    return false;
  }
  return true;
}

}  // namespace torchtrt::plan
