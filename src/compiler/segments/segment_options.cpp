#include "compiler/segments/segment_options.h"

#include "base/dump.h"
#include "base/logging.h"
#include "builder/builder.h"
#include "libtorch/versions.h"
#include "optimization/environment.h"

namespace torchtrt::compiler {

namespace {

// Engines of GPUs round float32 as PyTorch does in this process.
builder::BuildOptions buildOptions(const Task& task) {
  const bool may_round = task.target.engineType() == at::kCUDA && !task.spec.disable_tf32;
  builder::BuildOptions options;
  options.batch_invariant = task.spec.batch_invariant;
  options.tf32_convolutions = may_round && libtorch::allowsTf32(/*in_convolutions=*/true);
  options.tf32_products = may_round && libtorch::allowsTf32(/*in_convolutions=*/false);
  return options;
}

}  // namespace

plan::Plan planOf(const network::Network& network, const Task& task, KernelChoice& kernels, PhaseClock& clock) {
  TORCHTRT_LOG(kGRAPH, "network\n" << network::print(network));
  const auto optimized = clock.run(Phase::kOptimization, [&] { return optimization::optimized(network); });
  return clock.run(Phase::kBuilding, [&] {
    plan::Plan plan = builder::build(*optimized, buildOptions(task));
    kernels.choose(plan);
    if (dump::isOn()) {
      dump::write("plan", plan.name, "built", plan::print(plan));
    }
    return plan;
  });
}

SegmentOptions segmentOptions(const Task& task, KernelChoice& kernels, PhaseClock& clock,
                              const std::optional<OtherCalls>& others) {
  const auto& [source, lowered, spec, precision, target] = task;
  SegmentOptions options;
  options.precision = precision;
  options.may_fall_back = !spec.require_full_compilation;
  options.samples = samplesOf(task);
  options.checks_results = spec.check_results;
  options.keep_networks = spec.ptq_calibrator != nullptr || !spec.weight_precision.empty();
  options.rewriters = spec.rewriters;
  options.target = target;
  options.host = target.isGpu() ? std::make_shared<runtime::HostCopies>() : nullptr;
  // The engine that holds one is found by its values, and an update of weights changes them.
  const bool may_be_found = others && !spec.refit;
  for (const at::Tensor& constant : may_be_found ? others->constants : std::vector<at::Tensor>()) {
    options.other_constants.push_back(options.host ? options.host->of(constant) : constant);
  }
  options.self = source.module ? c10::IValue(source.module->_ivalue()) : c10::IValue();
  // A source of our own may share its weights with engines.
  options.shares_constants = sharesWeights(task);
  options.plan_of = [&task, &kernels, &clock](const network::Network& network) {
    return planOf(network, task, kernels, clock);
  };
  return options;
}

}  // namespace torchtrt::compiler
