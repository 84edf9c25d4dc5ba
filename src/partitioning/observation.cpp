#include "partitioning/observation.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include "base/checkpoint.h"
#include "base/logging.h"
#include "partitioning/dependencies.h"
#include "partitioning/segment_builder.h"

namespace torchtrt::partitioning {

using torch::jit::Block;
using torch::jit::IValue;
using torch::jit::Node;
using torch::jit::Stack;
using torch::jit::Value;
namespace prim = torch::jit::prim;

namespace {

constexpr int64_t kMaxTrips = 10000;  // of a loop, before what follows it stays unknown

using Clock = std::chrono::steady_clock;

Stack interpret(const Segment& segment, Stack stack) {
  const torch::jit::Code code(segment.graph, "observed");
  torch::jit::InterpreterState(code).run(stack);
  return stack;
}

// Calls it with each tensor of a value and of lists in it.
template <typename Visitor>
void forEachTensor(const IValue& value, const Visitor& visitor) {
  if (value.isTensor() && value.toTensor().defined()) {
    visitor(value.toTensor());
  } else if (value.isList()) {
    for (const IValue& element : value.toListRef()) {
      forEachTensor(element, visitor);
    }
  }
}

// The GPU from which a node takes integers, which may be indices.
std::optional<at::Device> deviceOfIndices(const Stack& stack) {
  std::optional<at::Device> device;
  for (const IValue& value : stack) {
    forEachTensor(value, [&](const at::Tensor& tensor) {
      if (tensor.is_cuda() && at::isIntegralType(tensor.scalar_type(), /*includeBool=*/false)) {
        device = tensor.device();
      }
    });
  }
  return device;
}

void moveTensors(Stack& stack, const at::Device& device) {
  for (IValue& value : stack) {
    if (value.isTensor() || value.isList()) {
      value = value.deepcopy(device);
    }
  }
}

bool blockWrites(const Block& block) {
  return std::any_of(block.nodes().begin(), block.nodes().end(), [](const Node* node) { return writes(*node); });
}

std::vector<at::Tensor> tensorsIn(const IValue& value) {
  if (value.isTensor()) {
    return value.toTensor().defined() ? std::vector{value.toTensor()} : std::vector<at::Tensor>();
  }
  return value.isTensorList() ? value.toTensorVector() : std::vector<at::Tensor>();
}

// Gives the needs values of their own, which share memory as the values do that they stand for.
template <typename Environment>
Environment withCopies(Environment environment, const std::vector<Value*>& needs) {
  IValue::HashIdentityIValueMap copies;
  for (const Value* need : needs) {
    const auto known = environment.find(need);
    if (known != environment.end()) {
      known->second = known->second.deepcopy(copies);
    }
  }
  return environment;
}

}  // namespace

// Keeps the states of the GPUs that this process uses already.
KeepRandomState::KeepRandomState() {
  std::vector<at::Generator> generators = {at::detail::getDefaultCPUGenerator()};
  const bool has_cuda = c10::impl::hasDeviceGuardImpl(at::kCUDA) && at::detail::getCUDAHooks().hasCUDA();
  const int devices = has_cuda ? c10::impl::getDeviceGuardImpl(at::kCUDA)->deviceCount() : 0;
  for (int i = 0; i < devices; ++i) {
    const auto index = static_cast<c10::DeviceIndex>(i);
    if (at::detail::getCUDAHooks().hasPrimaryContext(index)) {
      generators.push_back(at::globalContext().defaultGenerator(at::Device(at::kCUDA, index)));
    }
  }
  for (at::Generator& generator : generators) {
    at::Tensor state = generator.get_state();
    states_.emplace_back(std::move(generator), std::move(state));
  }
}

void KeepRandomState::restore() const {
  for (const auto& [generator, state] : states_) {
    at::Generator same = generator;
    same.set_state(state);
  }
}

void Observations::run(const std::vector<std::optional<IValue>>& arguments, bool are_made_up) {
  is_made_up_ = are_made_up;
  const at::NoGradGuard no_grad;
  const KeepRandomState keep_random_state;
  failed_.clear();
  seconds_.clear();
  Environment environment;
  first_failure_.reset();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i]) {
      environment[graph_->inputs()[i]] = *arguments[i];
      observe(*graph_->inputs()[i], *arguments[i]);
    }
  }
  runBlock(*graph_->block(), environment);
  ++runs_;
}

const ObservedType* Observations::find(const Value& value) const {
  const auto found = types_.find(&value);
  return found == types_.end() ? nullptr : &found->second;
}

bool Observations::cameThrough(const Block& block) const {
  const Node* owner = block.owningNode();
  return owner == nullptr || (entered_.count(&block) != 0 && cameThrough(*owner->owningBlock()));
}

