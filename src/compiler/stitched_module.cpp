#include "compiler/stitched_module.h"

#include "compiler/module/placing.h"
#include "compiler/segments/kept_segment.h"
#include "lowering/call_stacks.h"
#include "lowering/source_files.h"
#include "runtime/engine_class.h"
#include "stitching/stitching.h"

namespace torchtrt::compiler {

namespace {

std::vector<c10::intrusive_ptr<runtime::Engine>> holdersOf(const std::vector<SegmentEngine>& engines) {
  std::vector<c10::intrusive_ptr<runtime::Engine>> holders;
  for (const SegmentEngine& engine : engines) {
    holders.push_back(engine.engine);
  }
  return holders;
}

}  // namespace

torch::jit::Module moduleOf(const Task& task, const partitioning::Partition& partition,
                            const std::vector<SegmentEngine>& made, const std::optional<OtherCalls>& others) {
  const auto& [source, lowered, spec, precision, target] = task;
  const std::vector<c10::intrusive_ptr<runtime::Engine>> engines = holdersOf(made);
  stitching::StitchOptions options{lowered.module_name, lowered.schema.name(), lowered.schema};
  const bool shares_constants = sharesWeights(task);
  if (!spec.require_full_compilation) {
    options.original = lowered.has_self && !carriesMethods(source, spec) ? owned(source).module : source.module;
  }
  if (shares_constants) {
    for (const auto& engine : engines) {
      shareStorage(*source.module, engine->weights());
    }
  }
  options.keep_methods = spec.keep_methods;
  options.updatable = spec.refit;
  options.owns_constants = !shares_constants;
  if (others) {
    options.other_calls = withEngines(*others, made);
  }
  torch::jit::Module module = stitching::stitch(partition, engines, options);
  if (!shares_constants) {
    ownConstants(*module.get_method(source.method).graph()->block());
  }
  if (target.engineType() != at::kCPU) {
    followInputs(*module.get_method(source.method).graph(), target.device);
  }
  for (const torch::jit::Method& method : module.get_methods()) {
    lowering::ownCallStacks(*method.graph()->block());
    lowering::showSourceFiles(*method.graph()->block());
  }
  return module;
}

}  // namespace torchtrt::compiler
