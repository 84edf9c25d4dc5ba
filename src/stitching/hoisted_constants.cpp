#include "stitching/hoisted_constants.h"

#include <map>
#include <tuple>

#include <torch/csrc/jit/ir/constants.h>

#include "torchtrt/error.h"

namespace torchtrt::stitching {

namespace {

using torch::jit::IValue;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

class Hoister {
 public:
  Hoister(torch::jit::Graph& graph, Value& list) : graph_(graph), unpack_(graph.createListUnpack(&list, 0)) {
    unpack_->insertAfter(list.node());
  }

  std::vector<at::Tensor> run() {
    hoist(*graph_.block());
    if (tensors_.empty()) {
      unpack_->destroy();
    }
    return std::move(tensors_);
  }

 private:
  void hoist(torch::jit::Block& block) {
    for (auto it = block.nodes().begin(); it != block.nodes().end();) {
      Node* node = *it++;
      for (torch::jit::Block* inner : node->blocks()) {
        hoist(*inner);
      }
      const auto value = node->kind() == prim::Constant ? torch::jit::toIValue(node->output()) : std::nullopt;
      if (value && holdsTensors(*value, *node)) {
        const torch::jit::WithInsertPoint here(node);
        node->output()->replaceAllUsesWith(made(*value, *node->output()));
        node->destroy();
      }
    }
  }

  static bool holdsTensors(const IValue& value, const Node& node) {
    bool holds = false;
    value.visit([&](const IValue& part) {
      holds = holds || (part.isTensor() && part.toTensor().defined());
      if (part.isObject() || part.isCapsule()) {
        reject(node, part);
      }
      return false;
    });
    return holds;
  }

  [[noreturn]] static void reject(const Node& node, const IValue& part) {
    throw CompileError(ErrorCode::kInvalidModule,
                       "refit is set, and %" + node.output()->debugName() + " is a constant of type " +
                           part.type()->repr_str() + ", whose weights no update could replace",
                       {}, "compile without refit, and compile again for other weights");
  }

  Value* made(const IValue& value, const Value& constant) {
    if (value.isTensor() && value.toTensor().defined()) {
      tensors_.push_back(value.toTensor());
      return unpack_->addOutput()->setType(c10::TensorType::get());
    }
    std::vector<Value*> elements;
    if (value.isTuple()) {
      for (const IValue& element : value.toTupleRef().elements()) {
        elements.push_back(made(element, constant));
      }
      const auto type = constant.type()->cast<c10::TupleType>();
      return graph_.insertNode(graph_.createTuple(elements, type && type->schema() ? type : nullptr))->output();
    }
    if (value.isList()) {
      for (const IValue& element : value.toListRef()) {
        elements.push_back(made(element, constant));
      }
      return graph_.insertNode(graph_.createList(value.type()->expectRef<c10::ListType>().getElementType(), elements))
          ->output();
    }
    if (value.isGenericDict()) {
      reject(*constant.node(), value);
    }
    return graph_.insertConstant(value);
  }

  torch::jit::Graph& graph_;
  Node* unpack_;
  std::vector<at::Tensor> tensors_;
};

}  // namespace

std::vector<at::Tensor> hoistConstants(torch::jit::Graph& graph, Value& list) {
  return Hoister(graph, list).run();
}

std::vector<at::Tensor> copiesOf(const std::vector<at::Tensor>& tensors) {
  std::map<std::tuple<const void*, std::vector<int64_t>, std::vector<int64_t>, at::ScalarType>, at::Tensor> known;
  std::vector<at::Tensor> copies;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.has_storage() || tensor.layout() != at::kStrided) {
      copies.push_back(tensor.clone());
      continue;
    }
    at::Tensor& copy =
        known[{tensor.const_data_ptr(), tensor.sizes().vec(), tensor.strides().vec(), tensor.scalar_type()}];
    copy = copy.defined() ? copy : tensor.clone();
    copies.push_back(copy);
  }
  return copies;
}

}  // namespace torchtrt::stitching
