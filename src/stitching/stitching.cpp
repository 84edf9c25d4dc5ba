#include "stitching/stitching.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include <torch/csrc/jit/api/function_impl.h>

#include "base/check.h"
#include "runtime/execute.h"
#include "runtime/weight_set.h"
#include "stitching/carried_methods.h"
#include "stitching/constant_results.h"
#include "stitching/engine_nodes.h"
#include "stitching/hoisted_constants.h"
#include "stitching/original_unit.h"
#include "stitching/shared_masks.h"

namespace torchtrt::stitching {

namespace {

using torch::jit::Graph;
using torch::jit::Value;

// Copies the partition into the method's graph, segment by segment. Values that no segment makes (constants, and the
// numbers and collections that are carried along) are copied in front of their first use.
class Stitcher {
 public:
  Stitcher(const partitioning::Partition& partition, const std::vector<c10::intrusive_ptr<runtime::Engine>>& engines,
           const StitchOptions& options)
      : partition_(partition), engines_(engines), options_(options), module_(makeModule(options.module_name)) {}

  torch::jit::Module run() {
    if (options_.original) {
      carryAttributes(*options_.original, attributesOfMethods(), module_);
    }
    addTraining(module_);
    graph_->addInput("self_1")->setType(module_.type());
    addInputs();
    if (options_.updatable) {
      takeWeights();
    }
    graph_->registerOutput(packed(*graph_, options_.other_calls ? emitBranch(*options_.other_calls) : emitAll()));
    copyConstantResults(*graph_);
    shareMasks(*graph_);
    if (options_.updatable) {
      holdWeights();
    }
    addMethod(module_, options_.method, graph_, &options_.schema);
    if (options_.original) {
      carryMethods(*options_.original, options_.method, options_.keep_methods, module_);
      keepUnitInUse(*options_.original, module_);
    }
    return module_;
  }

 private:
  std::optional<std::set<std::string>> attributesOfMethods() const {
    std::set<std::string> names;
    std::vector<const Value*> selves;
    if (partition_.graph->inputs().size() > options_.schema.arguments().size()) {
      selves.push_back(partition_.graph->inputs()[0]);
    }
    for (torch::jit::Function* function :
         carriedFunctions(*options_.original->type(), options_.method, options_.keep_methods)) {
      selves.push_back(torch::jit::toGraphFunction(*function).graph()->inputs()[0]);
    }
    for (const Value* self : selves) {
      const auto used = attributesUsed(*self);
      if (!used) {
        return std::nullopt;
      }
      names.insert(used->begin(), used->end());
    }
    return names;
  }

  void addInputs() {
    const auto& arguments = options_.schema.arguments();
    const auto inputs = partition_.graph->inputs();
    TORCHTRT_CHECK(arguments.size() == inputs.size() || arguments.size() + 1 == inputs.size(),
                   "the schema has an argument per graph input, but for the module");
    const size_t first = inputs.size() - arguments.size();
    if (first == 1) {
      map_[inputs[0]] = graph_->inputs()[0];
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      map_[inputs[first + i]] = graph_->addInput(asIdentifier(arguments[i].name()))->setType(arguments[i].type());
    }
  }

  // The engines and tensors of this call, in front of all else.
  void takeWeights() {
    Value* set = getAttribute(*graph_, runtime::WeightSet::kAttribute,
                              c10::getCustomClassType<c10::intrusive_ptr<runtime::WeightSet>>());
    torch::jit::Node* call = graph_->insertNode(graph_->create(torch::jit::prim::CallMethod, {set}));
    call->s_(torch::jit::attr::name, runtime::WeightSet::kCurrent);
    const auto& engine_type = c10::getCustomClassType<c10::intrusive_ptr<runtime::Engine>>();
    call->output()->setType(c10::TupleType::create({c10::ListType::create(engine_type), c10::ListType::ofTensors()}));
    torch::jit::Node* lists = graph_->insertNode(graph_->createTupleUnpack(call->output()));
    tensors_ = lists->output(1);
    if (!engines_.empty()) {
      torch::jit::Node* unpack = graph_->insertNode(graph_->createListUnpack(lists->output(0), engines_.size()));
      held_.assign(unpack->outputs().begin(), unpack->outputs().end());
    }
  }