void Observations::runBlock(const Block& block, Environment& environment) {
  // A value is dropped behind the last node that needs it.
  std::unordered_map<const Value*, const Node*> last_need;
  for (const Node* node : block.nodes()) {
    for (const Value* need : roles_.needsOf(*node)) {
      if (need->node()->owningBlock() == &block) {
        last_need[need] = node;
      }
    }
  }
  for (Value* output : const_cast<Block&>(block).outputs()) {
    std::vector<Value*> needs;
    roles_.addNeeds(output, needs);
    for (const Value* need : needs) {
      last_need.erase(need);
    }
  }
  for (const Node* node : block.nodes()) {
    const Role role = roles_.of(*node);
    checkpoint();
    try {
      if (node->kind() == prim::If) {
        runIf(*node, environment);
      } else if (node->kind() == prim::Loop) {
        runLoop(*node, environment);
      } else if (node->kind() == prim::Enter || node->kind() == prim::Exit) {
        runContext(*node, environment);
      } else if (role == Role::kWork || role == Role::kOpener) {
        runNode(*node, environment);
      }
    } catch (const std::exception& error) {
      if (aside_ == 0) {
        failed_.insert(node);
      }
      const std::string text = error.what();
      TORCHTRT_LOG(kDEBUG, "the example run fails at " << node->kind().toQualString() << ": "
                                                       << text.substr(0, text.find('\n')));
      if (block.owningNode() == nullptr) {
        Failure& failure = failures_[node];
        failure.text = failure.runs++ == 0 ? text : failure.text;
      }
    }
    for (const Value* need : roles_.needsOf(*node)) {
      const auto last = last_need.find(need);
      if (last != last_need.end() && last->second == node) {
        environment.erase(need);
      }
    }
  }
}

void Observations::runNode(const Node& node, Environment& environment) {
  SegmentBuilder builder(Target::kTorch, roles_);
  builder.add(node);
  for (const Value* output : node.outputs()) {
    builder.addOutput(*output);
  }
  const Segment segment = builder.take();
  Stack stack;
  for (const Value* input : segment.inputs) {
    const auto known = environment.find(input);
    if (known == environment.end()) {
      return;
    }
    stack.push_back(known->second);
  }
  // An index out of range ends the process's use of a GPU, where the CPU raises an error.
  const std::optional<at::Device> device = is_made_up_ ? deviceOfIndices(stack) : std::nullopt;
  if (device) {
    moveTensors(stack, at::kCPU);
  }
  const auto start = Clock::now();
  Stack results;
  try {
    results = interpret(segment, stack);
  } catch (const std::exception&) {
    noteFailure(node, stack);
    throw;
  }
  if (aside_ == 0) {
    seconds_[&node] += std::chrono::duration<double>(Clock::now() - start).count();
  }
  if (device) {
    moveTensors(results, *device);
  }
  for (size_t i = 0; i < segment.outputs.size(); ++i) {
    environment[segment.outputs[i]] = results[i];
    observe(*segment.outputs[i], results[i]);
  }
}

// The interpreter's Exit leaves what the same run of it has entered, and here every node is a run of its own.
void Observations::runContext(const Node& node, Environment& environment) {
  const auto context = valueOf(*node.input(), environment);
  if (!context || !context->isObject()) {
    return;
  }
  const bool enters = node.kind() == prim::Enter;
  torch::jit::Function& method = context->toObjectRef().type()->getMethod(enters ? "__enter__" : "__exit__");
  Stack stack = {*context};
  stack.resize(enters ? 1 : 4);  // Exit is told of no exception
  method.run(stack);
  if (!node.outputs().empty()) {
    environment[node.output()] = stack.back();
  }
}

void Observations::noteFailure(const Node& node, const Stack& inputs) {
  if (first_failure_ || aside_ > 0) {
    return;
  }
  first_failure_ = FirstFailure{&node, {}};
  for (const IValue& input : inputs) {
    for (const at::Tensor& tensor : tensorsIn(input)) {
      first_failure_->sizes.insert(first_failure_->sizes.end(), tensor.sizes().begin(), tensor.sizes().end());
    }
  }
}

