#include "engine/schedule/schedule.h"

#include <algorithm>

namespace torchtrt::engine {

bool Schedule::matches(std::span<const TensorView> inputs, int thread_count) const {
  if (thread_count != threads) {
    return false;
  }
  const int64_t* at = key.data();
  const int64_t* const end = at + key.size();
  for (const TensorView& input : inputs) {
    const auto rank = static_cast<size_t>(input.rank);
    if (at == end || *at != input.rank || at[1] != static_cast<int64_t>(input.dtype) ||
        !std::equal(input.dims, input.dims + rank, at + 2) ||
        !std::equal(input.strides, input.strides + rank, at + 2 + rank)) {
      return false;
    }
    at += 2 + 2 * rank;
  }
  return at == end;
}

void makeKey(std::span<const TensorView> inputs, std::vector<int64_t>& key) {
  key.clear();
  for (const TensorView& input : inputs) {
    key.push_back(input.rank);
    key.push_back(static_cast<int64_t>(input.dtype));
    key.insert(key.end(), input.dims, input.dims + std::max(input.rank, 0));
    key.insert(key.end(), input.strides, input.strides + std::max(input.rank, 0));
  }
}

}  // namespace torchtrt::engine
