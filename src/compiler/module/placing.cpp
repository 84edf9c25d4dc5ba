#include "compiler/module/placing.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <torch/csrc/jit/ir/constants.h>

#include "compiler/module/source.h"
#include "runtime/torch_device.h"

namespace torchtrt::compiler {

namespace {

using torch::jit::Block;
using torch::jit::IValue;
using torch::jit::Node;
using torch::jit::Value;

bool isElsewhere(const at::Tensor& tensor, const at::Device& device) {
  return tensor.defined() && !tensor.is_meta() && tensor.device() != device;
}

// Replaces the constants for which `change` gives another value; it gives nothing for those that stay.
template <typename Change>
void changeConstants(Block& block, const Change& change) {
  for (auto it = block.nodes().begin(); it != block.nodes().end();) {
    Node* node = *it++;
    for (Block* inner : node->blocks()) {
      changeConstants(*inner, change);
    }
    const auto value = node->kind() == torch::jit::prim::Constant ? torch::jit::toIValue(node->output()) : std::nullopt;
    const std::optional<IValue> changed = value ? change(*value) : std::nullopt;
    if (changed) {
      const torch::jit::WithInsertPoint before(node);
      Value* made = node->owningGraph()->insertConstant(*changed);
      made->setDebugName(node->output()->debugName() + "_there");
      made->node()->setSourceRange(node->sourceRange());
      node->output()->replaceAllUsesWith(made);
      node->destroy();
    }
  }
}

}  // namespace

Source placed(const Source& source, const at::Device& device) {
  if (!source.module) {
    return source;
  }
  const std::vector<at::Tensor> tensors = tensorsOf(*source.module);
  if (std::none_of(tensors.begin(), tensors.end(), [&](const at::Tensor& each) { return isElsewhere(each, device); })) {
    return source;
  }
  auto copy = std::make_shared<torch::jit::Module>(source.module->deepcopy());
  copy->to(device);
  return {copy, source.method, nullptr};
}

IValue placed(const IValue& value, const at::Device& device) {
  IValue::HashAliasedIValues tensors;
  value.getSubValues(tensors);
  const bool moves = std::any_of(tensors.begin(), tensors.end(), [&](const IValue& each) {
    return each.isTensor() && isElsewhere(each.toTensor(), device);
  });
  return moves ? value.deepcopy(device) : value;
}

std::vector<IValue> placed(std::vector<IValue> values, const at::Device& device) {
  for (IValue& value : values) {
    value = placed(value, device);
  }
  return values;
}

bool retarget(Block& block, const DeviceTarget& target) {
  bool any = false;
  const auto is_changed = [&](const at::Device& device) {
    const at::Device exact = runtime::withIndex(device);
    std::string why;
    return exact != target.device && ((exact == target.from) || !runtime::isThere(exact, why));
  };
  changeConstants(block, [&](const IValue& value) -> std::optional<IValue> {
    // The 0-d tensor of a Python number promotes as a number only while it keeps its mark, which a copy loses.
    const bool is_tensor = value.isTensor() && value.toTensor().defined() && !value.toTensor().is_meta() &&
                           !value.toTensor().unsafeGetTensorImpl()->is_wrapped_number();
    if (!(value.isDevice() && is_changed(value.toDevice())) && !(is_tensor && is_changed(value.toTensor().device()))) {
      return std::nullopt;
    }
    any = true;
    return value.isDevice() ? IValue(target.device) : IValue(value.toTensor().to(target.device));
  });
  return any;
}

IValue onHost(const IValue& constant, runtime::HostCopies& copies) {
  if (constant.isDevice()) {
    return at::Device(at::kCPU);
  }
  if (constant.isTensor()) {
    return copies.of(constant.toTensor());
  }
  if (constant.isTensorList()) {
    c10::List<at::Tensor> tensors;
    for (const at::Tensor& tensor : constant.toTensorVector()) {
      tensors.push_back(copies.of(tensor));
    }
    return tensors;
  }
  return constant;
}

void bringToHost(Block& block, runtime::HostCopies& copies) {
  changeConstants(block, [&](const IValue& value) -> std::optional<IValue> {
    const bool is_there = value.isTensor() && value.toTensor().defined() && isElsewhere(value.toTensor(), at::kCPU);
    return is_there || value.isTensorList() ? std::optional(onHost(value, copies)) : std::nullopt;
  });
}

void followInputs(torch::jit::Graph& graph, const at::Device& device) {
  const auto inputs = graph.inputs();
  const auto input = std::find_if(inputs.begin(), inputs.end(),
                                  [](const Value* each) { return each->type()->kind() == c10::TypeKind::TensorType; });
  if (input == inputs.end()) {
    return;
  }
  Value* asked = nullptr;
  const auto follow = [&](auto& self, Block& block) -> void {
    for (auto it = block.nodes().begin(); it != block.nodes().end();) {
      Node* node = *it++;
      for (Block* inner : node->blocks()) {
        self(self, *inner);
      }
      const auto value =
          node->kind() == torch::jit::prim::Constant ? torch::jit::toIValue(node->output()) : std::nullopt;
      if (!value || !value->isDevice() || value->toDevice() != device) {
        continue;
      }
      if (asked == nullptr) {
        Node* ask = graph.create(torch::jit::prim::device, {*input});
        ask->output()->setType(c10::DeviceObjType::get());
        graph.prependNode(ask);
        asked = ask->output();
      }
      node->output()->replaceAllUsesWith(asked);
      node->destroy();
    }
  };
  follow(follow, *graph.block());
}

}  // namespace torchtrt::compiler
