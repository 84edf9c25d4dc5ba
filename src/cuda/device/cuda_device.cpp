#include "cuda/device/cuda_device.h"

#include <pthread.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include "cuda/compile/program.h"
#include "cuda/device/graph.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda {

namespace {

DevicePointer asDevice(const void* pointer) {
  return reinterpret_cast<DevicePointer>(pointer);
}

// Every launch asks: asking the system for the process's number would cost too much.
std::atomic<bool> is_forked_child = false;

void watchForks() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { is_forked_child = true; }); });
}

constexpr const char* kForked = "this process was forked after CUDA had been used, and CUDA works in no forked child";

void refuseInForkedChild() {
  if (isForkedChild()) {
    throw EngineError(ErrorCode::kInputDevice, kForked, {},
                      "start processes with the method \"spawn\", or fork before the first GPU engine is loaded");
  }
}

int attribute(DeviceId id, int which) {
  int value = 0;
  check(driver().deviceAttribute(&value, which, id), "asking a GPU for its properties");
  return value;
}

struct Event {
  Event() = default;
  ~Event() {
    if (handle != nullptr && !isForkedChild()) {
      driver().destroyEvent(handle);
    }
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  EventHandle handle = nullptr;
};

class EventTimer final : public device::Timer {
 public:
  explicit EventTimer(ContextHandle context) : context_(context) {
    const ContextScope scope(context_);
    check(driver().createEvent(&start_.handle, 0), "creating an event");
    check(driver().createEvent(&stop_.handle, 0), "creating an event");
  }
  void start(device::Stream stream) override {
    const ContextScope scope(context_);
    check(driver().recordEvent(start_.handle, stream.handle), "recording an event");
  }
  void stop(device::Stream stream) override {
    const ContextScope scope(context_);
    check(driver().recordEvent(stop_.handle, stream.handle), "recording an event");
  }
  double microseconds() override {
    const ContextScope scope(context_);
    check(driver().waitEvent(stop_.handle), "waiting for a GPU");
    float milliseconds = 0;
    check(driver().elapsed(&milliseconds, start_.handle, stop_.handle), "reading an event");
    return static_cast<double>(milliseconds) * 1000;
  }

 private:
  ContextHandle context_;
  Event start_, stop_;
};

// Kernels write at any time.
int takeWord(int* word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED) == 0 ? 0 : __atomic_exchange_n(word, 0, __ATOMIC_ACQ_REL);
}

class WordsOfStream final : public device::FaultWords {
 public:
  WordsOfStream(const CudaDevice& device, const FaultBlock& block) : device_(device), block_(block) {}
  ~WordsOfStream() override {
    device_.giveFaultBlock(block_);
  }
  void* word(size_t step) const override {
    return reinterpret_cast<void*>(block_.device + step * sizeof(int));
  }
  std::optional<Fault> take() override {
    for (size_t step = 0; step < block_.words; ++step) {
      if (const int fault = takeWord(block_.host + step); fault != 0) {
        return Fault{step, errorOf(static_cast<cuda::Fault>(fault))};
      }
    }
    return std::nullopt;
  }

 private:
  const CudaDevice& device_;
  FaultBlock block_;
};

}  // namespace

bool isForkedChild() {
  return is_forked_child.load(std::memory_order_relaxed);
}

ContextScope::ContextScope(ContextHandle context) {
  refuseInForkedChild();
  check(driver().currentContext(&before_), "asking for the current CUDA context");
  if (before_ != context) {
    check(driver().setContext(context), "entering a CUDA context");
    is_changed_ = true;
  }
}

ContextScope::~ContextScope() {
  if (is_changed_) {
    driver().setContext(before_);
  }
}

CudaDevice::CudaDevice(int index) : index_(index) {
  DeviceId id = 0;
  check(driver().deviceGet(&id, index), "opening GPU " + std::to_string(index));
  char name[256] = "";
  check(driver().deviceName(name, sizeof(name), id), "asking a GPU for its name");
  properties_.name = name;
  properties_.isa = "sm_" + std::to_string(attribute(id, kAttributeComputeMajor)) +
                    std::to_string(attribute(id, kAttributeComputeMinor));
  properties_.cores = attribute(id, kAttributeProcessors);
  properties_.l2_bytes = static_cast<size_t>(attribute(id, kAttributeL2Bytes));
  check(driver().deviceMemory(&properties_.memory_bytes, id), "asking a GPU for its memory");
  check(driver().retainContext(&context_, id), "starting CUDA on GPU " + std::to_string(index));
  watchForks();
  try {
    const ContextScope scope(context_);
    fault_ = fault_memory_.take(1);
  } catch (...) {
    driver().releaseContext(id);
    throw;
  }
}

void CudaDevice::copyIn(void* to, const void* from, size_t bytes, device::Stream stream) const {
  if (bytes != 0) {
    const ContextScope scope(context_);
    check(driver().copyIn(asDevice(to), from, bytes, stream.handle), "copying to the GPU");
  }
}

