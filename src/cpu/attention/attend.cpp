#include "cpu/attention/attend.h"

#include <algorithm>
#include <array>

#include "base/align.h"

namespace torchtrt::kernels::attention {

void Head::pack(const Vectors& keys, const Vectors& values, int64_t count) {
  key_size_ = keys.size;
  value_size_ = values.size;
  count_ = count;
  score_stride_ = roundUp(count, functions_.width);
  const int64_t key_floats = key_size_ * score_stride_, value_floats = count * roundUp(value_size_, functions_.width);
  const auto floats = static_cast<size_t>(key_floats + value_floats + kBlockRows * score_stride_);
  if (floats > capacity_) {
    memory_ = nullptr;
    memory_ = takeThreadMemory<float>(floats);
    capacity_ = floats;
  }
  keys_ = memory_.get();
  values_ = keys_ + key_floats;
  scores_ = values_ + value_floats;
  functions_.pack(keys.data, keys.step, keys.stride, key_size_, count, keys_);
  functions_.pack(values.data, values.stride, values.step, count, value_size_, values_);
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
                      std::span(masks).first(queries.masks.size()), queries.safe, factors.data()});
    functions_.product(
        {scores_, score_stride_, rows, limit, values_, count_, value_size_, out, queries.out_stride, factors.data()});
  }
  for (int64_t row = 0; row < rows && limitOf(row) == 0; ++row) {
    std::fill_n(out + row * queries.out_stride, value_size_, 0.0F);
  }
}

}  // namespace torchtrt::kernels::attention
