#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <ATen/EmptyTensor.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/constants.h>

#include "plan/plan.h"
#include "runtime/dtypes.h"
#include "runtime/engine_calls.h"
#include "runtime/execute.h"
#include "runtime/input_views.h"
#include "runtime/threads.h"
#include "runtime/weight_set.h"
#include "torchtrt/prepare.h"
#include "torchtrt/runtime.h"

namespace torchtrt::runtime {

namespace {

[[noreturn]] void refuse(const std::string& reason, const std::string& advice) {
  throw EngineError(ErrorCode::kNotRealTime, "a call cannot be bound: " + reason, {}, advice);
}

// The one engine that a module's forward calls, and the ways of its operands and results.
class ForwardCall {
 public:
  // The module and its graph outlive this.
  explicit ForwardCall(const torch::jit::Module& module) : module_(module) {
    const torch::jit::Method forward = module.get_method("forward");
    graph_ = forward.graph();
    for (const torch::jit::Node* node : graph_->nodes()) {
      if (isEngineCall(*node)) {
        checkAlone(*node);
        call_ = node;
      } else if (!onlyGathers(*node)) {
        refuse("forward runs " + std::string(node->kind().toQualString()) + " in PyTorch", kAdvice);
      }
    }
    if (call_ == nullptr) {
      refuse("forward calls no engine", kAdvice);
    }
    engine_ = engineOf(module, *call_->input(1));
    if (!engine_) {
      refuse("the engine of forward is none of its module's own", kAdvice);
    }
    for (const torch::jit::Value* output : graph_->outputs()) {
      addResults(*output);
    }
  }

  const c10::intrusive_ptr<Engine>& engine() const {
    return engine_;
  }
  // The number of the engine's output that each result of forward is.
  const std::vector<size_t>& results() const {
    return results_;
  }

  // The engine's operands for these arguments.
  std::vector<at::Tensor> operands(const std::vector<at::Tensor>& arguments) const {
    if (arguments.size() + 1 != graph_->inputs().size()) {
      throw EngineError(ErrorCode::kInputCount, "a call cannot be bound: expected " +
                                                    std::to_string(graph_->inputs().size() - 1) +
                                                    " arguments of forward, got " + std::to_string(arguments.size()));
    }
    const torch::jit::Node& list = *call_->input(0)->node();
    if (list.kind() != torch::jit::prim::ListConstruct) {
      refuse("forward hands a list of its arguments on", "compile a module that takes tensors");
    }
    std::vector<at::Tensor> operands;
    for (const torch::jit::Value* value : list.inputs()) {
      operands.push_back(operandOf(*value, arguments));
    }
    return operands;
  }

 private:
  static constexpr const char* kAdvice = "bind modules that are one engine alone; a compile's report says what is not";

  void checkAlone(const torch::jit::Node& call) const {
    if (call_ != nullptr) {
      refuse("forward calls more than one engine", kAdvice);
    }
    if (call.input(0)->node()->owningBlock() != graph_->block()) {
      refuse("forward calls its engine inside of a branch or loop", kAdvice);
    }
  }

  void addResults(const torch::jit::Value& value) {
    const torch::jit::Node& node = *value.node();
    if (node.kind() == torch::jit::prim::TupleConstruct || node.kind() == torch::jit::prim::ListConstruct) {
      for (const torch::jit::Value* element : node.inputs()) {
        addResults(*element);
      }
      return;
    }
    if (node.kind() != torch::jit::prim::ListUnpack || node.input()->node() != call_) {
      refuse("forward returns a value that its engine does not compute", kAdvice);
    }
    results_.push_back(value.offset());
  }

  at::Tensor operandOf(const torch::jit::Value& value, const std::vector<at::Tensor>& arguments) const {
    if (value.node() == graph_->param_node() && value.offset() > 0) {
      return arguments[value.offset() - 1];
    }
    if (const std::optional<c10::IValue> constant = torch::jit::toIValue(&value); constant && constant->isTensor()) {
      return constant->toTensor();
    }
    if (value.node()->kind() == torch::jit::prim::GetAttr && value.node()->input() == graph_->inputs()[0]) {
      return module_.attr(value.node()->s(c10::attr::name)).toTensor();
    }
    refuse("an operand of its engine is a part of an argument", "compile a module that takes tensors");
  }

