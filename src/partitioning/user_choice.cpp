#include "partitioning/user_choice.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <regex>

#include <torch/csrc/jit/ir/scope.h>
#include <torch/csrc/jit/runtime/operator.h>

namespace torchtrt::partitioning {

namespace {

// "__torch__.torchvision.models.___torch_mangle_4.ResNet" -> "torchvision.models.ResNet"
std::string plainName(const std::string& qualified) {
  static const std::regex kMangled("(^__torch__\\.)|(___torch_mangle_[0-9]+\\.)");
  return std::regex_replace(qualified, kMangled, "");
}

// Maps operators to what lowering makes of them: people know them by their old names.
const std::multimap<std::string, std::string>& loweredNames() {
  static const std::multimap<std::string, std::string> names = [] {
    std::multimap<std::string, std::string> made = {{"aten::addmm", "aten::linear"},
                                                    {"aten::native_batch_norm", "aten::batch_norm"},
                                                    {"aten::cudnn_batch_norm", "aten::batch_norm"}};
    for (const char* view : {"aten::view", "aten::_unsafe_view", "aten::_reshape_alias"}) {
      made.emplace(view, "aten::reshape");
    }
    for (const char* general : {"aten::_convolution", "aten::convolution"}) {
      for (const char* rank : {"1d", "2d", "3d"}) {
        made.emplace(general, std::string("aten::conv") + rank);
        made.emplace(general, std::string("aten::conv_transpose") + rank);
      }
    }
    return made;
  }();
  return names;
}

// True if the user's name for an operator means this kind. In-place forms become functional.
bool means(const std::string& name, const std::string& kind) {
  if (name == kind || name == kind + "_") {
    return true;
  }
  const auto [begin, end] = loweredNames().equal_range(name);
  return std::any_of(begin, end, [&](const auto& lowered) { return lowered.second == kind; });
}

struct Call {
  std::string class_name;  // plain
  std::string path;        // from the outermost module: "layer1.0"
};

// The modules that the node was inlined from, outermost first.
std::vector<Call> callsOf(const torch::jit::Node& node) {
  std::vector<Call> calls;
  if (!node.callstack()) {
    return calls;
  }
  std::string path;
  for (const auto& entry : (*node.callstack())->vec()) {
    const auto& instance = std::get<2>(entry);
    if (!instance || !instance->class_type()) {
      continue;
    }
    const std::string name = instance->instance_name();
    if (!name.empty() && name != "self" && name != "SELF") {
      path += (path.empty() ? "" : ".") + name;
    }
    const auto class_name = instance->class_type()->name();
    calls.push_back({class_name ? plainName(class_name->qualifiedName()) : "", path});
  }
  return calls;
}

bool isOperator(const std::string& name) {
  const size_t colons = name.find("::");
  if (colons == 0 || colons == std::string::npos || colons + 2 == name.size()) {
    return false;
  }
  // The interpreter's own, such as prim::If, are not registered.
  return name.compare(0, 6, "prim::") == 0 ||
         !torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name)).empty();
}

}  // namespace

std::optional<Refusal> refusalBy(const UserChoice& choice, const torch::jit::Node& node) {
  const std::string kind = node.kind().toQualString();
  const auto& kept = choice.torch_executed_ops;
  if (std::any_of(kept.begin(), kept.end(), [&](const std::string& name) { return means(name, kind); })) {
    return Refusal{"torch-executed-op", "torch_executed_ops keeps " + kind + " in PyTorch"};
  }
  if (choice.torch_executed_modules.empty()) {
    return std::nullopt;
  }
  const std::vector<Call> calls = callsOf(node);
  for (const std::string& wanted : choice.torch_executed_modules) {
    const std::string plain = plainName(wanted);
    if (std::any_of(calls.begin(), calls.end(),
                    [&](const Call& call) { return call.class_name == plain || call.path == plain; })) {
      return Refusal{"torch-executed-module", "torch_executed_modules keeps " + wanted + " in PyTorch"};
    }
  }
  return std::nullopt;
}

std::vector<std::string> namesOfNothing(const UserChoice& choice, const torch::jit::Module* module) {
  std::vector<std::string> names;
  std::copy_if(choice.torch_executed_ops.begin(), choice.torch_executed_ops.end(), std::back_inserter(names),
               [](const std::string& name) { return !isOperator(name); });
  if (module == nullptr || choice.torch_executed_modules.empty()) {
    return names;
  }
  std::set<std::string> known;
  for (const auto& named : module->named_modules()) {
    known.insert(named.name);
    if (const auto class_name = named.value.type()->name()) {
      known.insert(plainName(class_name->qualifiedName()));
    }
  }
  std::copy_if(choice.torch_executed_modules.begin(), choice.torch_executed_modules.end(), std::back_inserter(names),
               [&](const std::string& name) { return known.count(plainName(name)) == 0; });
  return names;
}

}  // namespace torchtrt::partitioning
