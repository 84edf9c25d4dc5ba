#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "device/cpu/properties.h"
#include "device/device.h"

namespace torchtrt::device {

namespace {

// From this size on memory is asked for in huge pages: a workspace is walked through again and again.
constexpr size_t kHugePage = size_t{2} << 20;

class CpuDevice : public Device {
 public:
  CpuDevice() : properties_(readCpuProperties()) {}
  const Properties& properties() const override {
    return properties_;
  }

 protected:
  // Linux promises more memory than there is and kills who uses it: what cannot fit is refused here.
  void* allocateBytes(size_t bytes) const override {
    if (properties_.memory_bytes != 0 && bytes > properties_.memory_bytes) {
      return nullptr;
    }
    const size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
    const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* data = nullptr;
    if (posix_memalign(&data, alignment, rounded) != 0) {
      return nullptr;
    }
#ifdef MADV_HUGEPAGE
    if (bytes >= kHugePage) {
      madvise(data, rounded / kHugePage * kHugePage, MADV_HUGEPAGE);
    }
#endif
    return data;
  }
  void freeBytes(void* data, size_t) const override {
    std::free(data);
  }

 private:
  Properties properties_;
};

}  // namespace

const Device& cpu() {
  static const CpuDevice device;
  return device;
}

}  // namespace torchtrt::device
