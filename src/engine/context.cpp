#include "engine/context.h"

#include <algorithm>

namespace torchtrt::engine {

void Context::bind(std::shared_ptr<const Specialization> specialization, const device::Device& device) {
  bound_ = nullptr;
  if (workspace_.bytes() < specialization->workspace_bytes) {
    workspace_ = device::Memory();  // the old one goes first: never both at a time
    workspace_ = device.allocate(specialization->workspace_bytes, "the engine's workspace");
  }
  pointers_.assign(specialization->slots.size(), nullptr);
  for (size_t i = 0; i < pointers_.size(); ++i) {
    const Slot& slot = specialization->slots[i];
    if (slot.kind == Slot::Kind::kWorkspace && workspace_.data() != nullptr) {
      pointers_[i] = static_cast<std::byte*>(workspace_.data()) + slot.offset;
    } else if (slot.kind == Slot::Kind::kConstant) {
      pointers_[i] = const_cast<void*>(slot.constant);  // only ever read: kernels take inputs as const
    }
  }
  outputs_.assign(specialization->outputs.size(), nullptr);
  bound_ = std::move(specialization);
}

void Context::touchWorkspace() {
  constexpr size_t kSmallestPage = 4096;
  // A call that needs more takes long beside its pages, and may never come: SSD300's engines would hold 114 MB.
  constexpr size_t kMost = size_t{4} << 20;
  auto* const bytes = static_cast<volatile std::byte*>(workspace_.data());
  const size_t end = bytes == nullptr ? 0 : std::min(workspace_.bytes(), kMost);
  for (size_t at = 0; at < end; at += kSmallestPage) {
    bytes[at] = std::byte{0};
  }
}

void Context::setCallPointers(std::span<const TensorView> inputs, std::span<void* const> outputs) {
  for (const uint32_t index : bound_->call_slots) {
    const Slot& slot = bound_->slots[index];
    pointers_[index] =
        slot.kind == Slot::Kind::kInput ? const_cast<void*>(inputs[slot.index].data) : outputs[slot.index];
  }
}

void Context::runAction(const Action& action, int threads) const {
  kernels::RunArgs args{};
  args.inputs = pointers_.data() + action.first_input;
  args.outputs = pointers_.data() + action.first_output;
  args.scratch = pointers_[action.scratch];
  args.threads = threads;
  action.prepared->run(args);
}

std::unique_ptr<Context> ContextPool::take() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Context> context = std::move(idle_.back());
      idle_.pop_back();
      idle_bytes_ -= context->workspaceBytes();
      return context;
    }
  }
  return std::make_unique<Context>();
}

void ContextPool::give(std::unique_ptr<Context> context) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t bytes = context->workspaceBytes();
  if (idle_.empty() || (idle_.size() < kMaxIdle && idle_bytes_ + bytes <= kMaxIdleBytes)) {
    idle_bytes_ += bytes;
    idle_.push_back(std::move(context));
  }
}

size_t ContextPool::idle() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return idle_.size();
}

}  // namespace torchtrt::engine