void CudaDevice::copyOut(void* to, const void* from, size_t bytes, device::Stream stream) const {
  if (bytes != 0) {
    const ContextScope scope(context_);
    check(driver().copyOut(to, asDevice(from), bytes, stream.handle), "copying from the GPU");
  }
  wait(stream);
}

void CudaDevice::copyWithin(void* to, const void* from, size_t bytes, device::Stream stream) const {
  if (bytes != 0) {
    const ContextScope scope(context_);
    check(driver().copyWithin(asDevice(to), asDevice(from), bytes, stream.handle), "copying on the GPU");
  }
}

void CudaDevice::zero(void* to, size_t bytes, device::Stream stream) const {
  if (bytes != 0) {
    const ContextScope scope(context_);
    check(driver().fillBytes(asDevice(to), 0, bytes, stream.handle), "zeroing memory of the GPU");
  }
}

void CudaDevice::wait(device::Stream stream) const {
  const ContextScope scope(context_);
  check(driver().synchronize(stream.handle), "waiting for the GPU");
  checkFaults();
}

void CudaDevice::waitForAll() const {
  const ContextScope scope(context_);
  check(driver().synchronizeAll(), "waiting for the GPU");
}

void CudaDevice::checkFaults() const {
  if (const int fault = takeWord(fault_.host); fault != 0) {
    throw errorOf(static_cast<Fault>(fault));
  }
}

std::unique_ptr<device::FaultWords> CudaDevice::faultWords(size_t steps) const {
  const ContextScope scope(context_);
  return std::make_unique<WordsOfStream>(*this, fault_memory_.take(steps));
}

bool CudaDevice::isCapturing(device::Stream stream) const {
  const ContextScope scope(context_);
  int status = 0;  // none
  check(driver().isCapturing(stream.handle, &status), "asking a stream if it is being captured");
  return status != 0;
}

std::unique_ptr<device::Timer> CudaDevice::timer() const {
  return std::make_unique<EventTimer>(context_);
}

std::unique_ptr<device::Recording> CudaDevice::record(const std::function<void(device::Stream)>& body) const {
  return recordParts(1, [&](size_t, device::Stream stream) { body(stream); });
}

std::unique_ptr<device::PartRecording> CudaDevice::recordParts(size_t parts, const device::PartBody& body) const {
  return Graph::record(*this, parts, body);
}

std::shared_ptr<const void> CudaDevice::offer(std::vector<device::MachineCode> codes) const {
  return offerCode(std::move(codes));
}

StreamHandle CudaDevice::takeStream() const {
  {
    const std::lock_guard lock(streams_mutex_);
    if (!idle_streams_.empty()) {
      StreamHandle const stream = idle_streams_.back();
      idle_streams_.pop_back();
      return stream;
    }
    idle_streams_.reserve(idle_streams_.capacity() + 1);  // giving it back must not allocate
  }
  const ContextScope scope(context_);
  StreamHandle stream = nullptr;
  check(driver().createStream(&stream, kStreamNonBlocking), "creating a stream");
  return stream;
}

void CudaDevice::giveStream(StreamHandle stream) const {
  const std::lock_guard lock(streams_mutex_);
  idle_streams_.push_back(stream);
}

void* CudaDevice::allocateBytes(size_t bytes, device::Stream stream) const {
  const ContextScope scope(context_);
  DevicePointer data = 0;
  const Result result = driver().allocate(&data, bytes, stream.handle);
  if (result == kOutOfMemory) {
    return nullptr;
  }
  check(result, "allocating memory of the GPU");
  return reinterpret_cast<void*>(data);
}

void CudaDevice::freeBytes(void* data, size_t, device::Stream stream) const {
  if (isForkedChild()) {
    return;  // a forked child has copies of objects, and no CUDA
  }
  std::optional<ContextScope> scope;
  try {
    scope.emplace(context_);
  } catch (const EngineError&) {  // a stream knows its context, too
  }
  driver().free(asDevice(data), stream.handle);  // fails only where the device is lost
}

int deviceCount(std::string& why_none) {
  const Driver* const found = findDriver(why_none);
  if (found == nullptr) {
    return 0;
  }
  if (isForkedChild()) {
    why_none = kForked;
    return 0;
  }
  int count = 0;
  try {
    check(found->deviceCount(&count), "counting GPUs");
  } catch (const EngineError& error) {
    why_none = error.message();
    return 0;
  }
  why_none = count == 0 ? "the NVIDIA driver finds no GPU" : "";
  return count;
}

const CudaDevice& deviceAt(int index) {
  static auto* const mutex = new std::mutex;
  static auto* const devices = new std::map<int, std::unique_ptr<CudaDevice>>;
  const std::lock_guard lock(*mutex);
  std::unique_ptr<CudaDevice>& device = (*devices)[index];
  if (device == nullptr) {
    device = std::make_unique<CudaDevice>(index);
  }
  return *device;
}

}  // namespace torchtrt::cuda
