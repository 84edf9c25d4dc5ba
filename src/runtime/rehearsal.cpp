#include "runtime/rehearsal.h"

#include <optional>
#include <vector>

#include "base/logging.h"
#include "runtime/dtypes.h"
#include "runtime/execute.h"

namespace torchtrt::runtime {

namespace {

constexpr size_t kMostBytes = size_t{4} << 20;  // weights and workspace of an engine

// Where an argument goes.
struct Reader {
  c10::intrusive_ptr<Engine> engine;
  size_t input;
};

std::optional<Reader> readerOf(const torch::jit::Module& module, const torch::jit::Value& argument) {
  for (const torch::jit::Use& use : argument.uses()) {
    const torch::jit::Node& list = *use.user;
    if (list.kind() != torch::jit::prim::ListConstruct || list.output()->uses().size() != 1) {
      continue;
    }
    const torch::jit::Node& call = *list.output()->uses().front().user;
    if (call.inputs().size() != 2) {
      continue;
    }
    const torch::jit::Node& held = *call.input(1)->node();
    if (held.kind() == torch::jit::prim::GetAttr && held.input() == held.owningGraph()->inputs()[0]) {
      return Reader{module.attr(held.s(c10::attr::name)).toCustomClass<Engine>(), use.offset};
    }
  }
  return std::nullopt;
}

// Zeros for every argument but the module; none where one goes elsewhere than to a small engine.
std::vector<at::Tensor> argumentsOf(const torch::jit::Module& module, const torch::jit::Graph& graph) {
  std::vector<at::Tensor> arguments;
  for (size_t i = 1; i < graph.inputs().size(); ++i) {
    const std::optional<Reader> reader = readerOf(module, *graph.inputs()[i]);
    if (!reader) {
      return {};
    }
    const engine::Engine& engine = reader->engine->engine();
    std::vector<at::Tensor> inputs;
    for (const engine::BindingInfo& info : engine.inputs()) {
      inputs.push_back(at::zeros(info.opt, scalarTypeOf(info.dtype)));
    }
    arguments.push_back(inputs.at(reader->input));
    if (engine.memoryBytes() + static_cast<size_t>(workspaceBytes(std::move(inputs), *reader->engine)) > kMostBytes) {
      return {};
    }
  }
  return arguments;
}

}  // namespace

std::vector<at::Tensor> rehearse(const torch::jit::Module& module, const torch::jit::Method& method) {
  try {
    const c10::InferenceMode inference;
    std::vector<at::Tensor> arguments = argumentsOf(module, *method.graph());
    if (!arguments.empty()) {
      torch::jit::Stack stack = {module._ivalue()};
      stack.insert(stack.end(), arguments.begin(), arguments.end());
      method.function().run(stack);
    }
    return arguments;
  } catch (const std::exception& error) {
    TORCHTRT_LOG(kDEBUG,
                 "a method of " << module.type()->annotation_str() << " does not run on zeros: " << error.what());
    return {};
  }
}

}  // namespace torchtrt::runtime
