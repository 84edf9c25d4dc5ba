#include "device/constants.h"

#include <utility>

#include "base/align.h"
#include "device/constant_pool.h"
#include "device/device.h"

namespace torchtrt::device {
namespace {

// Constants of at least this size have memory of their own.
constexpr size_t kLargePiece = size_t{8} << 20;
// Only what is written to is taken from the machine, but that in huge pages: what is left over behind the last piece
// that fits is lost, up to a huge page's end until it is trimmed. In 8 MiB that would be a seventh beside three
// matrices 768 x 768, in 32 MiB it is a sixtieth.
constexpr size_t kChunkBytes = size_t{32} << 20;
// A chunk that is shared costs a file descriptor, and is in memory twice while it is written.
constexpr size_t kSharedChunkBytes = size_t{128} << 20;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kPools = false;  // neighbours would hide a read beyond the end
#else
constexpr bool kPools = true;
#endif

// Never destroyed: engines may outlive every other static object.
ConstantPool& commonPool() {
  static auto* const pool = new ConstantPool(kChunkBytes);
  return *pool;
}

// Returns the pool of the SharedConstants that lives in this thread.
std::shared_ptr<ConstantPool>& poolOfThread() {
  thread_local std::shared_ptr<ConstantPool> pool;
  return pool;
}

}  // namespace

std::shared_ptr<void> allocateConstant(size_t bytes, const std::string& purpose) {
  if (bytes == 0) {
    return nullptr;
  }
  if (const std::shared_ptr<ConstantPool>& pool = poolOfThread()) {
    if (void* data = pool->take(alignUp(bytes), purpose)) {
      return {data, [pool](void* piece) { pool->giveBack(piece); }};
    }
  }
  if (kPools && bytes < kLargePiece) {
    if (void* data = commonPool().take(alignUp(bytes), purpose)) {
      return {data, [](void* piece) { commonPool().giveBack(piece); }};
    }
  }
  auto memory = std::make_shared<Memory>(cpu().allocate(bytes, purpose));
  return {memory, memory->data()};
}

void trimConstants() {
  if (kPools) {
    commonPool().trim();
  }
}

SharedConstants::SharedConstants() : pool_(kPools ? std::make_shared<ConstantPool>(kSharedChunkBytes) : nullptr) {
  poolOfThread() = pool_;
}

SharedConstants::~SharedConstants() {
  poolOfThread().reset();
}

size_t SharedConstants::share() {
  poolOfThread().reset();
  return pool_ ? pool_->share() : 0;
}

}  // namespace torchtrt::device
