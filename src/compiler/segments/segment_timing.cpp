// Engines against PyTorch in time, where the user asks for that.
#include <torch/csrc/jit/runtime/graph_executor.h>

#include "compiler/segments/segment_engines.h"
#include "compiler/segments/tuning.h"
#include "runtime/execute.h"
#include "runtime/torch_device.h"

namespace torchtrt::compiler {

// Once for every segment, however many attempts hold it.
Failures SegmentEngines::timed(const runtime::Engine& engine, const std::vector<at::Tensor>& inputs) {
  const SegmentEngine* const found = find(engine);
  if (found == nullptr) {
    return {};
  }
  const SegmentEngine& made = *found;
  const auto [known, is_new] = timed_.try_emplace({made.segment->nodes.begin(), made.segment->nodes.end()});
  if (is_new) {
    const c10::InferenceMode inference;
    torch::jit::GraphExecutor executor(made.segment->graph->copy(), "torch");
    const at::Device device = made.engine->device();
    known->second = refuseIfSlower(
        [&] {
          runtime::executeEngine(inputs, made.engine);
          runtime::synchronize(device);
        },
        [&] {
          torch::jit::Stack stack(inputs.begin(), inputs.end());
          executor.run(stack);
          runtime::synchronize(device);
        });
  }
  Failures failures;
  if (known->second) {
    for (const torch::jit::Node* node : made.segment->nodes) {
      failures.emplace(node, *known->second);
    }
  }
  return failures;
}

}  // namespace torchtrt::compiler
