#include "stitching/engine_nodes.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "runtime/execute.h"

namespace torchtrt::stitching {

namespace {

using torch::jit::Graph;
using torch::jit::Value;

std::string withTrt(const std::string& module_name) {
  return module_name + "_trt";
}

bool comesFromEngine(const Value& value) {
  const torch::jit::Node& node = *value.node();
  return node.kind() == torch::jit::prim::ListUnpack &&
         (node.input()->node()->kind() == c10::Symbol::fromQualString(runtime::kExecuteEngine) ||
          node.input()->node()->kind() == c10::Symbol::fromQualString(runtime::kUpdateByEngine));
}

// Moves tensors that PyTorch may have made on the CPU, from sizes or as empty state, to where the engine runs.
// Arguments of the call stay where they are: an error tells their caller. The method asks the engine for its device,
// because a file may be loaded for another one.
std::vector<Value*> onDeviceOf(Graph& graph, Value* holder, std::vector<Value*> inputs) {
  Value* device = nullptr;
  for (Value*& input : inputs) {
    if (input->node() == graph.param_node() || comesFromEngine(*input)) {
      continue;
    }
    if (device == nullptr) {
      torch::jit::Node* ask = graph.insertNode(graph.create(torch::jit::prim::CallMethod, {holder}));
      ask->s_(torch::jit::attr::name, "device");
      device = ask->output()->setType(c10::DeviceObjType::get());
    }
    input = graph.insert(torch::jit::aten::to, {input, device});
  }
  return inputs;
}

}  // namespace

std::string asIdentifier(const std::string& text) {
  std::string name;
  for (const char c : text) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "_" + name : name;
}

torch::jit::Module makeModule(const std::string& module_name) {
  torch::jit::Module module(c10::QualifiedName(withTrt(module_name)), std::make_shared<torch::jit::CompilationUnit>());
  return module;
}

void addTraining(torch::jit::Module& module) {
  if (!module.hasattr("training")) {
    module.register_attribute("training", c10::BoolType::get(), false);
  }
}

Value* getAttribute(Graph& graph, const std::string& attribute, const c10::TypePtr& type) {
  torch::jit::Node* get = graph.insertNode(graph.create(torch::jit::prim::GetAttr, {graph.inputs().front()}));
  get->s_(torch::jit::attr::name, attribute);
  return get->output()->setType(type);
}

Value* holdEngine(Graph& graph, torch::jit::Module& module, const std::string& attribute,
                  const c10::intrusive_ptr<runtime::Engine>& engine) {
  const c10::IValue held(engine);
  module.register_attribute(attribute, held.type(), held);
  return getAttribute(graph, attribute, held.type());
}

std::vector<Value*> emitEngine(Graph& graph, Value* holder, const runtime::Engine& engine, std::vector<Value*> inputs,
                               const std::vector<partitioning::Update>& updates) {
  if (runtime::isForGpu(engine.deviceInfo())) {
    inputs = onDeviceOf(graph, holder, std::move(inputs));
  }
  std::vector<Value*> operands = {graph.insertNode(graph.createList(c10::TensorType::get(), inputs))->output(), holder};
  std::vector<int64_t> outputs, updated;
  for (const partitioning::Update& update : updates) {
    outputs.push_back(static_cast<int64_t>(update.output));
    updated.push_back(static_cast<int64_t>(update.input));
  }
  if (!updates.empty()) {
    operands.push_back(graph.insertConstant(outputs));
    operands.push_back(graph.insertConstant(updated));
  }
  const char* const kind = updates.empty() ? runtime::kExecuteEngine : runtime::kUpdateByEngine;
  torch::jit::Node* execute = graph.insertNode(graph.create(c10::Symbol::fromQualString(kind), operands));
  execute->output()->setType(c10::ListType::ofTensors());
  std::vector<Value*> results(engine.engine().outputs().size(), nullptr);
  torch::jit::Node* unpack =
      graph.insertNode(graph.createListUnpack(execute->output(), results.size() - updates.size()));
  for (size_t i = 0, next = 0; i < results.size(); ++i) {
    if (std::find(outputs.begin(), outputs.end(), static_cast<int64_t>(i)) == outputs.end()) {
      results[i] = unpack->output(next++);
    }
  }
  return results;
}

Value* packed(Graph& graph, const std::vector<Value*>& values) {
  return values.size() == 1 ? values.front() : graph.insertNode(graph.createTuple(values))->output();
}

void addMethod(torch::jit::Module& module, const std::string& method, const std::shared_ptr<Graph>& graph,
               const c10::FunctionSchema* schema) {
  graph->lint();
  const c10::QualifiedName name(*module.type()->name(), method);
  torch::jit::Function* function = module._ivalue()->compilation_unit()->create_function(name, graph);
  module.type()->addMethod(function);
  if (schema != nullptr) {
    std::vector<c10::Argument> arguments = {c10::Argument("self", module.type())};
    arguments.insert(arguments.end(), schema->arguments().begin(), schema->arguments().end());
    function->setSchema(c10::FunctionSchema(method, "", std::move(arguments), schema->returns()));
  }
}

std::string engineName(const std::string& module_name, size_t index, size_t count) {
  const std::string name = asIdentifier(withTrt(module_name)) + "_engine";
  return count == 1 ? name : name + "_" + std::to_string(index);
}

}  // namespace torchtrt::stitching
