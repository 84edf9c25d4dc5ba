#include "support/deferred_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "base/align.h"
#include "support/deferred_region.h"
#include "torchtrt/error.h"

namespace torchtrt::testing {

namespace {

constexpr size_t kMemoryBytes = size_t{2} << 30;
constexpr int kPoison = 0xFF;  // NaN, -1, true

// ---- time ----

using Clock = std::chrono::steady_clock;

// ---- faults ----

// The faults of an engine's steps in one stream.
struct Faults {
  std::mutex mutex;
  std::vector<std::optional<EngineError>> of_step;
};

struct FaultWord {
  std::shared_ptr<Faults> faults;
  size_t step;
};

class DeferredFaultWords final : public device::FaultWords {
 public:
  explicit DeferredFaultWords(size_t steps) : faults_(std::make_shared<Faults>()) {
    faults_->of_step.resize(steps);
    for (size_t step = 0; step < steps; ++step) {
      words_.push_back({faults_, step});
    }
  }
  void* word(size_t step) const override {
    return const_cast<FaultWord*>(&words_.at(step));
  }
  std::optional<Fault> take() override {
    const std::lock_guard lock(faults_->mutex);
    for (size_t step = 0; step < faults_->of_step.size(); ++step) {
      if (const auto error = std::exchange(faults_->of_step[step], std::nullopt)) {
        return Fault{step, *error};
      }
    }
    return std::nullopt;
  }

 private:
  std::shared_ptr<Faults> faults_;
  std::vector<FaultWord> words_;
};

class DeferredTimer final : public device::Timer {
 public:
  explicit DeferredTimer(const DeferredDevice& device) : device_(device), times_(std::make_shared<Times>()) {}
  void start(device::Stream stream) override {
    device_.give(stream, {"a timer's start", {}, {}, [times = times_] { times->start = Clock::now(); }});
  }
  void stop(device::Stream stream) override {
    device_.give(stream, {"a timer's stop", {}, {}, [times = times_] { times->stop = Clock::now(); }});
    stopped_in_ = stream;
  }
  double microseconds() override {
    device_.wait(stopped_in_);
    return std::chrono::duration<double, std::micro>(times_->stop - times_->start).count();
  }

 private:
  struct Times {
    Clock::time_point start, stop;
  };
  const DeferredDevice& device_;
  std::shared_ptr<Times> times_;
  device::Stream stopped_in_;
};

}  // namespace

// Keeps the work, not the memory that it uses: whoever replays it sees to that.
class DeferredRecording final : public device::PartRecording {
 public:
  DeferredRecording(const DeferredDevice& device, std::vector<std::vector<DeferredDevice::Work>> parts)
      : device_(device), parts_(std::move(parts)) {}
  void replay(device::Stream stream) const override {
    const std::lock_guard lock(device_.mutex_);
    ++device_.replays_;
    for (const std::vector<DeferredDevice::Work>& part : parts_) {
      for (const DeferredDevice::Work& each : part) {
        device_.give(stream, each);
      }
    }
  }
  bool renew(const std::vector<size_t>& parts, const device::PartBody& body) override {
    if (device_.happensToRefuse()) {
      return false;
    }
    for (const size_t part : parts) {
      parts_.at(part) = device_.captured([&](device::Stream stream) { body(part, stream); });
    }
    const std::lock_guard lock(device_.mutex_);
    ++device_.renewals_;
    return true;
  }

 private:
  const DeferredDevice& device_;
  std::vector<std::vector<DeferredDevice::Work>> parts_;
};

DeferredDevice::DeferredDevice(uint64_t seed) : properties_(device::cpu().properties()), random_(seed) {
  properties_.name = "deferred";
  properties_.memory_bytes = std::min(properties_.memory_bytes, kMemoryBytes);
  region_ = end_ = takeRegion();
}

DeferredDevice::~DeferredDevice() {
  giveRegionBack(region_);
}

// ---- memory ----

void* DeferredDevice::allocateBytes(size_t bytes, device::Stream stream) const {
  const std::lock_guard lock(mutex_);
  refuseCapturing(stream, "memory is asked for");
  if (bytes > properties_.memory_bytes) {
    return nullptr;
  }
  const auto page = static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
  const size_t mapped = roundUp(bytes + kAlignment, page);
  auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const auto& each) {
    const Block& block = each.second;
    return !block.is_live && block.mapped == mapped && isOrdered(block.writes, stream.handle);
  });
  if (found == blocks_.end()) {
    if (mapped > static_cast<size_t>(region_ + kRegionBytes - end_)) {
      return nullptr;
    }
    found = blocks_.emplace(end_, Block{}).first;
    end_ += mapped;
  }
  Block& block = found->second;
  block.bytes = bytes;
  block.mapped = mapped;
  block.is_live = true;
  std::byte* const data = found->first;
  enqueue(stream.handle, {"new memory", {}, {{data, bytes}}, [data, mapped] { std::memset(data, kPoison, mapped); }});
  return data;
}

