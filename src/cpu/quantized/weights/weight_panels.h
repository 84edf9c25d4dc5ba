// Integer weights, their scales and offsets as panels that a product reads from front to end, once. A panel holds up to
// four vectors of columns. Its groups lie one behind the other: the scales of all columns, their offsets if there are
// any, then the weights, line by line of the depth. A line of 8 bits holds one weight of each column. A line of 4 bits
// holds eight, in 32 bits of each column, the first in the lowest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace torchtrt::kernels::quantized {

// The operands of a layer, row-major: weights of `columns` rows (two in a byte for 4 bits), `scale` and `offset` (or
// null) of [columns, depth / group_size].
struct IntegerWeights {
  int64_t columns;
  int64_t depth;
  int64_t group_size;
  int64_t bits;
  const void* weights;
  const float* scale;
  const float* offset;
};

// Weights of a line of the depth.
constexpr int64_t weightsOfLine(int64_t bits) {
  return bits == 4 ? 8 : 1;
}

struct WeightPanel {
  const std::byte* data;
  int32_t vectors;
  int32_t column;  // first column
  int32_t valid;   // columns that exist; the others have a scale of zero
};

class WeightPanels {
 public:
  // group_size is a multiple of weightsOfLine(bits) and divides the depth, columns and depth are above zero. The
  // operands are not needed afterwards.
  WeightPanels(const IntegerWeights& source, int threads);

  const std::vector<WeightPanel>& panels() const {
    return panels_;
  }
  int64_t columns() const {
    return shape_.columns;
  }
  int64_t depth() const {
    return shape_.depth;
  }
  int64_t groupSize() const {
    return shape_.group_size;
  }
  int64_t groups() const {
    return shape_.depth / shape_.group_size;
  }
  int64_t bits() const {
    return shape_.bits;
  }
  bool hasOffset() const {
    return has_offset_;
  }
  size_t bytes() const {
    return bytes_;
  }

  // Write the operands as they were given.
  void restoreWeights(void* to, int threads) const;
  void restoreScale(float* to) const;
  void restoreOffset(float* to) const;

 private:
  int64_t groupBytes(const WeightPanel& panel) const;
  void pack(const IntegerWeights& source, const WeightPanel& panel, std::byte* to) const;
  void restoreVectors(int64_t which, float* to) const;

  IntegerWeights shape_;  // without data
  int64_t lanes_;
  bool has_offset_;
  size_t bytes_ = 0;
  std::shared_ptr<std::byte> data_;
  std::vector<WeightPanel> panels_;
};

}  // namespace torchtrt::kernels::quantized
