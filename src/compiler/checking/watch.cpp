#include "compiler/checking/watch.h"

#include <algorithm>

#include "runtime/torch_device.h"

namespace torchtrt::compiler {

using torch::jit::IValue;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Watch::Running : at::ObserverContext {
  Clock::time_point start;
  size_t index = 0;  // into watched_
};

thread_local Watch* Watch::current = nullptr;

Watch::Watch(size_t kept_calls, Keeping keeping)
    : kept_calls_(kept_calls),
      keeping_(keeping),
      callback_(at::addThreadLocalCallback(at::RecordFunctionCallback(&Watch::start, &Watch::end)
                                               .needsInputs(true)
                                               .scopes({at::RecordScope::FUNCTION}))) {
  current = this;
}

Watch::~Watch() {
  current = nullptr;
  at::removeCallback(callback_);
}

std::unique_ptr<at::ObserverContext> Watch::start(const at::RecordFunction& record) {
  if (current == nullptr || current->depth_++ > 0) {
    return nullptr;
  }
  auto running = std::make_unique<Running>();
  running->index = current->indexOf(record);
  running->start = Clock::now();
  return running;
}

void Watch::end(const at::RecordFunction& /*record*/, at::ObserverContext* context) {
  if (current == nullptr) {
    return;
  }
  --current->depth_;
  if (context != nullptr) {
    runtime::synchronize(current->device_);
    const auto& running = static_cast<const Running&>(*context);
    Watched& watched = current->watched_[running.index];
    watched.milliseconds.resize(current->forwards_);
    watched.milliseconds.back() += millisecondsSince(running.start);
    ++watched.calls;
  }
}

size_t Watch::indexOf(const at::RecordFunction& record) {
  static const auto kEngine = c10::getCustomClassType<c10::intrusive_ptr<runtime::Engine>>();
  // The interpreter hands over its whole stack: an engine's list of tensors and the engine are on top.
  const c10::ArrayRef<const IValue> stack = record.inputs();
  const c10::ArrayRef<const IValue> inputs = stack.slice(stack.size() - std::min<size_t>(stack.size(), 2));
  const bool is_engine =
      inputs.size() == 2 && inputs[0].isTensorList() && inputs[1].isObject() && inputs[1].type()->isSubtypeOf(*kEngine);
  Watched made;
  made.name = record.name();
  if (is_engine) {
    made.engine = inputs[1].toCustomClass<runtime::Engine>();
    made.name = made.engine->name();
  }
  const auto [known, is_new] = index_.emplace(std::pair(made.name, made.engine.get()), watched_.size());
  if (is_new) {
    watched_.push_back(std::move(made));
  }
  Watched& watched = watched_[known->second];
  if (is_engine && watched.inputs.size() < kept_calls_) {
    watched.inputs.push_back(inputs[0].toTensorVector());
    if (keeping_ == Keeping::kCopies) {
      for (at::Tensor& tensor : watched.inputs.back()) {
        tensor = tensor.clone();
      }
    }
  }
  return known->second;
}

}  // namespace torchtrt::compiler
