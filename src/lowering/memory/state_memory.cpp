#include "lowering/memory/state_memory.h"

#include <torch/csrc/jit/api/function_impl.h>

#include <map>
#include <utility>
#include <vector>

#include "lowering/graph_walk.h"
#include "lowering/passes/in_place.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::IValue;
using torch::jit::Module;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

// Returns the attributes' own names, whoever owns them.
std::set<std::string> namesSetByMethods(const Module& module) {
  std::set<std::string> names;
  for (const Module& each : module.modules()) {
    for (torch::jit::Function* method : each.type()->methods()) {
      forEachNode(torch::jit::toGraphFunction(*method).graph()->block(), [&](const Node* node) {
        if (node->kind() == prim::SetAttr && !setsToItself(*node)) {
          names.insert(node->s(torch::jit::attr::name));
        }
      });
    }
  }
  return names;
}

}  // namespace

std::set<std::string> tensorsApart(const Module& module) {
  const std::set<std::string> set_by_methods = namesSetByMethods(module);
  std::map<const void*, size_t> names_of_storage;
  std::vector<std::pair<std::string, const void*>> tensors;
  for (const auto& owner : module.named_modules()) {
    for (const auto& attribute : owner.value.named_attributes(/*recurse=*/false)) {
      if (attribute.value.isModule()) {
        continue;
      }
      IValue::HashAliasedIValues held;  // one for all tensors that share memory
      try {
        attribute.value.getSubValues(held);
      } catch (const c10::Error&) {
        return {};  // objects of C++ classes, such as engines, may hold any memory and do not list it
      }
      held.insert(attribute.value);
      for (const IValue& value : held) {
        if (value.isTensor() && value.toTensor().defined() && value.toTensor().has_storage()) {
          ++names_of_storage[value.toTensor().storage().unsafeGetStorageImpl()];
        }
      }
      const bool is_tensor = attribute.value.isTensor() && attribute.value.toTensor().defined() &&
                             attribute.value.toTensor().has_storage();
      if (is_tensor && set_by_methods.count(attribute.name) == 0) {
        tensors.emplace_back(joined(owner.name, attribute.name),
                             attribute.value.toTensor().storage().unsafeGetStorageImpl());
      }
    }
  }
  std::set<std::string> apart;
  for (const auto& [name, storage] : tensors) {
    if (names_of_storage.at(storage) == 1) {
      apart.insert(name);
    }
  }
  return apart;
}

bool setsToItself(const Node& set) {
  const Value* value = set.input(1);
  while (isInPlace(*value->node())) {
    value = value->node()->input(0);
  }
  const std::string name = value->node()->kind() == prim::GetAttr ? attributeName(*value) : "";
  return !name.empty() && name == joined(attributeName(*set.input(0)), set.s(torch::jit::attr::name));
}

std::string attributeName(const Value& value) {
  std::string name;
  const Value* at = &value;
  while (at->node()->kind() == prim::GetAttr) {
    name = at->node()->s(torch::jit::attr::name) + (name.empty() ? "" : "." + name);
    at = at->node()->input();
  }
  const torch::jit::Graph& graph = *const_cast<Node*>(value.node())->owningGraph();
  return !graph.inputs().empty() && at == graph.inputs()[0] ? name : "";
}

}  // namespace torchtrt::lowering
