#include <algorithm>
#include <array>
#include <string>

#include "cuda/launch/activation.h"
#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/types.h"
#include "cuda/pointwise/pointwise.h"

namespace torchtrt::cuda {

namespace {

using kernels::CreateResult;
using kernels::Problem;
using kernels::ShapeSet;

// The function to compute: an expression of x0, x1, x2, alpha, beta and fault, in the type that `dtype` is computed in.
struct Map {
  std::string result;
  DType dtype = DType::kFloat32;
  double alpha = 0, beta = 0;
  bool divides_integers = false;
};

std::unique_ptr<kernels::Prepared> prepareMap(const Layer& layer, const ShapeSet& shapes, const Map& map) {
  const kernels::TensorDesc& out = shapes.outputs.at(0);
  std::vector<Ints> strides;
  std::vector<size_t> sizes = {sizeOf(out.dtype)};
  for (const kernels::TensorDesc& input : shapes.inputs) {
    strides.push_back(broadcastStrides(input, out.dims));
    sizes.push_back(sizeOf(input.dtype));
  }
  strides.push_back(out.strides);
  const Layout layout = collapsedInAnyOrder(out.dims, strides);
  const int64_t chunk = chunkOf(layout, sizes);
  Source source;
  source.define("RANK", layout.rank()).define("OPERANDS", static_cast<int64_t>(shapes.inputs.size()));
  source.define("CHUNK", chunk);
  Arguments arguments;
  arguments.value(layout.count());
  addWalk(arguments, layout.dims, layout.strides.back());
  arguments.output(0);
  for (size_t i = 0; i < shapes.inputs.size(); ++i) {
    const Ints& steps = layout.strides[i];
    source.define("T" + std::to_string(i), storedType(shapes.inputs[i].dtype));
    source.define("STEP" + std::to_string(i), steps.empty() ? 0 : std::min<int64_t>(steps.back(), 1));
    addStrides(arguments, steps);
    arguments.input(i);
  }
  arguments.value(map.alpha).value(map.beta).fault();
  source.define("OUT", storedType(out.dtype)).define("C", computedType(map.dtype)).define("RESULT", map.result);
  source.include("text/storage.cuh").include("text/functions.cuh").include("text/chunks.cuh");
  if (map.divides_integers) {
    source.include("text/faults.cuh").include("text/integers.cuh");
  }
  source.include("text/inputs.cuh").include("pointwise/map.cuh");
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "map", geometryFor((layout.count() + chunk - 1) / chunk), std::move(arguments));
  return launches;
}

CreateResult createMap(const Problem& problem, Map map) {
  return launched(problem, [map = std::move(map)](const Layer& layer, const ShapeSet& shapes) {
    return prepareMap(layer, shapes, map);
  });
}

Refusal unsupported(const std::string& op, DType dtype) {
  return {"dtype", "has no device code for '" + op + "' of " + toString(dtype)};
}

bool isOneOf(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Integers are wrapped to what is stored first, as on the CPU.
std::string withActivation(const std::string& value, const std::string& activation, DType dtype) {
  const std::string stored = isFloating(dtype) ? "(C)(" + value + ")" : "wrapped<OUT>(" + value + ")";
  return activation.empty() ? value : activationFunction(activation, dtype) + "(" + stored + ", alpha, beta)";
}

}  // namespace

CreateResult createActivation(const Problem& problem) {
  const std::string& op = problem.attributes->getString("op");
  const DType dtype = problem.inputs.at(0).dtype;
  if (!hasActivation(op, dtype)) {
    return unsupported(op, dtype);
  }
  return createMap(problem, {withActivation("x0", op, dtype), dtype, problem.attributes->getDouble("alpha", 0),
                             problem.attributes->getDouble("beta", 0)});
}

CreateResult createUnary(const Problem& problem) {
  std::string op = problem.attributes->getString("op");
  const DType dtype = problem.inputs.at(0).dtype;
  const bool is_for_integers = isOneOf(op, {"abs", "neg", "sign", "not", "bitwise_not", "isinf", "isnan", "isfinite",
                                            "square", "ceil", "floor", "round", "trunc", "frac"});
  if (isFloating(dtype) ? op == "bitwise_not" : !is_for_integers) {
    return unsupported(op, dtype);
  }
  if (dtype == DType::kBool && op == "bitwise_not") {
    op = "not";
  }
  return createMap(problem, {"unary_" + op + "(x0)", dtype});
}

CreateResult createElementwise(const Problem& problem) {
  const std::string& op = problem.attributes->getString("op");
  const DType dtype = problem.inputs.at(0).dtype;
  const std::string activation = problem.attributes->getString("activation", "");
  const bool is_integer_operation = isOneOf(op, {"floor_div", "trunc_div", "mod", "fmod", "pow"});
  const bool is_for_integers_alone = isOneOf(op, {"bitwise_and", "bitwise_or", "bitwise_xor"});
  const bool is_for_floating_alone = isOneOf(op, {"div", "atan2"});
  if ((isFloating(dtype) ? is_for_integers_alone : is_for_floating_alone) ||
      refuseFusedActivation(*problem.attributes, dtype)) {
    return unsupported(op, dtype);
  }
  const bool divides_integers = is_integer_operation && !isFloating(dtype);
  const std::string value = divides_integers ? "integer_" + op + "(x0, x1, fault)" : "binary_" + op + "(x0, x1)";
  return createMap(
      problem, {withActivation(value, activation, dtype), dtype, problem.attributes->getDouble("activation_alpha", 0),
                problem.attributes->getDouble("activation_beta", 0), divides_integers});
}

CreateResult createParametricRelu(const Problem& problem) {
  return createMap(problem, {"(0 < x0 ? x0 : x1 * x0)", problem.inputs.at(0).dtype});
}

CreateResult createSelect(const Problem& problem) {
  return createMap(problem, {"(x0 != 0 ? x1 : x2)", problem.inputs.at(1).dtype});
}

CreateResult createCast(const Problem& problem) {
  return createMap(problem, {"x0", problem.inputs.at(0).dtype});
}

}  // namespace torchtrt::cuda