void DeferredDevice::freeBytes(void* data, size_t bytes, device::Stream stream) const {
  const std::lock_guard lock(mutex_);
  const auto found = blockOf(data);
  if (found == blocks_.end() || found->first != data || !found->second.is_live || found->second.bytes != bytes) {
    fail("memory is given back that is not live, or not as a whole");
  }
  Block& block = found->second;
  checkOrder(block.reads, stream.handle, "memory is given back");
  checkOrder(block.writes, stream.handle, "memory is given back");
  const size_t mapped = block.mapped;
  enqueue(stream.handle,
          {"memory given back", {}, {{data, bytes}}, [data, bytes, mapped] {
             const auto* const tail = static_cast<const unsigned char*>(data);
             if (std::any_of(tail + bytes, tail + mapped, [](unsigned char c) { return c != kPoison; })) {
               fail("something was written behind the end of " + std::to_string(bytes) + " bytes");
             }
             std::memset(data, kPoison, mapped);
           }});
  block.is_live = false;
  block.reads.clear();
}

size_t DeferredDevice::liveBytes() const {
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const auto& [data, block] : blocks_) {
    bytes += block.is_live ? block.bytes : 0;
  }
  return bytes;
}

DeferredDevice::Blocks::iterator DeferredDevice::blockOf(const void* data) const {
  const auto* const at = static_cast<const std::byte*>(data);
  auto next = blocks_.upper_bound(const_cast<std::byte*>(at));
  if (at < region_ || at >= end_ || next == blocks_.begin()) {
    return blocks_.end();
  }
  return --next;
}

// ---- order ----

bool DeferredDevice::isOrdered(const Uses& uses, StreamId stream) const {
  return std::all_of(uses.begin(), uses.end(),
                     [&](const auto& use) { return use.first == stream || lanes_[use.first].waited >= use.second; });
}

void DeferredDevice::checkOrder(const Uses& uses, StreamId stream, const std::string& what) const {
  if (!isOrdered(uses, stream)) {
    fail(what + " in one stream while another may still use it: nobody waited for that one");
  }
}

void DeferredDevice::checkSpan(const Work& work, const Span& span) const {
  const auto found = blockOf(span.data);
  if (found == blocks_.end()) {
    fail(work.name + " is given memory of the host");
  }
  if (!found->second.is_live) {
    fail(work.name + " is given memory that was given back");
  }
  const auto* const end = static_cast<const std::byte*>(span.data) + span.bytes;
  if (end > found->first + found->second.bytes) {
    fail(work.name + " is given memory that ends " + std::to_string(end - (found->first + found->second.bytes)) +
         " bytes too early");
  }
}

void DeferredDevice::noteUse(const Work& work, const Span& span, bool is_write, StreamId stream,
                             uint64_t number) const {
  Block& block = blockOf(span.data)->second;
  checkOrder(block.writes, stream, "the memory of " + work.name + " is used");
  if (is_write) {
    checkOrder(block.reads, stream, "the memory of " + work.name + " is used");
  }
  (is_write ? block.writes : block.reads)[stream] = number;
}

void DeferredDevice::enqueue(StreamId stream, Work work) const {
  Lane& lane = lanes_[stream];
  ++lane.given;
  for (const Span& span : work.reads) {
    noteUse(work, span, false, stream, lane.given);
  }
  for (const Span& span : work.writes) {
    noteUse(work, span, true, stream, lane.given);
  }
  lane.queue.push_back(std::move(work));
}

