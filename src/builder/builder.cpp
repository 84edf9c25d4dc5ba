#include "builder/builder.h"

#include "builder/emit.h"
#include "builder/layout.h"
#include "optimization/environment.h"
#include "plan/rules.h"
#include "torchtrt/plugin.h"

namespace torchtrt::builder {

namespace {

// "s0 = 4, d0 = 8"
std::string optima(const plan::Plan& plan) {
  std::string text;
  for (const Symbol& symbol : plan.symbols) {
    text += (text.empty() ? "" : ", ") + symbol.name + " = " + std::to_string(symbol.opt);
  }
  return text;
}

void allowTf32(network::Network& network, const BuildOptions& options) {
  const auto allows = [&](network::LayerType type) {
    return type == network::LayerType::kMATRIX_MULTIPLY
               ? options.tf32_products
               : (type == network::LayerType::kCONVOLUTION || type == network::LayerType::kDECONVOLUTION) &&
                     options.tf32_convolutions;
  };
  for (network::Layer* layer : network.layers()) {
    if (allows(layer->getType()) && layer->getOutput(0)->getType() == DType::kFloat32) {
      layer->setAttribute("tf32", true);
    }
  }
}

// The plan of a network that keeps its rules has sound steps. Their shapes need not fit: the rules take dims of unlike
// symbols to be equal where they have to be.
void checkPlan(const plan::Plan& plan) {
  try {
    plan::checkStructure(plan);
  } catch (const EngineError& error) {
    throw CompileError(ErrorCode::kBuildFailed, "the network makes no valid plan: " + error.message(), error.location(),
                       error.advice());
  }
  try {
    plan::checkOptimumShapes(plan, ErrorCode::kShapeArithmetic);
  } catch (const EngineError& error) {
    const std::string sizes = optima(plan);
    throw CompileError(ErrorCode::kBuildFailed,
                       error.message() + (sizes.empty() ? "" : ", where every size has its optimum: " + sizes),
                       error.location(), "give inputs optimum sizes that fit together");
  }
}

}  // namespace

plan::Plan build(const network::Network& network, const BuildOptions& options) {
  plugin::registerBuiltinPlugins();
  network::verify(network);
  const std::unique_ptr<network::Network> working_copy = network.clone();
  const std::vector<Order> input_orders = takeInputOrders(*working_copy);
  if (options.channels_last) {
    chooseMemoryOrders(*working_copy, input_orders);
  }
  allowTf32(*working_copy, options);
  plan::Plan plan = emitPlan(*working_copy);
  plan.options = options.recorded;
  plan.batch_invariant = options.batch_invariant;
  checkPlan(plan);
  return plan;
}

plan::Plan optimizeAndBuild(const network::Network& network, const BuildOptions& options) {
  return build(*optimization::optimized(network), options);
}

}  // namespace torchtrt::builder
