#include "lowering/module_path.h"

#include <torch/csrc/jit/ir/scope.h>

namespace torchtrt::lowering {

namespace {

// "__module.layer1/__module.layer1.0/__module.layer1.0.conv1": a trace's scope says the whole path last.
std::string pathOfScope(const std::string& scope) {
  const std::string marker = "__module.";
  const size_t start = scope.rfind(marker);
  return start == std::string::npos ? "" : scope.substr(start + marker.size());
}

// The attribute names through which the call went, from the outermost.
std::string pathOfCalls(const torch::jit::InlinedCallStackPtr& calls) {
  std::string path;
  for (const auto& call : calls->vec()) {
    const auto& instance = std::get<2>(call);
    const std::string name = instance ? instance->instance_name() : "";
    if (!name.empty() && name != "self" && name != "SELF" && name != "INSTANCE_NAME_UNKNOWN") {
      path += (path.empty() ? "" : ".") + name;
    }
  }
  return path;
}

}  // namespace

std::string modulePath(const torch::jit::Node& node) {
  const std::string path = node.callstack() ? pathOfCalls(*node.callstack()) : "";
  return path.empty() ? pathOfScope(node.scopeName()) : path;
}

}  // namespace torchtrt::lowering
