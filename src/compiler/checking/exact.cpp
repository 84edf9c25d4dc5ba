#include "compiler/checking/exact.h"

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/checking/validation.h"
#include "compiler/module/plain_run.h"

namespace torchtrt::compiler {

namespace {

using torch::jit::IValue;
using torch::jit::Node;

at::Tensor doubled(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_floating_point() ? tensor.to(at::kDouble) : tensor;
}

// Takes the collections that constants and arguments can be.
IValue doubled(const IValue& value) {
  if (value.isTensor()) {
    return doubled(value.toTensor());
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> tensors;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      tensors.push_back(doubled(tensor));
    }
    return tensors;
  }
  if (value.isTuple()) {
    std::vector<IValue> elements;
    for (const IValue& element : value.toTupleRef().elements()) {
      elements.push_back(doubled(element));
    }
    return c10::ivalue::Tuple::create(std::move(elements));
  }
  return value;
}

void doubleConstant(Node& node) {
  const std::optional<IValue> value = torch::jit::toIValue(node.output());
  if (!value) {
    return;
  }
  if (value->isTensor() && value->toTensor().defined()) {
    node.t_(torch::jit::attr::value, doubled(value->toTensor()));
    node.output()->setType(at::TensorType::get());
  } else if (value->isTensorList()) {
    node.ival_(torch::jit::attr::value, doubled(*value));
  }
}

// Arguments that name a floating dtype.
void doubleCasts(Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  for (size_t i = 0; schema != nullptr && i < node.inputs().size() && i < schema->arguments().size(); ++i) {
    const std::optional<IValue> value =
        schema->arguments()[i].name() == "dtype" ? torch::jit::toIValue(node.input(i)) : std::nullopt;
    if (value && value->isInt() && at::isFloatingType(static_cast<at::ScalarType>(value->toInt()))) {
      const torch::jit::WithInsertPoint before(&node);
      node.replaceInput(i, node.owningGraph()->insertConstant(static_cast<int64_t>(at::kDouble)));
    }
  }
}

void doubleBlock(torch::jit::Block& block) {
  for (Node* node : block.nodes()) {
    if (node->kind() == torch::jit::prim::Constant) {
      doubleConstant(*node);
    } else {
      doubleCasts(*node);
    }
    for (torch::jit::Block* inner : node->blocks()) {
      doubleBlock(*inner);
    }
  }
}

}  // namespace

std::optional<torch::jit::Stack> interpretInDouble(const torch::jit::Graph& graph, const torch::jit::Stack& inputs) {
  const at::NoGradGuard no_grad;
  const std::shared_ptr<torch::jit::Graph> copy = const_cast<torch::jit::Graph&>(graph).copy();
  torch::jit::Stack arguments;
  for (const IValue& input : inputs) {
    arguments.push_back(doubled(input.deepcopy()));
  }
  try {
    doubleBlock(*copy->block());
    return interpret(copy, std::move(arguments));
  } catch (const std::exception&) {
    return std::nullopt;  // an operator without float64, or one that wants the dtype that it was written for
  }
}

}  // namespace torchtrt::compiler