void DeferredDevice::give(device::Stream stream, Work work) const {
  const std::lock_guard lock(mutex_);
  for (std::vector<Span>* const spans : {&work.reads, &work.writes}) {
    std::erase_if(*spans, [](const Span& span) { return span.bytes == 0; });
    for (const Span& span : *spans) {
      checkSpan(work, span);
    }
  }
  if (const auto capture = captures_.find(stream.handle); capture != captures_.end()) {
    capture->second.push_back(std::move(work));
    return;
  }
  enqueue(stream.handle, std::move(work));
}

size_t DeferredDevice::pendingWork() const {
  const std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const auto& [stream, lane] : lanes_) {
    count += lane.queue.size();
  }
  return count;
}

// ---- running ----

// All work of the stream, and some of the others' around it.
std::vector<DeferredDevice::Work> DeferredDevice::takeInSomeOrder(StreamId stream) const {
  std::vector<Work> taken;
  const auto take = [&](Lane& lane) {
    taken.push_back(std::move(lane.queue.front()));
    lane.queue.pop_front();
  };
  Lane& waited = lanes_[stream];
  const uint64_t way = random_() % 3;
  for (auto& [id, lane] : lanes_) {
    while (way == 1 && id != stream && !lane.queue.empty()) {  // the others first
      take(lane);
    }
    while (way == 2 && id != stream && !lane.queue.empty()) {  // in between
      if (!waited.queue.empty() && random_() % 2 == 0) {
        take(waited);
      }
      if (random_() % 8 == 0) {
        break;
      }
      take(lane);
    }
  }
  while (!waited.queue.empty()) {
    take(waited);
  }
  return taken;
}

void DeferredDevice::protect(const Work& work, int protection) const {
  for (const std::vector<Span>* const spans : {&work.reads, &work.writes}) {
    for (const Span& span : *spans) {
      const auto found = blockOf(span.data);
      if (mprotect(found->first, found->second.mapped, protection) != 0) {
        fail("mprotect fails");
      }
    }
  }
}

void DeferredDevice::runOne(const Work& work) const {
  protect(work, PROT_READ | PROT_WRITE);
  try {
    work.run();
  } catch (const std::bad_alloc&) {
    fault_ = std::make_exception_ptr(
        EngineError(ErrorCode::kOutOfMemory, "no memory for " + work.name, {}, "free some memory"));
  } catch (const EngineError& error) {
    if (work.report) {
      work.report(error);
    } else {
      fault_ = fault_ == nullptr ? std::current_exception() : fault_;
    }
  } catch (...) {
    fault_ = fault_ == nullptr ? std::current_exception() : fault_;
  }
  protect(work, PROT_NONE);
}

// Not in the caller's thread, as on a device.
void DeferredDevice::runAll(const std::vector<Work>& work) const {
  std::thread([&] {
    worksForQueue();
    std::for_each(work.begin(), work.end(), [this](const Work& each) { runOne(each); });
  }).join();
}

void DeferredDevice::runLane(StreamId stream) const {
  if (const std::vector<Work> work = takeInSomeOrder(stream); !work.empty()) {
    runAll(work);
  }
  lanes_[stream].waited = lanes_[stream].given;
}

void DeferredDevice::wait(device::Stream stream) const {
  {
    const std::lock_guard lock(mutex_);
    refuseCapturing(stream, "somebody waits");
    runLane(stream.handle);
  }
  checkFaults();
}

void DeferredDevice::waitForAll() const {
  const std::lock_guard lock(mutex_);
  if (!captures_.empty()) {
    throw EngineError(ErrorCode::kInputDevice, "a stream is being recorded");
  }
  for (const auto& [stream, lane] : lanes_) {
    runLane(stream);
  }
}

void DeferredDevice::checkFaults() const {
  const std::lock_guard lock(mutex_);
  if (const std::exception_ptr fault = std::exchange(fault_, nullptr)) {
    std::rethrow_exception(fault);
  }
}

std::unique_ptr<device::FaultWords> DeferredDevice::faultWords(size_t steps) const {
  return std::make_unique<DeferredFaultWords>(steps);
}

std::function<void(const EngineError&)> DeferredDevice::reporter() {
  const auto* const word = static_cast<const FaultWord*>(device::FaultScope::current());
  if (word == nullptr) {
    return nullptr;
  }
  return [copy = *word](const EngineError& error) {
    const std::lock_guard lock(copy.faults->mutex);
    copy.faults->of_step[copy.step] = error;
  };
}

