#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cuda/launch/activation.h"
#include "cuda/launch/kernel.h"
#include "cuda/pointwise/composed.h"
#include "cuda/pointwise/pointwise.h"
#include "kernels/fusion.h"

namespace torchtrt::cuda {

namespace {

using kernels::CreateResult;
using kernels::Problem;
using kernels::ShapeSet;

// Computes one layer, or becomes a part of a kernel for several.
class PreparedMap final : public kernels::Prepared, public kernels::ComposesMaps {
 public:
  PreparedMap(const CudaDevice& device, std::shared_ptr<const Map> map, ShapeSet shapes)
      : device_(device), map_(std::move(map)), shapes_(std::move(shapes)) {}

  void begin() const override {
    launches();
  }
  void complete() const override {
    launches().complete();
  }
  void run(const kernels::RunArgs& args) const override {
    launches().run(args);
  }

  const std::vector<int64_t>& dims() const override {
    return shapes_.outputs.at(0).dims;
  }
  bool mayBeComposed() const override {
    return !map_->divides_integers;
  }
  std::unique_ptr<kernels::Prepared> compose(std::span<const ComposesMaps::Layer> layers) const override {
    std::vector<MapLayer> maps;
    std::vector<kernels::TensorDesc> inputs, outputs;
    for (const ComposesMaps::Layer& layer : layers) {
      const auto& one = dynamic_cast<const PreparedMap&>(*layer.kernel);
      maps.push_back({one.map_.get(), layer.operands, one.shapes_.outputs[0].dtype, layer.is_written});
      for (size_t k = 0; k < layer.operands.size(); ++k) {
        if (layer.operands[k] >= 0) {
          inputs.resize(std::max(inputs.size(), static_cast<size_t>(layer.operands[k]) + 1));
          inputs[static_cast<size_t>(layer.operands[k])] = one.shapes_.inputs[k];
        }
      }
      if (layer.is_written) {
        outputs.push_back(one.shapes_.outputs[0]);
      }
    }
    return launchMaps(device_, maps, inputs, outputs);
  }

 private:
  const Launches& launches() const {
    std::call_once(is_made_, [this] {
      MapLayer layer = {map_.get(), {}, shapes_.outputs[0].dtype, true};
      for (size_t i = 0; i < shapes_.inputs.size(); ++i) {
        layer.operands.push_back(static_cast<int32_t>(i));
      }
      launches_ = launchMaps(device_, {layer}, shapes_.inputs, shapes_.outputs);
    });
    return *launches_;
  }

  const CudaDevice& device_;
  std::shared_ptr<const Map> map_;
  ShapeSet shapes_;
  mutable std::once_flag is_made_;
  mutable std::unique_ptr<Launches> launches_;
};

CreateResult createMap(const Problem& problem, Map map) {
  return launched(problem,
                  [map = std::make_shared<const Map>(std::move(map))](const Layer& layer, const ShapeSet& shapes) {
                    return std::make_unique<PreparedMap>(layer.device, map, shapes);
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
