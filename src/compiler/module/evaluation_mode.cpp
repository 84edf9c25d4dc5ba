#include "compiler/module/evaluation_mode.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/logging.h"
#include "compiler/module/source.h"
#include "compiler/reports/text.h"
#include "lowering/graph_walk.h"

namespace torchtrt::compiler {

namespace {

using torch::jit::Node;
using torch::jit::Value;

constexpr const char* kTraining = "training";
constexpr size_t kMostNames = 5;  // of submodules in a line

bool isTraining(const torch::jit::Module& module) {
  return module.hasattr(kTraining) && module.attr(kTraining).isBool() && module.attr(kTraining).toBool();
}

bool anyIsTraining(const torch::jit::Module& module) {
  for (const torch::jit::Module& each : module.modules()) {
    if (isTraining(each)) {
      return true;
    }
  }
  return false;
}

// The module that the value is, by the attributes on the way from `self`; nothing where it comes from elsewhere.
std::optional<std::pair<std::string, torch::jit::Module>> moduleRead(const Value& value, const Value& self,
                                                                     const torch::jit::Module& module) {
  if (&value == &self) {
    return std::pair(std::string(), module);
  }
  const Node& read = *value.node();
  if (read.kind() != torch::jit::prim::GetAttr) {
    return std::nullopt;
  }
  const auto owner = moduleRead(*read.input(), self, module);
  const std::string& name = read.s(torch::jit::attr::name);
  if (!owner || !owner->second.hasattr(name) || !owner->second.attr(name).isModule()) {
    return std::nullopt;
  }
  return std::pair(owner->first.empty() ? name : owner->first + "." + name, owner->second.attr(name).toModule());
}

std::string memberText(const std::string& path, const torch::jit::Module& module) {
  const auto name = module.type()->name();
  const std::string class_name = name ? name->name() : "";
  return path.empty() ? "the module itself" : "'" + path + "'" + (class_name.empty() ? "" : " (" + class_name + ")");
}

// Modules in training mode whose flag the method reads, in the order of the first reads.
std::vector<std::string> readersOfFlag(const Source& source) {
  const std::shared_ptr<torch::jit::Graph> graph = inlinedGraph(source);
  std::vector<std::string> readers;
  lowering::forEachNode(graph->block(), [&](const Node* node) {
    if (node->kind() != torch::jit::prim::GetAttr || node->s(torch::jit::attr::name) != kTraining ||
        !node->output()->hasUses()) {
      return;
    }
    const auto read = moduleRead(*node->input(), *graph->inputs()[0], *source.module);
    const std::string reader = read && isTraining(read->second) ? memberText(read->first, read->second) : "";
    if (!reader.empty() && std::find(readers.begin(), readers.end(), reader) == readers.end()) {
      readers.push_back(reader);
    }
  });
  return readers;
}

std::string enumerated(std::vector<std::string> names) {
  const size_t left_out = names.size() > kMostNames ? names.size() - kMostNames : 0;
  names.resize(names.size() - left_out);
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return left_out == 0 ? text : text + " and " + std::to_string(left_out) + " more";
}

void say(const Source& source) {
  const std::vector<std::string> readers = readersOfFlag(source);
  if (readers.empty()) {
    tell(
        "the module is marked as in training mode, on which nothing in it depends: a copy in evaluation mode is taken");
    return;
  }
  TORCHTRT_LOG(kWARNING, "the module is in training mode, and a copy in evaluation mode is taken, in which "
                             << enumerated(readers) << (readers.size() == 1 ? " computes" : " compute")
                             << " something else; call eval() on the module first to leave this line out");
}

}  // namespace

Source inEvaluationMode(const Source& source) {
  if (!source.module || !anyIsTraining(*source.module)) {
    return source;
  }
  if (source.module->find_method(source.method)) {  // else lowering says what is missing
    say(source);
  }
  auto copy = std::make_shared<torch::jit::Module>(sharingTensors(source.module->_ivalue()).toModule());
  for (torch::jit::Module module : copy->modules()) {
    if (isTraining(module)) {
      module.setattr(kTraining, false);
    }
  }
  return {copy, source.method, nullptr};
}

}  // namespace torchtrt::compiler
