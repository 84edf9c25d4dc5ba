#include "support/deferred_region.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

namespace torchtrt::testing {

namespace {

constexpr size_t kMostRegions = 64;

std::atomic<std::byte*> regions[kMostRegions];
struct sigaction previous_action;
thread_local bool is_queue = false;

void onFault(int, siginfo_t* info, void*) {
  const auto* const address = static_cast<const std::byte*>(info->si_addr);
  for (const std::atomic<std::byte*>& each : regions) {
    const std::byte* const begin = each.load();
    if (begin != nullptr && address >= begin && address < begin + kRegionBytes) {
      const std::string_view text = is_queue ? "deferred device: work touches memory that it was not given\n"
                                             : "deferred device: the host touches memory of the device\n";
      (void)!write(STDERR_FILENO, text.data(), text.size());
    }
  }
  sigaction(SIGSEGV, &previous_action, nullptr);  // the fault comes again, and ends the process
}

void watchFaults() {
  struct sigaction action {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previous_action);
}

}  // namespace

void fail(const std::string& message) {
  std::fprintf(stderr, "deferred device: %s\n", message.c_str());
  std::fflush(stderr);
  std::abort();
}

std::byte* takeRegion() {
  static std::once_flag once;
  std::call_once(once, watchFaults);
  void* const mapped = mmap(nullptr, kRegionBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    fail("there are no addresses left");
  }
  auto* const region = static_cast<std::byte*>(mapped);
  for (std::atomic<std::byte*>& each : regions) {
    std::byte* none = nullptr;
    if (each.compare_exchange_strong(none, region)) {
      return region;
    }
  }
  fail("there are too many devices in one process");
}

void giveRegionBack(std::byte* region) {
  for (std::atomic<std::byte*>& each : regions) {
    std::byte* found = region;
    each.compare_exchange_strong(found, nullptr);
  }
  munmap(region, kRegionBytes);
}

void worksForQueue() {
  is_queue = true;
}

}  // namespace torchtrt::testing
