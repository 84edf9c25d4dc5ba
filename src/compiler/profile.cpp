// Watches forwards through PyTorch's own record of operators, so that calls pay nothing for it, then has each engine
// time its steps.
#include "torchtrt/profile.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <utility>

#include <ATen/record_function.h>

#include "compiler/median.h"
#include "compiler/text.h"
#include "kernels/limits.h"
#include "runtime/engine_class.h"
#include "runtime/execute.h"
#include "torchtrt/error.h"
#include "torchtrt/runtime.h"

namespace torchtrt {

namespace {

using Clock = std::chrono::steady_clock;
using torch::jit::IValue;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// What one engine or operator did in the forwards that were watched.
struct Watched {
  std::string name;
  c10::intrusive_ptr<runtime::Engine> engine;  // null for operators
  std::vector<at::Tensor> inputs;              // of an engine's first call
  int64_t calls = 0;
  std::vector<double> milliseconds;  // a sum per forward
};

// While one lives, every operator that the calling thread's interpreter runs is added to it. Operators inside of
// operators count for the outermost.
class Watch {
 public:
  Watch()
      : callback_(at::addThreadLocalCallback(at::RecordFunctionCallback(&Watch::start, &Watch::end)
                                                 .needsInputs(true)
                                                 .scopes({at::RecordScope::FUNCTION}))) {
    current = this;
  }
  ~Watch() {
    current = nullptr;
    at::removeCallback(callback_);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void beginForward() {
    ++forwards_;
  }
  const std::vector<Watched>& watched() const {
    return watched_;
  }

 private:
  struct Running : at::ObserverContext {
    Clock::time_point start;
    size_t index = 0;  // into watched_
  };

  static std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& record) {
    if (current == nullptr || current->depth_++ > 0) {
      return nullptr;
    }
    auto running = std::make_unique<Running>();
    running->index = current->indexOf(record);
    running->start = Clock::now();
    return running;
  }

  static void end(const at::RecordFunction& /*record*/, at::ObserverContext* context) {
    if (current == nullptr) {
      return;
    }
    --current->depth_;
    if (context != nullptr) {
      const auto& running = static_cast<const Running&>(*context);
      Watched& watched = current->watched_[running.index];
      watched.milliseconds.resize(current->forwards_);
      watched.milliseconds.back() += millisecondsSince(running.start);
      ++watched.calls;
    }
  }

  size_t indexOf(const at::RecordFunction& record) {
    static const auto kEngine = c10::getCustomClassType<c10::intrusive_ptr<runtime::Engine>>();
    // What the interpreter hands over is its whole stack: an engine's list of tensors and the engine are on top.
    const c10::ArrayRef<const IValue> stack = record.inputs();
    const c10::ArrayRef<const IValue> inputs = stack.slice(stack.size() - std::min<size_t>(stack.size(), 2));
    const bool is_engine = inputs.size() == 2 && inputs[0].isTensorList() && inputs[1].isObject() &&
                           inputs[1].type()->isSubtypeOf(*kEngine);
    Watched made;
    made.name = record.name();
    if (is_engine) {
      made.engine = inputs[1].toCustomClass<runtime::Engine>();
      made.name = made.engine->name();
    }
    const auto [known, is_new] = index_.emplace(std::pair(made.name, made.engine.get()), watched_.size());
    if (is_new) {
      if (is_engine) {
        made.inputs = inputs[0].toTensorVector();
      }
      watched_.push_back(std::move(made));
    }
    return known->second;
  }

  static thread_local Watch* current;

  std::vector<Watched> watched_;
  std::map<std::pair<std::string, const runtime::Engine*>, size_t> index_;
  size_t forwards_ = 0;
  int depth_ = 0;
  at::CallbackHandle callback_;
};

thread_local Watch* Watch::current = nullptr;

Profile::Engine profileEngine(const Watched& watched, int calls) {
  Profile::Engine engine{.name = watched.name, .calls = 0, .milliseconds = 0, .steps = {}, .note = ""};
  try {
    for (const engine::StepProfile& step : runtime::profileSteps(watched.inputs, *watched.engine, calls)) {
      engine.steps.push_back({step.name, step.family, step.implementation, toString(step.location), step.microseconds,
                              step.flops, step.bytes});
    }
  } catch (const EngineError& error) {
    engine.note = error.what();
  }
  return engine;
}

}  // namespace

double Profile::shareOfPeak(const Step& step) const {
  return ratio(step.flops, step.microseconds * 1e-6 * flops_per_second);
}

double Profile::shareOfBandwidth(const Step& step) const {
  return ratio(step.bytes, step.microseconds * 1e-6 * bytes_per_second);
}

namespace ts {

Profile profile(torch::jit::Module module, const std::vector<IValue>& inputs, int calls) {
  if (calls < 1) {
    throw CompileError(ErrorCode::kInvalidOption, "calls is " + std::to_string(calls) + ", expected 1 or more");
  }
  const c10::InferenceMode inference;
  Profile profile;
  profile.threads = runtime::callThreads();
  profile.forwards = calls;
  module.forward(inputs);
  std::vector<double> milliseconds;
  for (int i = 0; i < calls; ++i) {
    const auto start = Clock::now();
    module.forward(inputs);
    milliseconds.push_back(millisecondsSince(start));
  }
  profile.milliseconds = compiler::median(std::move(milliseconds));

  std::vector<Watched> all;
  {
    Watch watch;
    for (int i = 0; i < calls; ++i) {
      watch.beginForward();
      module.forward(inputs);
    }
    all = watch.watched();
  }
  for (Watched& watched : all) {
    watched.milliseconds.resize(static_cast<size_t>(calls));
    const double each = compiler::median(watched.milliseconds);
    const int64_t count = (watched.calls + calls - 1) / calls;
    if (watched.engine == nullptr) {
      profile.operators.push_back({watched.name, count, each});
      continue;
    }
    profile.engines.push_back(profileEngine(watched, calls));
    profile.engines.back().calls = count;
    profile.engines.back().milliseconds = each;
  }
  std::stable_sort(profile.operators.begin(), profile.operators.end(),
                   [](const auto& a, const auto& b) { return a.milliseconds > b.milliseconds; });
  const kernels::Limits limits = kernels::measureLimits(profile.threads);
  profile.flops_per_second = limits.flops;
  profile.bytes_per_second = limits.bytes;
  return profile;
}

}  // namespace ts
}  // namespace torchtrt
