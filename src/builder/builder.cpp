#include "builder/builder.h"

#include "builder/emit.h"
#include "builder/layout.h"
#include "optimization/environment.h"
#include "torchtrt/plugin.h"

namespace torchtrt::builder {

plan::Plan build(const network::Network& network, const BuildOptions& options) {
  plugin::registerBuiltinPlugins();
  network::verify(network);
  const std::unique_ptr<network::Network> working_copy = network.clone();
  if (options.optimize) {
    optimization::optimizeAsEnvironmentSays(*working_copy);
  }
  const std::vector<Order> input_orders = takeInputOrders(*working_copy);
  if (options.channels_last) {
    chooseMemoryOrders(*working_copy, input_orders);
  }
  plan::Plan plan = emitPlan(*working_copy);
  plan.options = options.recorded;
  try {
    plan::validate(plan);
  } catch (const EngineError& error) {
    throw CompileError(ErrorCode::kBuildFailed, "the network makes no valid plan: " + error.message(), error.location(),
                       error.advice());
  }
  return plan;
}

}  // namespace torchtrt::builder