  const torch::jit::Module& module_;
  std::shared_ptr<torch::jit::Graph> graph_;
  const torch::jit::Node* call_ = nullptr;
  c10::intrusive_ptr<Engine> engine_;
  std::vector<size_t> results_;
};

// The same engine without kernels that allocate. Its weights are packed once more.
std::shared_ptr<const engine::Engine> loadForRealTime(const Engine& held) {
  const std::string plan = plan::serializeWithoutWeights(held.plan(/*largest_weight=*/0));
  std::vector<engine::ExternalWeight> weights;
  for (const at::Tensor& tensor : held.weights()) {
    weights.push_back({tensor.const_data_ptr(), tensor.nbytes(), std::make_shared<at::Tensor>(tensor)});
  }
  engine::LoadOptions options;
  options.threads = callThreads();
  options.real_time = true;
  options.prepare = false;
  return engine::Engine::load({reinterpret_cast<const std::byte*>(plan.data()), plan.size()}, nullptr,
                              std::move(weights), options);
}

void checkResult(const at::Tensor& tensor, size_t index, DType dtype, const std::vector<int64_t>& dims) {
  const std::string name = "result " + std::to_string(index) + " of forward ";
  const std::string advice = "give none, and bound calls make them, or at::empty() of its shape";
  if (!tensor.defined() || !tensor.is_cpu() || tensor.scalar_type() != scalarTypeOf(dtype) || tensor.sizes() != dims) {
    refuse(name + "is " + torchtrt::toString(dtype) + c10::str(at::IntArrayRef(dims)) + " on the CPU, got " +
               (tensor.defined() ? c10::str(tensor.scalar_type(), tensor.sizes(), " on ", tensor.device()) : "none"),
           advice);
  }
  if (!tensor.is_contiguous() || tensor.requires_grad()) {
    refuse(name + (tensor.requires_grad() ? "requires grad" : "is not row-major and dense"), advice);
  }
}

}  // namespace

struct BoundCall::State {
  std::vector<at::Tensor> inputs, outputs;
  std::vector<at::Tensor> operands, written;  // of the engine
  std::shared_ptr<const engine::Engine> own;  // loaded for real time; null: the module's serves
  c10::intrusive_ptr<Engine> held;
  std::unique_ptr<engine::BoundCall> call;
  int threads = 1;

  State(const torch::jit::Module& module, std::vector<at::Tensor> given, std::vector<at::Tensor> results, int wanted)
      : inputs(std::move(given)), outputs(std::move(results)), threads(wanted > 0 ? wanted : callThreads()) {
    const ForwardCall forward(module);
    held = forward.engine();
    operands = forward.operands(inputs);
    std::vector<at::Tensor> seen = operands;
    const InputViews views(seen, *held);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!seen[i].is_same(operands[i])) {
        refuse("input \"" + held->engine().inputs()[i].name + "\" is a lazy view or on another device",
               "copy it to memory of its own on the CPU (.contiguous().resolve_neg().cpu())");
      }
    }
    if (!held->engine().isRealTime() && held->device().is_cpu()) {
      own = loadForRealTime(*held);
    }
    const engine::Engine& engine = own ? *own : held->engine();
    placeOutputs(forward.results(), engine.outputs(), engine.outputShapes(views.span()));
    checkTeam();
    std::vector<void*> memory;
    for (const at::Tensor& tensor : written) {
      memory.push_back(tensor.mutable_data_ptr());
    }
    call = engine.bind(views.span(), memory, threads);
  }

  // A result that the caller gave is written in place, the first time that forward returns it. All others are new.
  void placeOutputs(const std::vector<size_t>& results, const std::vector<engine::BindingInfo>& bindings,
                    const std::vector<std::vector<int64_t>>& shapes) {
    if (!outputs.empty() && outputs.size() != results.size()) {
      refuse(
          "expected " + std::to_string(results.size()) + " results of forward, got " + std::to_string(outputs.size()),
          "give a tensor for each, or none");
    }
    written.resize(bindings.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      checkResult(outputs[i], i, bindings[results[i]].dtype, shapes[results[i]]);
      at::Tensor& place = written[results[i]];
      if (place.defined() && !place.is_same(outputs[i])) {
        refuse("results of forward are one tensor, and got memory apart", "give the same tensor for both");
      }
      place = outputs[i];
    }
    for (size_t i = 0; i < written.size(); ++i) {
      if (!written[i].defined()) {
        written[i] = at::detail::empty_cpu(shapes[i], scalarTypeOf(bindings[i].dtype), /*pin_memory=*/false,
                                           /*memory_format_opt=*/std::nullopt);
      }
    }
    if (outputs.empty()) {
      std::transform(results.begin(), results.end(), std::back_inserter(outputs),
                     [this](size_t index) { return written[index]; });
    }
  }

  void checkTeam() const {
    if (threads > 1 && teamIsLost()) {
      refuse("this thread came out of a fork, which took its team of " + std::to_string(threads) + " threads",
             "bind it with one thread, or in a thread that the child starts");
    }
  }
};

BoundCall::BoundCall(const torch::jit::Module& module, std::vector<at::Tensor> inputs, std::vector<at::Tensor> outputs,
                     int threads)
    : state_(
          atBorder([&] { return std::make_unique<State>(module, std::move(inputs), std::move(outputs), threads); })) {}

BoundCall::~BoundCall() = default;
BoundCall::BoundCall(BoundCall&&) noexcept = default;
BoundCall& BoundCall::operator=(BoundCall&&) noexcept = default;

void BoundCall::run() {
  atBorder([this] {
    state_->checkTeam();
    state_->call->run();
  });
}

void BoundCall::prepareThread() {
  atBorder([this] {
    state_->checkTeam();
    state_->call->prepareThread();
  });
}

const std::vector<at::Tensor>& BoundCall::inputs() const {
  return state_->inputs;
}

const std::vector<at::Tensor>& BoundCall::outputs() const {
  return state_->outputs;
}

}  // namespace torchtrt::runtime
