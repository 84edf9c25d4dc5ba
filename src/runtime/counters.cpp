#include "runtime/counters.h"

#include <map>
#include <mutex>

#include "torchtrt/runtime.h"

namespace torchtrt::runtime {

namespace {

struct AllCounts {
  std::mutex mutex;
  std::map<std::string, EngineCounts> by_name;  // nodes stay where they are
};

// Never destroyed: engines count while the process ends.
AllCounts& allCounts() {
  static auto* const all = new AllCounts;
  return *all;
}

}  // namespace

EngineCounts& countsOf(const std::string& engine) {
  AllCounts& all = allCounts();
  const std::lock_guard lock(all.mutex);
  return all.by_name[engine];
}

std::vector<EngineCounters> counters() {
  constexpr double kSecond = 1e-9;  // of a nanosecond
  AllCounts& all = allCounts();
  const std::lock_guard lock(all.mutex);
  std::vector<EngineCounters> result;
  for (const auto& [name, counts] : all.by_name) {
    result.push_back({name, counts.calls, counts.fallbacks, counts.errors, counts.new_shapes,
                      static_cast<double>(counts.nanoseconds) * kSecond});
  }
  return result;
}

}  // namespace torchtrt::runtime
