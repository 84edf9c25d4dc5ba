#include "engine/calls/context.h"

#include <algorithm>

namespace torchtrt::engine {

void Context::bind(std::shared_ptr<const Schedule> schedule) {
  bound_ = nullptr;
  workspace_ = nullptr;
  replay_.forget();
  pointers_.assign(schedule->slots.size(), nullptr);
  for (size_t i = 0; i < pointers_.size(); ++i) {
    if (const Slot& slot = schedule->slots[i]; slot.kind == Slot::Kind::kConstant) {
      pointers_[i] = const_cast<void*>(slot.constant);  // only ever read: kernels take inputs as const
    }
  }
  outputs_.assign(schedule->outputs.size(), nullptr);
  bound_ = std::move(schedule);
}

void Context::setWorkspace(void* base) {
  if (base == workspace_) {
    return;
  }
  for (size_t i = 0; i < pointers_.size(); ++i) {
    if (const Slot& slot = bound_->slots[i]; slot.kind == Slot::Kind::kWorkspace) {
      pointers_[i] = static_cast<std::byte*>(base) + slot.offset;
    }
  }
  workspace_ = base;
}

void Context::setCallPointers(std::span<const TensorView> inputs, std::span<void* const> outputs) {
  for (const uint32_t index : bound_->call_slots) {
    const Slot& slot = bound_->slots[index];
    pointers_[index] =
        slot.kind == Slot::Kind::kInput ? const_cast<void*>(inputs[slot.index].data) : outputs[slot.index];
  }
}

void Context::setFaults(std::shared_ptr<device::FaultWords> faults) {
  if (faults != faults_) {
    replay_.forget();
    faults_ = std::move(faults);
  }
}

void Context::runAction(const Action& action, int threads, device::Stream stream) const {
  kernels::RunArgs args{};
  args.inputs = pointers_.data() + action.first_input;
  args.outputs = pointers_.data() + action.first_output;
  args.scratch = pointers_[action.scratch];
  args.threads = threads;
  args.stream = stream;
  args.is_fenced = action.is_fenced;
  const bool reports = faults_ != nullptr && action.step >= 0;
  const device::FaultScope scope(reports ? faults_->word(static_cast<size_t>(action.step)) : nullptr);
  action.prepared->run(args);
}

void runLocated(const Model& model, const Context& context, int threads, device::Stream stream) {
  for (size_t i = 0; i < context.bound()->actions.size(); ++i) {
    runLocated(model, context, i, threads, stream);
  }
}

void runLocated(const Model& model, const Context& context, size_t action, int threads, device::Stream stream) {
  const Action& made = context.bound()->actions[action];
  const auto run = [&] { context.runAction(made, threads, stream); };
  if (made.step < 0) {
    run();
  } else {
    locateErrors(model.plan.steps[static_cast<size_t>(made.step)], run);
  }
}

std::unique_ptr<Context> ContextPool::take(const void* base) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      const auto found = std::find_if(idle_.rbegin(), idle_.rend(),
                                      [base](const auto& context) { return context->workspace() == base; });
      std::swap(found == idle_.rend() ? idle_.back() : *found, idle_.back());
      std::unique_ptr<Context> context = std::move(idle_.back());
      idle_.pop_back();
      return context;
    }
  }
  return std::make_unique<Context>();
}

std::unique_ptr<Context> ContextPool::take(device::Stream stream, std::span<const TensorView> inputs, int threads) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](const auto& context) {
      return context->stream().handle == stream.handle && context->bound() != nullptr &&
             context->bound()->matches(inputs, threads);
    });
    if (found == idle_.rend() && idle_.size() == kMaxIdle) {
      found = std::prev(idle_.rend());
    }
    if (found != idle_.rend()) {
      std::unique_ptr<Context> context = std::move(*found);
      idle_.erase(std::prev(found.base()));
      return context;
    }
  }
  return std::make_unique<Context>();
}

void ContextPool::give(std::unique_ptr<Context> context) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.size() < kMaxIdle) {
    idle_.push_back(std::move(context));
  }
}

size_t ContextPool::idle() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return idle_.size();
}

}  // namespace torchtrt::engine
