#include <memory>
#include <vector>

#include "stitching/engine_nodes.h"
#include "stitching/stitching.h"

namespace torchtrt::stitching {

namespace {

using torch::jit::Graph;
using torch::jit::Value;

std::vector<size_t> orderOrAll(const std::vector<size_t>& order, size_t count) {
  if (!order.empty()) {
    return order;
  }
  std::vector<size_t> all(count);
  for (size_t i = 0; i < count; ++i) {
    all[i] = i;
  }
  return all;
}

}  // namespace

torch::jit::Module embed(const c10::intrusive_ptr<runtime::Engine>& engine, const EmbedOptions& options) {
  torch::jit::Module module = makeModule(options.module_name);
  addTraining(module);
  auto graph = std::make_shared<Graph>();
  graph->addInput("self_1")->setType(module.type());
  const auto& bindings = engine->engine().inputs();
  std::vector<Value*> inputs(bindings.size());
  for (const size_t index : orderOrAll(options.input_order, bindings.size())) {
    inputs.at(index) = graph->addInput(asIdentifier(bindings.at(index).name));
  }
  Value* holder = holdEngine(*graph, module, engineName(options.module_name, 0, 1), engine);
  const std::vector<Value*> outputs = emitEngine(*graph, holder, *engine, inputs);
  std::vector<Value*> results;
  for (const size_t index : orderOrAll(options.output_order, outputs.size())) {
    results.push_back(outputs.at(index));
  }
  graph->registerOutput(packed(*graph, results));
  addMethod(module, "forward", graph, nullptr);
  return module;
}

}  // namespace torchtrt::stitching