  void holdWeights() {
    std::vector<at::Tensor> tensors = hoistConstants(*graph_, *tensors_);
    if (options_.owns_constants) {
      tensors = copiesOf(tensors);
    }
    const c10::IValue set(c10::make_intrusive<runtime::WeightSet>(engines_, std::move(tensors)));
    module_.register_attribute(runtime::WeightSet::kAttribute, set.type(), set);
  }

  // Returns the holder of the next engine, or of one that was emitted before.
  Value* holderOf(size_t engine) {
    if (options_.updatable) {
      return held_.at(engine);
    }
    const std::string attribute = engineName(options_.module_name, engine, engines_.size());
    return module_.hasattr(attribute) ? getAttribute(*graph_, attribute, module_.attr(attribute).type())
                                      : holdEngine(*graph_, module_, attribute, engines_[engine]);
  }

  std::vector<Value*> emitAll() {
    emit(partition_.segments);
    std::vector<Value*> results;
    for (Value* output : partition_.graph->outputs()) {
      results.push_back(mapped(output));
    }
    return results;
  }

  std::vector<Value*> emitBranch(const OtherCalls& others) {
    const std::vector<Value*> arguments(graph_->inputs().begin() + 1, graph_->inputs().end());
    Value* question = torch::jit::insertGraph(*graph_, *others.question, arguments).front();
    torch::jit::Node* branch = graph_->insertNode(graph_->create(torch::jit::prim::If, {question}, 0));
    torch::jit::Block* expected = branch->addBlock();
    torch::jit::Block* other = branch->addBlock();
    {
      const torch::jit::WithInsertPoint inside(expected);
      for (Value* result : emitAll()) {
        expected->registerOutput(result);
      }
    }
    {
      const torch::jit::WithInsertPoint inside(other);
      for (Value* result : torch::jit::insertGraph(*graph_, *others.graph, withKept(arguments, others.kept))) {
        other->registerOutput(result);
      }
    }
    for (const Value* output : others.graph->outputs()) {
      branch->addOutput()->setType(output->type());
    }
    return branch->outputs().vec();
  }

  // The arguments and, behind them, constants that engines keep.
  std::vector<Value*> withKept(std::vector<Value*> arguments, const std::vector<std::pair<size_t, size_t>>& kept) {
    std::map<size_t, torch::jit::Node*> unpacked;  // by engine
    for (const auto& [engine, number] : kept) {
      torch::jit::Node*& constants = unpacked[engine];
      if (constants == nullptr) {
        torch::jit::Node* list =
            graph_->create(c10::Symbol::fromQualString(runtime::kKeptConstants), {holderOf(engine)});
        graph_->insertNode(list)->output()->setType(c10::ListType::ofTensors());
        const size_t count = engines_[engine]->kept()->constantCount();
        constants = graph_->insertNode(graph_->createListUnpack(list->output(), count));
      }
      arguments.push_back(constants->output(number));
    }
    return arguments;
  }

  Value* mapped(Value* value) {
    const auto found = map_.find(value);
    if (found != map_.end()) {
      return found->second;
    }
    torch::jit::Node* node = value->node();
    TORCHTRT_CHECK(node->kind() != torch::jit::prim::Param && node->blocks().empty(),
                   "%" << value->debugName() << " is made by an earlier segment");
    copyNode(node);
    return map_.at(value);
  }

  std::vector<Value*> mapped(const std::vector<const Value*>& values) {
    std::vector<Value*> result;
    result.reserve(values.size());
    for (const Value* value : values) {
      result.push_back(mapped(const_cast<Value*>(value)));
    }
    return result;
  }

