#include "cuda/device/stand_in.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <utility>

#include "base/checkpoint.h"
#include "cuda/compile/program.h"

namespace torchtrt::cuda {

namespace {

// Kernels cut few long rows into parts by it.
int processorsOf(const std::string& architecture) {
  constexpr std::pair<const char*, int> kKnown[] = {{"sm_75", 72},  {"sm_80", 108},  {"sm_86", 84},
                                                    {"sm_89", 142}, {"sm_100", 148}, {"sm_120", 188}};
  constexpr int kOthers = 132;  // as sm_90
  for (const auto& [known, count] : kKnown) {
    if (architecture == known) {
      return count;
    }
  }
  return kOthers;
}

device::Properties propertiesOf(const std::string& architecture) {
  device::Properties properties;
  properties.name = architecture;
  properties.isa = architecture;
  properties.cores = processorsOf(architecture);
  return properties;
}

}  // namespace

StandIn::StandIn(const std::string& architecture) : CudaDevice(propertiesOf(architecture)) {}

void StandIn::note(const std::string& text) const {
  const std::lock_guard lock(mutex_);
  texts_.insert(text);
}

void* StandIn::allocateBytes(size_t, device::Stream) const {
  return reinterpret_cast<void*>(uintptr_t{1} << 20);  // an address that no one reads, aligned as a GPU's memory is
}

std::vector<device::MachineCode> StandIn::make() const {
  std::vector<const std::string*> texts;
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& text : texts_) {
      texts.push_back(&text);
    }
  }
  std::vector<device::MachineCode> codes(texts.size());
  std::atomic<size_t> next = 0;
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    for (size_t i = next++; i < texts.size(); i = next++) {
      try {
        checkpoint();
        codes[i] = compiledCode(*texts[i], architecture());
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        failure = std::current_exception();
        next = texts.size();
      }
    }
  };
  constexpr unsigned kMostThreads = 8;
  std::vector<std::jthread> others;
  const unsigned threads = std::min(std::max(std::thread::hardware_concurrency(), 1U), kMostThreads);
  for (unsigned i = 1; i < threads && i < texts.size(); ++i) {
    others.emplace_back(work);
  }
  work();
  others.clear();  // when they have ended
  if (failure) {
    std::rethrow_exception(failure);
  }
  std::sort(codes.begin(), codes.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return codes;
}

}  // namespace torchtrt::cuda
