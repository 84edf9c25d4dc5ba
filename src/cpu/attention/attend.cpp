#include "cpu/attention/attend.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/align.h"

namespace torchtrt::kernels::attention {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

bool isHidden(std::span<const Mask> masks, int64_t row, int64_t key) {
  return std::any_of(masks.begin(), masks.end(), [&](const Mask& mask) {
    const int64_t at = row * mask.stride + key;
    return mask.chosen != nullptr ? mask.chosen[at] == 0 : mask.added[at] == kMinusInfinity;
  });
}

// The number of keys up to the last one that a query sees; all of them if it sees none, whose softmax is another.
int64_t visibleTo(std::span<const Mask> masks, int64_t row, int64_t count) {
  int64_t visible = count;
  while (visible > 0 && isHidden(masks, row, visible - 1)) {
    --visible;
  }
  return visible == 0 ? count : visible;
}

}  // namespace

void Head::reserve(size_t floats) {
  if (floats > capacity_) {
    memory_ = nullptr;
    memory_ = takeThreadMemory<float>(floats);
    capacity_ = floats;
  }
}

void Head::attendWhereTheyLie(const Vectors& keys, const Vectors& values, int64_t count, const Queries& queries) {
  const int64_t rows = queries.count;
  int64_t seen = queries.masks.empty() ? count : 0;
  for (int64_t row = 0; row < rows && seen < count; ++row) {
    seen = std::max(seen, visibleTo(queries.masks, row, count));
  }
  const int64_t stride = roundUp(seen, functions_.width);
  reserve(static_cast<size_t>(rows * stride));
  float* const scores = memory_.get();
  std::array<float, kFewQueries> factors;
  functions_.dots({queries.data, queries.stride, rows, keys.data, keys.stride, seen, keys.size, scores, stride});
  functions_.weigh({scores, stride, rows, seen, seen, queries.scale, queries.masks, queries.safe, factors.data()});
  functions_.mix({scores, stride, rows, values.data, values.stride, seen, values.size, factors.data(), queries.out,
                  queries.out_stride});
}

void Head::pack(const Vectors& keys, const Vectors& values, int64_t count) {
  key_size_ = keys.size;
  value_size_ = values.size;
  count_ = count;
  score_stride_ = roundUp(count, functions_.width);
  const int64_t key_floats = key_size_ * score_stride_, value_floats = count * roundUp(value_size_, functions_.width);
  reserve(static_cast<size_t>(key_floats + value_floats + kBlockRows * score_stride_));
  keys_ = memory_.get();
  values_ = keys_ + key_floats;
  scores_ = values_ + value_floats;
  functions_.pack(keys.data, keys.step, keys.stride, key_size_, count, keys_);
  functions_.pack(values.data, values.stride, values.step, count, value_size_, values_);
  are_finite_ = functions_.are_finite(values_, value_floats);
}

void Head::attend(const Queries& queries) {
  const int64_t blocks = (queries.count + kBlockRows - 1) / kBlockRows;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t first = queries.count * block / blocks;
    attendBlock(queries, first, queries.count * (block + 1) / blocks - first);
  }
}

void Head::attendBlock(const Queries& queries, int64_t first, int64_t rows) {
  const auto limitOf = [&](int64_t row) { return std::clamp<int64_t>(queries.first_limit + first + row, 0, count_); };
  const int64_t limit = limitOf(rows - 1);
  float* const out = queries.out + first * queries.out_stride;
  if (limit > 0) {
    functions_.product({queries.data + first * queries.stride, queries.stride, rows, key_size_, keys_, key_size_, limit,
                        scores_, score_stride_, nullptr});
    std::array<Mask, kMostMasks> masks;
    for (size_t i = 0; i < queries.masks.size(); ++i) {
      masks[i] = queries.masks[i].from(first);
    }
    std::array<float, kBlockRows> factors;
    functions_.weigh({scores_, score_stride_, rows, queries.first_limit + first, limit, queries.scale,
                      std::span(masks).first(queries.masks.size()), queries.safe, factors.data(), are_finite_});
    functions_.product(
        {scores_, score_stride_, rows, limit, values_, count_, value_size_, out, queries.out_stride, factors.data()});
  }
  for (int64_t row = 0; row < rows && limitOf(row) == 0; ++row) {
    std::fill_n(out + row * queries.out_stride, value_size_, 0.0F);
  }
}

}  // namespace torchtrt::kernels::attention
