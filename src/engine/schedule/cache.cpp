#include "engine/schedule/cache.h"

#include <string>

#include "base/hash.h"
#include "base/logging.h"
#include "engine/schedule/prepared_shapes.h"

namespace torchtrt::engine {

namespace {

uint64_t hashOf(const std::vector<int64_t>& key, int threads) {
  return hashBytes(key.data(), key.size() * sizeof(int64_t), static_cast<uint64_t>(threads)).low;
}

std::string shapesOf(std::span<const TensorView> inputs) {
  std::string text;
  for (const TensorView& input : inputs) {
    text += text.empty() ? "[" : " [";
    for (int32_t i = 0; i < input.rank; ++i) {
      text += (i == 0 ? "" : ", ") + std::to_string(input.dims[i]);
    }
    text += "]";
  }
  return text;
}

}  // namespace

std::shared_ptr<const Schedule> ScheduleCache::get(const Model& model, std::span<const TensorView> inputs,
                                                   int threads) {
  std::vector<int64_t> key;
  makeKey(inputs, key);
  const uint64_t hash = hashOf(key, threads);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (auto found = find(hash, inputs, threads)) {
      return found;
    }
  }
  auto made = buildSchedule(model, inputs, threads);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (auto found = find(hash, inputs, threads)) {
    return found;
  }
  insert(hash, made);
  countPreparedShapes();
  // bench/shapes.py counts these lines.
  TORCHTRT_LOG(kDEBUG, "engine " << model.plan.name << " is prepared for " << shapesOf(inputs) << ": " << list_.size()
                                 << " kept, " << bytes_ << " of " << limit_ << " bytes");
  return made;
}

size_t ScheduleCache::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return list_.size();
}

size_t ScheduleCache::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

std::shared_ptr<const Schedule> ScheduleCache::find(uint64_t hash, std::span<const TensorView> inputs, int threads) {
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if ((*it->second)->matches(inputs, threads)) {
      list_.splice(list_.begin(), list_, it->second);
      return *it->second;
    }
  }
  return nullptr;
}

void ScheduleCache::insert(uint64_t hash, std::shared_ptr<const Schedule> schedule) {
  const size_t bytes = schedule->held_bytes;
  List made;  // what may throw comes first
  made.push_front(std::move(schedule));
  by_hash_.emplace(hash, made.begin());
  list_.splice(list_.begin(), made);
  bytes_ += bytes;
  while ((bytes_ > limit_ || list_.size() > kMost) && list_.size() > 1) {
    evict();
  }
}

void ScheduleCache::evict() {
  const auto last = std::prev(list_.end());
  const auto [begin, end] = by_hash_.equal_range(hashOf((*last)->key, (*last)->threads));
  for (auto it = begin; it != end; ++it) {
    if (it->second == last) {
      by_hash_.erase(it);
      break;
    }
  }
  bytes_ -= (*last)->held_bytes;
  list_.pop_back();
}

}  // namespace torchtrt::engine
