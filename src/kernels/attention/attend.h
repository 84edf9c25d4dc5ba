// One attention head in float32: softmax(q k^T * scale + mask) v, a few queries at a time, so that the scores of a
// block stay in the cache and never reach memory. Shared by the attention operators of this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/gemm/packed_gemm.h"

namespace torchtrt::kernels::attention {

// Queries whose scores are computed at a time.
inline constexpr int64_t kBlockRows = 32;

// Vectors in memory: element e of vector i is data[i * stride + e * step].
struct Vectors {
  const float* data;
  int64_t stride;
  int64_t step;
  int64_t size;
};

// The keys and values that all queries of a head meet, packed once.
class Head {
 public:
  Head(const Vectors& keys, const Vectors& values, int64_t count);

  struct Queries {
    const float* data;
    int64_t stride;
    int64_t count;
    float* out;  // [count, value_size], rows out_stride apart
    int64_t out_stride;
    float scale;
    int64_t first_limit;  // query i meets the keys below min(first_limit + i, count of keys); none: its output is 0
    const float* mask;    // null, or added to the scaled scores: mask + i * mask_stride
    int64_t mask_stride;
  };
  // `scores` holds scoreCount() floats.
  void attend(const Queries& queries, float* scores) const;
  int64_t scoreCount() const {
    return kBlockRows * count_;
  }

 private:
  void attendBlock(const Queries& queries, int64_t first, int64_t rows, float* scores) const;

  int64_t key_size_, count_;
  gemm::PackedB keys_;    // [key_size, count]
  gemm::PackedB values_;  // [count, value_size]
  gemm::Functions functions_;
};

}  // namespace torchtrt::kernels::attention
