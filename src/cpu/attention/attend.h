// One attention head in float32: softmax(q k^T * scale + mask) v, a few queries at a time, so that the scores of a
// block stay in the cache and never reach memory. Shared by the attention operators of this folder.
#pragma once

#include <cstdint>
#include <span>

#include "cpu/attention/head_kernel.h"
#include "cpu/threads/thread_memory.h"

namespace torchtrt::kernels::attention {

// Queries whose scores are computed at a time.
inline constexpr int64_t kBlockRows = 24;

// Vectors in memory: element e of vector i is data[i * stride + e * step].
struct Vectors {
  const float* data;
  int64_t stride;
  int64_t step;
  int64_t size;
};

// The keys and values that all queries of a head meet, packed once. Its memory serves the next head, too.
class Head {
 public:
  static constexpr size_t kMostMasks = 2;

  void pack(const Vectors& keys, const Vectors& values, int64_t count);

  struct Queries {
    const float* data;
    int64_t stride;
    int64_t count;
    float* out;  // [count, value_size], rows out_stride apart
    int64_t out_stride;
    float scale;
    int64_t first_limit;          // query i meets the keys below min(first_limit + i, count of keys); none: output 0
    std::span<const Mask> masks;  // at most kMostMasks, applied to the scaled scores in order
    bool safe;                    // where all scores are minus infinity, the output is 0 instead of NaN
  };
  void attend(const Queries& queries);

  // The same for at most kFewQueries, which read keys and values where they lie: without gaps in them. Keys behind the
  // last one that a mask lets a query see are not read, nor are their values.
  static constexpr int64_t kFewQueries = 8;
  void attendWhereTheyLie(const Vectors& keys, const Vectors& values, int64_t count, const Queries& queries);

 private:
  void reserve(size_t floats);
  void attendBlock(const Queries& queries, int64_t first, int64_t rows);

  const HeadFunctions& functions_ = headFunctions();
  int64_t key_size_ = 0, value_size_ = 0, count_ = 0;
  int64_t score_stride_ = 0;  // whole panels
  bool are_finite_ = false;   // the values
  size_t capacity_ = 0;
  ThreadMemory<float> memory_;
  float* keys_ = nullptr;    // [key_size, count], packed
  float* values_ = nullptr;  // [count, value_size], packed
  float* scores_ = nullptr;  // [kBlockRows, score_stride]
};

}  // namespace torchtrt::kernels::attention
