#include "stitching/stitching.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "base/check.h"

namespace torchtrt::stitching {

namespace {

using torch::jit::Graph;
using torch::jit::Value;

constexpr const char* kExecuteEngine = "tensorrt::execute_engine";

std::string withTrt(const std::string& module_name) {
  return module_name + "_trt";
}

// Attribute and argument names have to be identifiers when the module is saved as source.
std::string asIdentifier(const std::string& text) {
  std::string name;
  for (const char c : text) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "_" + name : name;
}

// A module of a class of its own in a compilation unit of its own, so that equal compiles give equal names.
torch::jit::Module makeModule(const std::string& module_name) {
  torch::jit::Module module(c10::QualifiedName(withTrt(module_name)), std::make_shared<torch::jit::CompilationUnit>());
  module.register_attribute("training", c10::BoolType::get(), false);
  return module;
}

// The engine attribute and the four nodes that run it; gives the engine's outputs.
std::vector<Value*> emitEngine(Graph& graph, torch::jit::Module& module, const std::string& attribute,
                               const c10::intrusive_ptr<runtime::Engine>& engine, const std::vector<Value*>& inputs) {
  const c10::IValue held(engine);
  module.register_attribute(attribute, held.type(), held);
  torch::jit::Node* get = graph.insertNode(graph.create(torch::jit::prim::GetAttr, {graph.inputs().front()}));
  get->s_(torch::jit::attr::name, attribute);
  Value* holder = get->output()->setType(held.type());
  Value* list = graph.insertNode(graph.createList(c10::TensorType::get(), inputs))->output();
  torch::jit::Node* execute =
      graph.insertNode(graph.create(c10::Symbol::fromQualString(kExecuteEngine), {list, holder}));
  execute->output()->setType(c10::ListType::ofTensors());
  torch::jit::Node* unpack =
      graph.insertNode(graph.createListUnpack(execute->output(), engine->engine().outputs().size()));
  return {unpack->outputs().begin(), unpack->outputs().end()};
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

// Copies the partition into the method's graph, segment by segment.
class Stitcher {
 public:
  Stitcher(const partitioning::Partition& partition, const std::vector<c10::intrusive_ptr<runtime::Engine>>& engines,
           const StitchOptions& options)
      : partition_(partition), engines_(engines), options_(options), module_(makeModule(options.module_name)) {}

  torch::jit::Module run() {
    graph_->addInput("self_1")->setType(module_.type());
    addInputs();
    for (const partitioning::Segment& segment : partition_.segments) {
      const std::vector<Value*> outputs =
          segment.target == partitioning::Target::kEngine ? runEngine(segment) : copyNodes(segment);
      TORCHTRT_CHECK(outputs.size() == segment.outputs.size(), outputs.size() << " against " << segment.outputs.size());
      for (size_t i = 0; i < outputs.size(); ++i) {
        map_[segment.outputs[i]] = outputs[i];
      }
    }
    std::vector<Value*> results;
    for (const Value* output : partition_.graph->outputs()) {
      results.push_back(mapped(output));
    }
    graph_->registerOutput(packed(*graph_, results));
    addMethod(module_, options_.method, graph_, &options_.schema);
    return module_;
  }

 private:
  void addInputs() {
    const auto& arguments = options_.schema.arguments();
    TORCHTRT_CHECK(arguments.size() == partition_.graph->inputs().size(), "the schema has an argument per graph input");
    for (size_t i = 0; i < arguments.size(); ++i) {
      map_[partition_.graph->inputs()[i]] =
          graph_->addInput(asIdentifier(arguments[i].name()))->setType(arguments[i].type());
    }
  }

  Value* mapped(const Value* value) const {
    const auto found = map_.find(value);
    TORCHTRT_CHECK(found != map_.end(), "%" << value->debugName() << " is made by an earlier segment");
    return found->second;
  }

  std::vector<Value*> runEngine(const partitioning::Segment& segment) {
    TORCHTRT_CHECK(next_engine_ < engines_.size(), "one engine per engine segment, got " << engines_.size());
    std::vector<Value*> inputs;
    inputs.reserve(segment.inputs.size());
    std::transform(segment.inputs.begin(), segment.inputs.end(), std::back_inserter(inputs),
                   [this](const Value* value) { return mapped(value); });
    const std::string attribute = engineName(options_.module_name, next_engine_, engines_.size());
    return emitEngine(*graph_, module_, attribute, engines_[next_engine_++], inputs);
  }

  std::vector<Value*> copyNodes(const partitioning::Segment& segment) {
    std::unordered_map<const Value*, Value*> local;
    for (size_t i = 0; i < segment.inputs.size(); ++i) {
      local[segment.graph->inputs()[i]] = mapped(segment.inputs[i]);
    }
    for (torch::jit::Node* node : segment.graph->nodes()) {
      torch::jit::Node* copy =
          graph_->insertNode(graph_->createClone(node, [&local](Value* value) { return local.at(value); }));
      for (size_t i = 0; i < node->outputs().size(); ++i) {
        local[node->output(i)] = copy->output(i);
      }
    }
    std::vector<Value*> outputs;
    for (const Value* output : segment.graph->outputs()) {
      outputs.push_back(local.at(output));
    }
    return outputs;
  }

  const partitioning::Partition& partition_;
  const std::vector<c10::intrusive_ptr<runtime::Engine>>& engines_;
  const StitchOptions& options_;
  torch::jit::Module module_;
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::unordered_map<const Value*, Value*> map_;
  size_t next_engine_ = 0;
};

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

std::string engineName(const std::string& module_name, size_t index, size_t count) {
  const std::string name = asIdentifier(withTrt(module_name)) + "_engine";
  return count == 1 ? name : name + "_" + std::to_string(index);
}

torch::jit::Module stitch(const partitioning::Partition& partition,
                          const std::vector<c10::intrusive_ptr<runtime::Engine>>& engines,
                          const StitchOptions& options) {
  return Stitcher(partition, engines, options).run();
}

torch::jit::Module embed(const c10::intrusive_ptr<runtime::Engine>& engine, const EmbedOptions& options) {
  torch::jit::Module module = makeModule(options.module_name);
  auto graph = std::make_shared<Graph>();
  graph->addInput("self_1")->setType(module.type());
  const auto& bindings = engine->engine().inputs();
  std::vector<Value*> inputs(bindings.size());
  for (const size_t index : orderOrAll(options.input_order, bindings.size())) {
    inputs.at(index) = graph->addInput(asIdentifier(bindings.at(index).name));
  }
  const std::vector<Value*> outputs = emitEngine(*graph, module, engineName(options.module_name, 0, 1), engine, inputs);
  std::vector<Value*> results;
  for (const size_t index : orderOrAll(options.output_order, outputs.size())) {
    results.push_back(outputs.at(index));
  }
  graph->registerOutput(packed(*graph, results));
  addMethod(module, "forward", graph, nullptr);
  return module;
}

}  // namespace torchtrt::stitching