void Observations::runIf(const Node& node, Environment& environment) {
  const auto condition = valueOf(*node.input(0), environment);
  const std::optional<bool> taken = condition ? std::optional(condition->toBool()) : std::nullopt;
  // The branch that is not taken runs too, for what is in it alone, and writes to copies. Where nothing is known of the
  // condition, what one of them gives goes on, in every run the other's.
  guesses_ |= !taken;
  const size_t preferred = taken ? (*taken ? 0 : 1) : static_cast<size_t>(runs_ % 2);
  Environment results;
  for (const size_t branch : {1 - preferred, preferred}) {
    const Block& block = *node.blocks()[branch];
    if (taken && branch == preferred) {
      entered_.insert(&block);
      runBlock(block, environment);
      giveOutputs(node, block, environment, results);
    } else {
      Environment aside = blockWrites(block) ? withCopies(environment, roles_.needsOf(node)) : environment;
      runAside(block, aside);
      if (!taken) {
        giveOutputs(node, block, aside, results);
      }
    }
  }
  for (auto& [value, result] : results) {
    environment[value] = std::move(result);
  }
}

void Observations::runAside(const Block& block, Environment& environment) {
  ++aside_;
  runBlock(block, environment);
  --aside_;
}

void Observations::runLoop(const Node& node, Environment& environment) {
  const Block& body = *node.blocks()[0];
  const auto trips = valueOf(*node.input(0), environment);
  auto condition = valueOf(*node.input(1), environment);
  std::vector<std::optional<IValue>> carried;
  for (size_t i = 2; i < node.inputs().size(); ++i) {
    carried.push_back(valueOf(*node.input(i), environment));
  }
  const auto give = [&](const Value* to, const std::optional<IValue>& value) {
    environment.erase(to);
    if (value) {
      environment[to] = *value;
      observe(*to, *value);
    }
  };
  for (int64_t trip = 0; trips && condition && trip < trips->toInt() && condition->toBool(); ++trip) {
    if (trip == kMaxTrips) {
      return;
    }
    entered_.insert(&body);
    environment[body.inputs()[0]] = trip;
    for (size_t i = 0; i < carried.size(); ++i) {
      give(body.inputs()[i + 1], carried[i]);
    }
    runBlock(body, environment);
    condition = valueOf(*body.outputs()[0], environment);
    for (size_t i = 0; i < carried.size(); ++i) {
      carried[i] = valueOf(*body.outputs()[i + 1], environment);
    }
  }
  if (trips && condition) {
    for (size_t i = 0; i < carried.size(); ++i) {
      give(node.outputs()[i], carried[i]);
    }
  }
}

void Observations::giveOutputs(const Node& node, const Block& block, const Environment& environment,
                               Environment& results) {
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    if (const auto value = valueOf(*block.outputs()[i], environment)) {
      results[node.output(i)] = *value;
      observe(*node.output(i), *value);
    }
  }
}

std::optional<IValue> Observations::valueOf(const Value& value, const Environment& environment) {
  const auto known = environment.find(&value);
  if (known != environment.end()) {
    return known->second;
  }
  if (auto constant = torch::jit::toIValue(&value)) {
    return constant;
  }
  if (roles_.of(*value.node()) != Role::kCarried) {
    return std::nullopt;
  }
  SegmentBuilder builder(Target::kTorch, roles_);
  builder.addOutput(value);
  const Segment segment = builder.take();
  Stack stack;
  for (const Value* input : segment.inputs) {
    const auto need = environment.find(input);
    if (need == environment.end()) {
      return std::nullopt;
    }
    stack.push_back(need->second);
  }
  return interpret(segment, std::move(stack)).front();
}

void Observations::observe(const Value& value, const IValue& seen) {
  if (!seen.isTensor() || !seen.toTensor().defined()) {
    return;
  }
  const at::Tensor& tensor = seen.toTensor();
  const auto [entry, is_new] = types_.try_emplace(&value);
  ObservedType& type = entry->second;
  if (is_new) {
    type.dtype = tensor.scalar_type();
  }
  const auto [last, is_first] = last_run_.try_emplace(&value, -1);
  const size_t rank = type.sizes.empty() ? static_cast<size_t>(tensor.dim()) : type.sizes.front().size();
  type.is_steady &= tensor.layout() == at::kStrided;
  type.is_steady &= type.dtype == tensor.scalar_type() && rank == static_cast<size_t>(tensor.dim());
  if (!type.is_steady) {
    return;
  }
  type.largest.resize(rank);
  for (size_t i = 0; i < rank; ++i) {
    type.largest[i] = std::max(type.largest[i], tensor.size(static_cast<int64_t>(i)));
  }
  if (last->second != runs_) {
    type.sizes.push_back(tensor.sizes().vec());
    type.runs.push_back(runs_);
    last->second = runs_;
    return;
  }
  for (size_t i = 0; i < rank; ++i) {
    int64_t& size = type.sizes.back()[i];
    size = size == tensor.size(static_cast<int64_t>(i)) ? size : -1;
  }
}

}  // namespace torchtrt::partitioning