  void map(torch::jit::Node* node, torch::jit::Node* copy) {
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      map_[node->output(i)] = copy->output(i);
    }
  }

  void copyNode(torch::jit::Node* node) {
    // Operands first: what is copied for them goes in front of the node.
    torch::jit::Node* copy = graph_->createClone(node, [this](Value* value) { return mapped(value); });
    map(node, graph_->insertNode(copy));
  }

  void emit(const std::vector<partitioning::Segment>& segments) {
    for (const partitioning::Segment& segment : segments) {
      if (segment.target == partitioning::Target::kEngine) {
        runEngine(segment);
      } else if (segment.do_not_merge) {
        copyControl(segment);
      } else {
        for (const torch::jit::Node* node : segment.nodes) {
          copyNode(const_cast<torch::jit::Node*>(node));
        }
      }
    }
  }

  void runEngine(const partitioning::Segment& segment) {
    TORCHTRT_CHECK(next_engine_ < engines_.size(), "one engine per engine segment, got " << engines_.size());
    const std::vector<Value*> inputs = mapped(segment.inputs);
    Value* holder = holderOf(next_engine_);
    const std::vector<Value*> outputs = emitEngine(*graph_, holder, *engines_[next_engine_++], inputs, segment.updates);
    TORCHTRT_CHECK(outputs.size() == segment.outputs.size(), outputs.size() << " against " << segment.outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] != nullptr) {
        map_[segment.outputs[i]] = outputs[i];
      }
    }
  }

  // A branch or loop of the same kind, with the segments of its blocks inside.
  void copyControl(const partitioning::Segment& segment) {
    auto* node = const_cast<torch::jit::Node*>(segment.nodes.front());
    std::vector<Value*> inputs;
    for (Value* input : node->inputs()) {
      inputs.push_back(mapped(input));
    }
    torch::jit::Node* copy = graph_->insertNode(graph_->create(node->kind(), inputs, node->outputs().size()));
    copy->copyMetadata(node);
    copy->copyAttributes(*node);
    for (size_t i = 0; i < segment.blocks.size(); ++i) {
      // Values that are copied in here are not seen outside.
      const auto outside = map_;
      torch::jit::Block* block = node->blocks()[i];
      torch::jit::Block* new_block = copy->addBlock();
      for (Value* input : block->inputs()) {
        map_[input] = new_block->addInput()->copyMetadata(input);
      }
      const torch::jit::WithInsertPoint inside(new_block);
      emit(segment.blocks[i]);
      for (Value* output : block->outputs()) {
        new_block->registerOutput(mapped(output));
      }
      map_ = outside;
    }
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      copy->output(i)->copyMetadata(node->output(i));
    }
    map(node, copy);
  }

  const partitioning::Partition& partition_;
  const std::vector<c10::intrusive_ptr<runtime::Engine>>& engines_;
  const StitchOptions& options_;
  torch::jit::Module module_;
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::unordered_map<const Value*, Value*> map_;
  size_t next_engine_ = 0;
  std::vector<Value*> held_;  // the engines of an updatable module's call
  Value* tensors_ = nullptr;  // and its list of tensors
};

}  // namespace

torch::jit::Module stitch(const partitioning::Partition& partition,
                          const std::vector<c10::intrusive_ptr<runtime::Engine>>& engines,
                          const StitchOptions& options) {
  return Stitcher(partition, engines, options).run();
}

void attachRecord(torch::jit::Module& module, const std::string& text, const std::string& json) {
  for (const auto& [name, record] : {std::pair(kRecord, text), std::pair(kJsonRecord, json)}) {
    if (module.hasattr(name)) {  // of a compiled module that was compiled again
      module.setattr(name, record);
    } else {
      module.register_attribute(name, c10::StringType::get(), record);
    }
  }
}

}  // namespace torchtrt::stitching