// ---- copies ----

void DeferredDevice::copyIn(void* to, const void* from, size_t bytes, device::Stream stream) const {
  if (bytes == 0) {
    return;
  }
  refuseCapturing(stream, "the host's memory is copied");
  const auto* const first = static_cast<const std::byte*>(from);
  const auto held = std::make_shared<std::vector<std::byte>>(first, first + bytes);
  give(stream,
       {"a copy from the host", {}, {{to, bytes}}, [to, held] { std::memcpy(to, held->data(), held->size()); }});
}

void DeferredDevice::copyOut(void* to, const void* from, size_t bytes, device::Stream stream) const {
  refuseCapturing(stream, "memory is copied to the host");
  if (bytes != 0) {
    give(stream, {"a copy to the host", {{from, bytes}}, {}, [to, from, bytes] { std::memcpy(to, from, bytes); }});
  }
  wait(stream);
}

void DeferredDevice::copyWithin(void* to, const void* from, size_t bytes, device::Stream stream) const {
  if (bytes == 0) {
    return;
  }
  give(stream,
       {"a copy on the device", {{from, bytes}}, {{to, bytes}}, [to, from, bytes] { std::memmove(to, from, bytes); }});
}

void DeferredDevice::zero(void* to, size_t bytes, device::Stream stream) const {
  if (bytes == 0) {
    return;
  }
  give(stream, {"zeros", {}, {{to, bytes}}, [to, bytes] { std::memset(to, 0, bytes); }});
}

std::unique_ptr<device::Timer> DeferredDevice::timer() const {
  return std::make_unique<DeferredTimer>(*this);
}

// ---- recordings ----

void DeferredDevice::refuseCapturing(device::Stream stream, const char* what) const {
  if (isCapturing(stream)) {
    fail(std::string(what) + " in a stream that is being recorded");
  }
}

bool DeferredDevice::isCapturing(device::Stream stream) const {
  const std::lock_guard lock(mutex_);
  return captures_.count(stream.handle) != 0;
}

void DeferredDevice::beginCapture(device::Stream stream) const {
  const std::lock_guard lock(mutex_);
  captures_[stream.handle].clear();
}

std::vector<DeferredDevice::Work> DeferredDevice::takeCapture(device::Stream stream) const {
  const std::lock_guard lock(mutex_);
  const auto capture = captures_.find(stream.handle);
  std::vector<Work> work = std::move(capture->second);
  captures_.erase(capture);
  return work;
}

std::unique_ptr<device::Recording> DeferredDevice::endCapture(device::Stream stream) const {
  const std::lock_guard lock(mutex_);
  ++recordings_;
  return std::make_unique<DeferredRecording>(*this, std::vector<std::vector<Work>>{takeCapture(stream)});
}

std::vector<DeferredDevice::Work> DeferredDevice::captured(const std::function<void(device::Stream)>& body) const {
  const auto own = std::make_unique<char>();  // its address is a stream that nobody else has
  const device::Stream stream{own.get()};
  beginCapture(stream);
  try {
    body(stream);
  } catch (...) {
    (void)takeCapture(stream);
    throw;
  }
  return takeCapture(stream);
}

bool DeferredDevice::happensToRefuse() const {
  const std::lock_guard lock(mutex_);
  return random_() % 8 == 0;
}

std::unique_ptr<device::Recording> DeferredDevice::record(const std::function<void(device::Stream)>& body) const {
  std::vector<Work> work = captured(body);
  const std::lock_guard lock(mutex_);
  ++recordings_;
  return std::make_unique<DeferredRecording>(*this, std::vector<std::vector<Work>>{std::move(work)});
}

std::unique_ptr<device::PartRecording> DeferredDevice::recordParts(size_t parts, const device::PartBody& body) const {
  if (happensToRefuse()) {
    return nullptr;
  }
  std::vector<std::vector<Work>> work;
  for (size_t part = 0; part < parts; ++part) {
    work.push_back(captured([&](device::Stream stream) { body(part, stream); }));
  }
  const std::lock_guard lock(mutex_);
  ++recordings_;
  return std::make_unique<DeferredRecording>(*this, std::move(work));
}

}  // namespace torchtrt::testing
