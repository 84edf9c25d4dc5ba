#include <map>
#include <string>

#include "cuda/launch/kernel.h"
#include "cuda/launch/types.h"
#include "cuda/reduction/reduction.h"
#include "cuda/reduction/rows.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

struct Fold {
  const char* first;   // of floating-point numbers
  const char* term;    // of an element x
  const char* fold;    // of text/reduction.cuh
  const char* result;  // of the folded value
  bool two_passes = false;
  bool log_sum_exp = false;
  bool for_integers = false;
};

const std::map<std::string, Fold>& folds() {
  static const std::map<std::string, Fold> table = {
      {"sum", {.first = "0", .term = "x", .fold = "Sum", .result = "value", .for_integers = true}},
      {"prod", {.first = "1", .term = "x", .fold = "Product", .result = "value", .for_integers = true}},
      {"max", {.first = "-INFINITY", .term = "x", .fold = "Maximum", .result = "value", .for_integers = true}},
      {"min", {.first = "INFINITY", .term = "x", .fold = "Minimum", .result = "value", .for_integers = true}},
      {"any", {.first = "0", .term = "(A)(x != 0)", .fold = "Maximum", .result = "value", .for_integers = true}},
      {"all", {.first = "1", .term = "(A)(x != 0)", .fold = "Minimum", .result = "value", .for_integers = true}},
      {"avg", {.first = "0", .term = "x", .fold = "Sum", .result = "value / (double)terms"}},
      {"norm1", {.first = "0", .term = "fabs(x)", .fold = "Sum", .result = "value"}},
      {"norm2", {.first = "0", .term = "x * x", .fold = "Sum", .result = "sqrt(value)"}},
      {"var",
       {.first = "0",
        .term = "(x - mean) * (x - mean)",
        .fold = "Sum",
        .result = "value / ((double)terms - correction > 0 ? (double)terms - correction : 0.0)",
        .two_passes = true}},
      {"std",
       {.first = "0",
        .term = "(x - mean) * (x - mean)",
        .fold = "Sum",
        .result = "sqrt(value / ((double)terms - correction > 0 ? (double)terms - correction : 0.0))",
        .two_passes = true}},
      {"logsumexp",
       {.first = "0", .term = "exp(x - shift)", .fold = "Sum", .result = "log(value) + shift", .log_sum_exp = true}},
  };
  return table;
}

const char* firstOf(const std::string& op, const Fold& fold, DType dtype) {
  if (isFloating(dtype)) {
    return fold.first;
  }
  return op == "max" ? "(-9223372036854775807LL - 1)" : op == "min" ? "9223372036854775807LL" : fold.first;
}

// Strides of the result over the axes that stay.
Ints keptStrides(const TensorDesc& in, const TensorDesc& out, const Ints& axes) {
  return in.dims.size() == out.dims.size() ? cutAt(out.strides, axes).outside : out.strides;
}

}  // namespace

std::unique_ptr<kernels::Prepared> prepareReduction(const Layer& layer, const ShapeSet& shapes, const std::string& op,
                                                    const Ints& axes) {
  const TensorDesc& in = shapes.inputs.at(0);
  const TensorDesc& out = shapes.outputs.at(0);
  const Fold& fold = folds().at(op);
  const Cut dims = cutAt(in.dims, axes);
  const Cut strides = cutAt(in.strides, axes);
  const Layout kept = collapsed(dims.outside, {strides.outside, keptStrides(in, out, axes)});
  const Layout folded = collapsed(dims.inside, {strides.inside});
  if ((op == "max" || op == "min") && folded.count() == 0 && kept.count() != 0) {
    throw EngineError(ErrorCode::kShapeArithmetic, "reduce met an empty axis, whose maximum or minimum does not exist",
                      {}, "reduce axes that have elements");
  }
  const RowPlan plan = planRows(layer, kept.count(), folded.count(), liesByColumn(kept, folded.strides[0]));
  const bool folds_twice = fold.two_passes || fold.log_sum_exp;
  Source source;
  plan.define(source);
  source.define("STORED", storedType(in.dtype)).define("OUT", storedType(out.dtype));
  source.define("A", isFloating(in.dtype) ? "double" : "long long");
  source.define("KEPT", kept.rank()).define("FOLDED", folded.rank()).define("FIRST", firstOf(op, fold, in.dtype));
  source.define("TERM", fold.term).define("FOLD", fold.fold).define("RESULT", fold.result);
  source.define("FOLDS_TWICE", int64_t{folds_twice}).define("LOG_SUM_EXP", int64_t{fold.log_sum_exp});
  source.include("text/storage.cuh").include("text/reduction.cuh").include("text/rows.cuh");
  source.include("text/inputs.cuh").include("reduction/reduce.cuh");
  if (plan.isInParts()) {
    source.include("reduction/reduce_parts.cuh");
  }
  const double correction = layer.attributes.getDouble("correction", 1);
  const auto addInput = [&](Arguments& arguments) {
    arguments.value(plan.argument);
    addWalk(arguments, kept.dims, kept.strides[0]);
    addWalk(arguments, folded.dims, folded.strides[0]);
    arguments.input(0);
  };
  const auto addOutput = [&](Arguments& arguments) {
    addWalk(arguments, kept.dims, kept.strides[1]);
    arguments.output(0).value(correction);
  };
  auto launches = std::make_unique<Launches>(layer.device);
  if (!plan.isInParts()) {
    Arguments arguments;
    addInput(arguments);
    addOutput(arguments);
    launches->add(source, "reduce", plan.geometry, std::move(arguments));
    return launches;
  }
  const int64_t firsts = folds_twice ? launches->reserve(plan.scratchBytes()) : -1;
  const int64_t values = launches->reserve(plan.scratchBytes());
  const auto addFirsts = [&](Arguments& arguments) { firsts < 0 ? arguments.absent() : arguments.scratch(firsts); };
  if (folds_twice) {
    Arguments first;
    addInput(first);
    addFirsts(first);
    launches->add(source, "reduce_first", plan.geometry, std::move(first));
  }
  Arguments parts, finish;
  addInput(parts);
  addFirsts(parts);
  parts.scratch(values);
  launches->add(source, "reduce_parts", plan.geometry, std::move(parts));
  finish.value(plan.argument);
  addFirsts(finish);
  finish.scratch(values);
  addOutput(finish);
  launches->add(source, "reduce_finish", geometryFor(kept.count()), std::move(finish));
  return launches;
}

kernels::CreateResult createReduce(const kernels::Problem& problem) {
  const std::string& op = problem.attributes->getString("op");
  const DType dtype = problem.inputs.at(0).dtype;
  const auto found = folds().find(op);
  if (found == folds().end() || (!isFloating(dtype) && !found->second.for_integers)) {
    return Refusal{"dtype", "has no device code for '" + op + "' of " + toString(dtype)};
  }
  return launched(problem, [](const Layer& layer, const ShapeSet& shapes) {
    return prepareReduction(layer, shapes, layer.attributes.getString("op"), layer.attributes.getInts("axes"));
  });
}

}  // namespace torchtrt::cuda
