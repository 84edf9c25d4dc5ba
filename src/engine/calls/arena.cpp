#include "engine/calls/arena.h"

#include <algorithm>
#include <string>
#include <utility>

namespace torchtrt::engine {

struct ArenaBlock {
  const device::Device* device = nullptr;
  device::Memory memory;
  std::unique_ptr<ArenaBlock> inner;  // for a call inside of the one that uses this
};

struct Arena {
  ArenaBlock outermost;
  ArenaBlock* next = &outermost;  // what the next lease gets
};

namespace {

// Has no destructor, so that it can still be read when the arena is gone: other objects of a thread may run engines
// when they die.
thread_local bool is_gone = false;

Arena* arenaOfThread() {
  struct Owned : Arena {
    ~Owned() {
      is_gone = true;
    }
  };
  if (is_gone) {
    return nullptr;
  }
  thread_local Owned arena;
  return &arena;
}

}  // namespace

WorkspaceLease::WorkspaceLease(const device::Device& device, device::Stream stream,
                               std::shared_ptr<device::MemorySource> source)
    : device_(device),
      stream_(stream),
      source_(std::move(source)),
      arena_(device.isHost() ? arenaOfThread() : nullptr) {
  if (arena_ == nullptr) {
    own_ = std::make_unique<ArenaBlock>();
    block_ = own_.get();
    return;
  }
  block_ = arena_->next;
  if (block_->inner == nullptr) {
    block_->inner = std::make_unique<ArenaBlock>();
  }
  arena_->next = block_->inner.get();
}

WorkspaceLease::~WorkspaceLease() {
  if (arena_ != nullptr) {
    arena_->next = block_;
  }
}

void* WorkspaceLease::data() const {
  return block_->memory.data();
}

void* WorkspaceLease::reserve(size_t bytes) {
  if (bytes > block_->memory.bytes() || (bytes > 0 && block_->device != &device_)) {
    block_->memory = device::Memory();  // the old one goes first: never both at a time
    static const std::string kPurpose = "the engine's workspace";
    block_->memory = device_.allocate(bytes, kPurpose, stream_, source_);
    block_->device = &device_;
  }
  return block_->memory.data();
}

void WorkspaceLease::touch(size_t bytes) {
  constexpr size_t kSmallestPage = 4096;
  // A call that needs more takes long beside its pages, and may never come: SSD300's engines would hold 114 MB.
  constexpr size_t kMost = size_t{4} << 20;
  auto* const memory = static_cast<volatile std::byte*>(device_.isHost() ? data() : nullptr);
  const size_t end = memory == nullptr ? 0 : std::min({bytes, block_->memory.bytes(), kMost});
  for (size_t at = 0; at < end; at += kSmallestPage) {
    memory[at] = std::byte{0};
  }
}

void releaseIdleWorkspace() {
  if (Arena* const arena = arenaOfThread(); arena != nullptr) {
    arena->next->memory = device::Memory();
    arena->next->inner = nullptr;
  }
}

}  // namespace torchtrt::engine
