#include "compiler/segments/tensor_devices.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include <torch/csrc/jit/ir/constants.h>

#include "runtime/torch_device.h"

namespace torchtrt::compiler {

namespace {

namespace prim = torch::jit::prim;
using torch::jit::Block;
using torch::jit::IValue;
using torch::jit::Node;
using torch::jit::Value;

// kMade: on the CPU, made there of nothing that is on the device.
enum class Where { kHere, kMade, kElsewhere };

bool isDeviceQuestion(const Node& node) {
  static const std::unordered_set<std::string> kinds = {"prim::device", "prim::is_cuda", "prim::is_cpu"};
  return kinds.count(node.kind().toQualString()) != 0;
}

// Nodes that hand tensors on, and compute nothing.
bool isPlumbing(const Node& node) {
  static const std::unordered_set<c10::Symbol> kinds = {prim::Constant,       prim::ListConstruct, prim::ListUnpack,
                                                        prim::TupleConstruct, prim::TupleUnpack,   prim::TupleIndex,
                                                        prim::GetAttr,        prim::SetAttr,       prim::DictConstruct,
                                                        prim::Uninitialized,  prim::unchecked_cast};
  return kinds.count(node.kind()) != 0;
}

class Walk {
 public:
  explicit Walk(const at::Device& device) : device_(device) {}

  void walk(const Block& block) {
    for (const Node* node : block.nodes()) {
      walk(*node);
    }
  }

  // The nodes that cannot be on the device, each with its reason.
  std::unordered_map<const Node*, Refusal> refusals;

  // Refuses tensors on the CPU that are seen there: they are not to be made on the device.
  void refuseWhatShows(const Block& block) {
    std::vector<const Node*> nodes(block.nodes().begin(), block.nodes().end());
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      for (const Block* inner : (*node)->blocks()) {
        refuseWhatShows(*inner);
      }
      const auto shows = [&](const Value* output) { return of(*output) == Where::kMade && isSeen(*output); };
      if (!isPlumbing(**node) && std::any_of((*node)->outputs().begin(), (*node)->outputs().end(), shows)) {
        refuse(**node, "its result is on the cpu");
      }
    }
  }

  Where of(const Value& value) const {
    const auto known = where_.find(&value);
    return known == where_.end() ? Where::kHere : known->second;
  }

 private:
  void walk(const Node& node) {
    if (node.kind() == prim::Constant) {
      set(node, ofConstant(node));
      return;
    }
    const std::vector<Where> operands = operandsOf(node);
    const bool takes_elsewhere = std::count(operands.begin(), operands.end(), Where::kElsewhere) != 0;
    for (const Block* inner : node.blocks()) {
      passInto(node, *inner);
      walk(*inner);
    }
    if (!node.blocks().empty()) {
      giveOut(node);
      return;
    }
    const Where result = ofResult(node, operands);
    set(node, result);
    if (isPlumbing(node) || isDeviceQuestion(node)) {
      return;
    }
    if (takes_elsewhere) {
      refuse(node, "it takes a tensor that is not on " + device_.str());
    } else if (result == Where::kElsewhere) {
      refuse(node, "its result is not on " + device_.str() + ", where the engine runs");
    }
  }

  void refuse(const Node& node, const std::string& why) {
    refusals.emplace(&node, Refusal{"device", why});
  }

  void set(const Node& node, Where where) {
    for (const Value* output : node.outputs()) {
      where_[output] = where;
    }
  }

  Where ofDevice(const at::Device& device) const {
    const at::Device exact = runtime::withIndex(device);
    return exact == device_ ? Where::kHere : exact.is_cpu() ? Where::kMade : Where::kElsewhere;
  }

  Where ofConstant(const Node& node) const {
    const auto value = torch::jit::toIValue(node.output());
    const bool is_tensor = value && value->isTensor() && value->toTensor().defined();
    return is_tensor ? ofDevice(value->toTensor().device()) : Where::kHere;
  }

  static bool carriesTensors(const Value& value) {
    const c10::TypePtr& type = value.type();
    return type->kind() != c10::TypeKind::DeviceObjType && !type->isSubtypeOf(*c10::NumberType::get()) &&
           type->kind() != c10::TypeKind::StringType && type->kind() != c10::TypeKind::BoolType &&
           type->kind() != c10::TypeKind::NoneType && !type->isSubtypeOf(*c10::ListType::ofInts()) &&
           !type->isSubtypeOf(*c10::ListType::ofFloats());
  }

  std::vector<Where> operandsOf(const Node& node) const {
    std::vector<Where> operands;
    for (const Value* input : node.inputs()) {
      if (carriesTensors(*input)) {
        operands.push_back(of(*input));
      }
    }
    return operands;
  }

  static Where together(const std::vector<Where>& operands) {
    if (std::count(operands.begin(), operands.end(), Where::kHere) != 0 || operands.empty()) {
      return Where::kHere;
    }
    const bool is_made = std::count(operands.begin(), operands.end(), Where::kElsewhere) == 0;
    return is_made ? Where::kMade : Where::kElsewhere;
  }

