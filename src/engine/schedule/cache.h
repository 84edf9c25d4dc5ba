// Keeps the schedules used last within a bound on their bytes and their number. Calls look here only when their context
// was last used for other shapes. Private to this folder.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/schedule/schedule.h"

namespace torchtrt::engine {

class ScheduleCache {
 public:
  explicit ScheduleCache(size_t bytes) : limit_(bytes) {}

  // The one for these inputs; makes it when there is none. Two threads may make the same one at a time: the first is
  // kept.
  std::shared_ptr<const Schedule> get(const Model& model, std::span<const TensorView> inputs, int threads);
  size_t size() const;
  size_t bytes() const;

 private:
  // The byte limit alone would let many shapes of small networks in, and memory would grow for thousands of calls.
  static constexpr size_t kMost = 512;

  using List = std::list<std::shared_ptr<const Schedule>>;  // used last first

  std::shared_ptr<const Schedule> find(uint64_t hash, std::span<const TensorView> inputs, int threads);
  void insert(uint64_t hash, std::shared_ptr<const Schedule> schedule);
  void evict();

  mutable std::mutex mutex_;
  const size_t limit_;
  size_t bytes_ = 0;
  List list_;
  std::unordered_multimap<uint64_t, List::iterator> by_hash_;
};

}  // namespace torchtrt::engine
