// The vector code of an attention head: products with packed matrices and the numerators of softmax over a row.
#pragma once

#include <cstdint>
#include <span>

namespace torchtrt::kernels::attention {

// Rows of a mask: floats that are added to the scaled scores, or bytes of which 0 makes a score minus infinity.
struct Mask {
  const float* added = nullptr;
  const uint8_t* chosen = nullptr;
  int64_t stride = 0;

  Mask from(int64_t row) const {
    return {added == nullptr ? nullptr : added + row * stride, chosen == nullptr ? nullptr : chosen + row * stride,
            stride};
  }
};

// out = a b, rows of which may be scaled. b is packed; out of a product without factors has room for whole panels.
struct Product {
  const float* a;  // [rows, depth]
  int64_t a_stride;
  int64_t rows;
  int64_t depth;
  const float* panels;
  int64_t panel_depth;  // with which b was packed: at least depth
  int64_t columns;
  float* out;
  int64_t out_stride;
  const float* factors;  // null or one per row
};

// scores[r][j] = the product of query r and key j, which lie in rows without gaps in them.
struct Dots {
  const float* queries;
  int64_t query_stride;
  int64_t rows;
  const float* keys;
  int64_t key_stride;
  int64_t count;
  int64_t size;
  float* scores;
  int64_t score_stride;
};

// out[r] = factors[r] * the sum of weights[r][j] * values[j], which lie in rows without gaps in them.
struct Mixture {
  const float* weights;
  int64_t weight_stride;
  int64_t rows;
  const float* values;
  int64_t value_stride;
  int64_t count;
  int64_t size;
  const float* factors;
  float* out;
  int64_t out_stride;
};

// Scores become weights: e^(x[i] - max x) with x = scores * scale and then masked. Row r is of the first
// min(first_count + r, count) scores, the others of the first `count` become 0; rows have room for whole panels.
struct Softmax {
  float* scores;
  int64_t stride;
  int64_t rows;
  int64_t first_count;
  int64_t count;
  float scale;
  std::span<const Mask> masks;
  bool safe;       // a row of nothing but minus infinity becomes 0 instead of NaN
  float* factors;  // that make the weights of a row sum up to 1
  // Weights below the normal numbers are 0. Else they are the least normal number, so that an infinite value stays
  // infinite. Products with such weights are denormal, which takes the CPU more than a hundred cycles each.
  bool drops_least = false;
};

struct HeadFunctions {
  int64_t width;  // columns of a panel
  // Packs b[k][j] = data[k * row_stride + j * column_stride] of [depth, columns] into panels, [width] wide, one behind
  // the other; columns that do not exist become 0.
  void (*pack)(const float* data, int64_t row_stride, int64_t column_stride, int64_t depth, int64_t columns,
               float* panels);
  // True if there is no NaN and no infinity. count: of whole vectors.
  bool (*are_finite)(const float* values, int64_t count);
  void (*product)(const Product& product);
  void (*weigh)(const Softmax& softmax);
  // The two products where nothing is packed: each key and value is read once for several rows. The bits of a row do
  // not depend on the others.
  void (*dots)(const Dots& dots);
  void (*mix)(const Mixture& mixture);
};

// The variants for this machine.
const HeadFunctions& headFunctions();

}  // namespace torchtrt::kernels::attention
