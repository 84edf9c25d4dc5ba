#include "device/device.h"

namespace torchtrt::device {

namespace {

class NullDevice : public Device {
 public:
  NullDevice() {
    properties_.name = "null";
    properties_.isa = "none";
  }
  const Properties& properties() const override {
    return properties_;
  }

 protected:
  void* allocateBytes(size_t, Stream) const override {
    return nullptr;
  }
  void freeBytes(void*, size_t, Stream) const override {}
  bool hasMemory() const override {
    return false;
  }

 private:
  Properties properties_;
};

}  // namespace

const Device& nullDevice() {
  static const NullDevice device;
  return device;
}

}  // namespace torchtrt::device
