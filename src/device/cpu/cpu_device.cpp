#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "base/align.h"
#include "device/cpu/properties.h"
#include "device/device.h"

namespace torchtrt::device {

namespace {

// Memory of at least this size is asked for in huge pages: a workspace is walked through again and again.
constexpr size_t kHugePage = size_t{2} << 20;

class CpuDevice : public Device {
 public:
  CpuDevice() : properties_(readCpuProperties()) {}
  const Properties& properties() const override {
    return properties_;
  }

  Properties& writableProperties() {
    return properties_;
  }

 protected:
  // Linux promises more memory than there is and kills the process that uses it. Requests that cannot fit are refused
  // here.
  void* allocateBytes(size_t bytes, Stream) const override {
    if (properties_.memory_bytes != 0 && bytes > properties_.memory_bytes) {
      return nullptr;
    }
    if (isMapped(bytes)) {
      return map(bytes);
    }
    void* data = nullptr;
    return posix_memalign(&data, kAlignment, alignUp(bytes)) == 0 ? data : nullptr;
  }
  void freeBytes(void* data, size_t bytes, Stream) const override {
    if (isMapped(bytes)) {
      munmap(data, wholePages(bytes));
    } else {
      std::free(data);
    }
  }

 private:
  // Not from malloc: it keeps large pieces once it has seen some come and go, and cuts them for others.
  static bool isMapped([[maybe_unused]] size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
    return false;  // it would not see a read beyond the end
#else
    return bytes >= kHugePage;
#endif
  }
  static size_t wholePages(size_t bytes) {
    return roundUp(bytes, static_cast<size_t>(sysconf(_SC_PAGE_SIZE)));
  }
  static void* map(size_t bytes) {
    const size_t wanted = wholePages(bytes);
    void* mapped = mmap(nullptr, wanted + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
      return nullptr;
    }
    auto* from = static_cast<std::byte*>(mapped);
    const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(from) % kHugePage) % kHugePage;
    if (before > 0) {
      munmap(from, before);
    }
    munmap(from + before + wanted, kHugePage - before);
#ifdef MADV_HUGEPAGE
    madvise(from + before, wanted / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
    return from + before;
  }

  Properties properties_;
};

}  // namespace

namespace {

CpuDevice& theCpu() {
  static CpuDevice* const device = new CpuDevice;  // never destroyed: memory may outlive every static object
  return *device;
}

}  // namespace

const Device& cpu() {
  return theCpu();
}

Properties& cpuPropertiesForTests() {
  return theCpu().writableProperties();
}

}  // namespace torchtrt::device
