#include "lowering/passes/in_place.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lowering/graph_walk.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// Returns the name of the functional form if it is another one.
std::optional<std::string> renamedForm(const Node& node) {
  static const std::map<std::string, std::string> names = {{"aten::zero_", "aten::zeros_like"},
                                                           {"aten::fill_", "aten::full_like"}};
  const auto found = names.find(node.kind().toQualString());
  const bool fills_with_tensor = node.inputs().size() > 1 && isTensor(*node.input(1));
  return found == names.end() || fills_with_tensor ? std::nullopt : std::optional(found->second);
}

std::string withoutUnderscore(const Node& node) {
  const std::string kind = node.kind().toQualString();
  return kind.substr(0, kind.size() - 1);
}

// Null where no operator of that name takes the inputs and gives one result without writing.
Node* createForm(Graph& graph, const std::string& kind, const std::vector<Value*>& inputs) {
  Node* functional = graph.create(c10::Symbol::fromQualString(kind), inputs);
  const auto* schema = functional->maybeSchema();
  if (!schema || schema->is_mutable() || schema->returns().size() != 1) {
    functional->destroy();
    return nullptr;
  }
  return functional;
}

// Results of these are of another dtype than the operand, which an in-place form keeps.
bool changesType(const Node& functional) {
  static const std::set<std::string> kinds = {
      "aten::eq", "aten::ne",          "aten::lt",          "aten::le",         "aten::gt",
      "aten::ge", "aten::logical_not", "aten::logical_and", "aten::logical_or", "aten::logical_xor"};
  const auto is_tensor = [](const Value* value) { return isTensor(*value); };
  return kinds.count(functional.kind().toQualString()) != 0 ||
         std::count_if(functional.inputs().begin(), functional.inputs().end(), is_tensor) > 1;
}

}  // namespace

bool isInPlace(const Node& node) {
  const auto* schema = node.maybeSchema();
  return schema && node.kind().is_aten() && node.outputs().size() == 1 && !schema->arguments().empty() &&
         schema->name().back() == '_' && !schema->name().ends_with("__") &&
         schema->is_mutable({c10::SchemaArgType::input, 0}) && isTensor(*node.input(0));
}

bool hasFunctionalForm(const Node& node) {
  if (renamedForm(node)) {
    return true;
  }
  Node* functional = createForm(*const_cast<Node&>(node).owningGraph(), withoutUnderscore(node),
                                const_cast<Node&>(node).inputs().vec());
  if (functional == nullptr) {
    return false;
  }
  functional->destroy();
  return true;
}

Node* functionalForm(Graph& graph, Node& node) {
  std::vector<Value*> inputs = node.inputs().vec();
  const auto other = renamedForm(node);
  if (other) {  // dtype, layout, device, pin_memory, memory_format
    torch::jit::WithInsertPoint guard(&node);
    inputs.insert(inputs.end(), 5, graph.insertConstant(torch::jit::IValue()));
  }
  return createForm(graph, other ? *other : withoutUnderscore(node), inputs);
}

Value* keepType(Graph& graph, Node& functional, Value* written) {
  if (!changesType(functional)) {
    return functional.output();
  }
  Node* cast = graph.create(c10::Symbol::fromQualString("aten::type_as"), {functional.output(), written});
  cast->insertAfter(&functional);
  cast->copyMetadata(&functional);
  return cast->output();
}

}  // namespace torchtrt::lowering
