// A GPU as the engine sees it. Work goes to the caller's stream; memory comes from the driver's stream-ordered
// allocator.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cuda/device/faults.h"
#include "cuda/driver/driver.h"
#include "device/all_streams.h"
#include "device/device.h"
#include "device/faults.h"
#include "device/machine_code.h"
#include "device/recorder.h"

namespace torchtrt::cuda {

class CudaDevice : public device::Device,
                   public device::Recorder,
                   public device::FaultReporter,
                   public device::AllStreams,
                   public device::CodeFinder {
 public:
  explicit CudaDevice(int index);

  const device::Properties& properties() const override {
    return properties_;
  }
  const char* kind() const override {
    return "cuda";
  }
  int index() const override {
    return index_;
  }
  bool isHost() const override {
    return false;
  }
  int threadsOf(int) const override {
    return 1;
  }
  void copyIn(void* to, const void* from, size_t bytes, device::Stream stream) const override;
  void copyOut(void* to, const void* from, size_t bytes, device::Stream stream) const override;
  void copyWithin(void* to, const void* from, size_t bytes, device::Stream stream) const override;
  void zero(void* to, size_t bytes, device::Stream stream) const override;
  void wait(device::Stream stream) const override;
  void waitForAll() const override;
  void checkFaults() const override;
  bool isCapturing(device::Stream stream) const override;
  std::unique_ptr<device::Timer> timer() const override;
  std::unique_ptr<device::Recording> record(const std::function<void(device::Stream)>& body) const override;
  std::unique_ptr<device::PartRecording> recordParts(size_t parts, const device::PartBody& body) const override;
  std::unique_ptr<device::FaultWords> faultWords(size_t steps) const override;
  std::shared_ptr<const void> offer(std::vector<device::MachineCode> codes) const override;
  // False of a StandIn: kernels are prepared for it, with no call of the driver or of a library that needs a GPU.
  virtual bool isHere() const {
    return true;
  }

  // A stream that nobody else gives work to, for recordings; made where none is idle.
  StreamHandle takeStream() const;
  void giveStream(StreamHandle stream) const;

  // Kernels write a Fault there if they run outside of every device::FaultScope.
  DevicePointer faultWord() const {
    return fault_.device;
  }
  void giveFaultBlock(const FaultBlock& block) const {
    fault_memory_.give(block);
  }
  // 10 times the major version and the minor one: 90
  int capability() const {
    return std::stoi(properties_.isa.substr(3));
  }
  // True if blocks of a cluster may write to the shared memory of each other (text/clusters.cuh).
  bool hasClusters() const {
    constexpr int kOldest = 90;
    return capability() >= kOldest;
  }
  // "sm_90"
  const std::string& architecture() const {
    return properties_.isa;
  }
  int processors() const {
    return properties_.cores;
  }
  ContextHandle context() const {
    return context_;
  }

 protected:
  // Makes a device without a context.
  explicit CudaDevice(device::Properties properties) : index_(0), properties_(std::move(properties)) {}
  void* allocateBytes(size_t bytes, device::Stream stream) const override;
  void freeBytes(void* data, size_t bytes, device::Stream stream) const override;

 private:
  int index_;
  ContextHandle context_ = nullptr;
  device::Properties properties_;
  mutable FaultMemory fault_memory_;
  FaultBlock fault_;
  mutable std::mutex streams_mutex_;
  mutable std::vector<StreamHandle> idle_streams_;
};

// Makes a device's context the calling thread's, and puts the one before back.
class ContextScope {
 public:
  explicit ContextScope(const CudaDevice& device) : ContextScope(device.context()) {}
  explicit ContextScope(ContextHandle context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  ContextHandle before_ = nullptr;
  bool is_changed_ = false;
};

// True in a child that was forked after CUDA had been started: no function of the driver may be called there.
bool isForkedChild();
// The number of GPUs; with none, the reason.
int deviceCount(std::string& why_none);
// The GPU of that number; made at the first call, never destroyed.
const CudaDevice& deviceAt(int index);

}  // namespace torchtrt::cuda