  // The device that an argument names: nothing where it is None, and the engine's where only the run shows it.
  std::optional<at::Device> deviceArgument(const Value& value) const {
    const auto known = torch::jit::toIValue(&value);
    if (known) {
      return known->isDevice() ? std::optional(known->toDevice()) : std::nullopt;
    }
    const Node& asked = *value.node();
    const bool is_made = asked.kind() == prim::device && of(*asked.input()) == Where::kMade;
    return is_made ? at::Device(at::kCPU) : device_;
  }

  Where ofResult(const Node& node, const std::vector<Where>& operands) const {
    const std::string kind = node.kind().toQualString();
    const Where as_operands = together(operands);
    if (kind == "aten::cpu") {
      return moved(as_operands, at::kCPU);
    }
    if (kind == "aten::cuda") {
      return moved(as_operands, device_.is_cpu() ? at::Device(at::kCUDA) : device_);
    }
    const bool takes_other =
        kind == "aten::to" && node.inputs().size() > 1 && node.input(1)->type()->kind() == c10::TypeKind::TensorType;
    if (takes_other || kind == "aten::type_as") {
      return of(*node.input(1));
    }
    const c10::FunctionSchema* schema = node.maybeSchema();
    if (schema == nullptr) {
      return as_operands;
    }
    const auto position = schema->argumentIndexWithName("device");
    if (!position) {
      return as_operands;
    }
    const auto device = deviceArgument(*node.input(static_cast<size_t>(*position)));
    if (!operands.empty() && takesTensor(*schema)) {
      return device ? moved(as_operands, *device) : as_operands;
    }
    return ofDevice(device.value_or(at::kCPU));
  }

  static bool takesTensor(const c10::FunctionSchema& schema) {
    return !schema.arguments().empty() && schema.arguments()[0].type()->kind() == c10::TypeKind::TensorType;
  }

  // A tensor that comes from the device to the CPU is there for somebody to see.
  Where moved(Where from, const at::Device& to) const {
    const Where where = ofDevice(to);
    return where == Where::kMade && from != Where::kMade ? Where::kElsewhere : where;
  }

  void passInto(const Node& node, const Block& inner) {
    const size_t first = node.kind() == prim::Loop ? 2 : 0;  // the number of trips, and whether there is one
    for (size_t i = 1; node.kind() == prim::Loop && i < inner.inputs().size(); ++i) {
      where_[inner.inputs()[i]] = of(*node.inputs()[first + i - 1]);
    }
  }

  void giveOut(const Node& node) {
    const size_t first = node.kind() == prim::Loop ? 1 : 0;  // whether the loop goes on
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      std::vector<Where> given;
      for (const Block* inner : node.blocks()) {
        if (first + i < inner->outputs().size()) {
          given.push_back(of(*inner->outputs()[first + i]));
        }
      }
      const bool are_same = std::adjacent_find(given.begin(), given.end(), std::not_equal_to<>()) == given.end();
      where_[node.outputs()[i]] = are_same && !given.empty() ? given.front() : Where::kElsewhere;
    }
  }

  bool isSeen(const Value& value) const {
    return std::any_of(value.uses().begin(), value.uses().end(), [&](const torch::jit::Use& use) {
      const Node& user = *use.user;
      if (user.kind() == prim::Return || user.kind() == prim::SetAttr || refusals.count(&user) != 0) {
        return true;
      }
      return isPlumbing(user) && std::any_of(user.outputs().begin(), user.outputs().end(),
                                             [&](const Value* output) { return isSeen(*output); });
    });
  }

  at::Device device_;
  std::unordered_map<const Value*, Where> where_;
};

void answer(Block& block, const Walk& walk, const at::Device& device) {
  for (auto it = block.nodes().begin(); it != block.nodes().end();) {
    Node* node = *it++;
    for (Block* inner : node->blocks()) {
      answer(*inner, walk, device);
    }
    const Where where =
        isDeviceQuestion(*node) && node->inputs().size() == 1 ? walk.of(*node->input()) : Where::kElsewhere;
    if (where == Where::kElsewhere) {
      continue;
    }
    const at::Device answered = where == Where::kHere ? device : at::Device(at::kCPU);
    const bool is_yes =
        node->kind() == c10::Symbol::fromQualString("prim::is_cuda") ? answered.is_cuda() : answered.is_cpu();
    const torch::jit::WithInsertPoint before(node);
    Value* constant =
        node->owningGraph()->insertConstant(node->kind() == prim::device ? IValue(answered) : IValue(is_yes));
    node->output()->replaceAllUsesWith(constant);
    node->destroy();
  }
}

}  // namespace

std::unordered_map<const Node*, Refusal> elsewhere(const torch::jit::Graph& graph, const at::Device& device) {
  Walk walk(device);
  walk.walk(*const_cast<torch::jit::Graph&>(graph).block());
  walk.refuseWhatShows(*const_cast<torch::jit::Graph&>(graph).block());
  return std::move(walk.refusals);
}

void answerDeviceQuestions(torch::jit::Graph& graph, const at::Device& device) {
  Walk walk(device);
  walk.walk(*graph.block());
  answer(*graph.block(), walk, device);
}

}  // namespace torchtrt::compiler
