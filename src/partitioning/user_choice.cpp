#include "partitioning/user_choice.h"

#include <algorithm>
#include <regex>

#include <torch/csrc/jit/ir/scope.h>

namespace torchtrt::partitioning {

namespace {

// "__torch__.torchvision.models.___torch_mangle_4.ResNet" -> "torchvision.models.ResNet"
std::string plainName(const std::string& qualified) {
  static const std::regex kMangled("(^__torch__\\.)|(___torch_mangle_[0-9]+\\.)");
  return std::regex_replace(qualified, kMangled, "");
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

}  // namespace

std::optional<Refusal> refusalBy(const UserChoice& choice, const torch::jit::Node& node) {
  const std::string kind = node.kind().toQualString();
  if (choice.torch_executed_ops.count(kind) != 0) {
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

}  // namespace torchtrt::partitioning
