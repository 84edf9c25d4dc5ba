// Padded copies of the input lines that neighbouring output rows of planes.cpp and planes_pooled.cpp share, in blocks
// of columns, and in which every phase of a stride along the width lies by itself. Not for images that are read where
// they lie. Private to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/convolution/planes/planes.h"

namespace torchtrt::kernels::convolution {

inline constexpr int64_t kBandFloats = 12288;  // a buffer on the stack, as pointers to lines are
inline constexpr int64_t kMinBlock = 64;       // columns: fewer at a time are not worth a copy

class PlanesBand {
 public:
  PlanesBand() = default;
  // A band has `columns` by `rows` output pixels, fewer if the buffer has no room for their input.
  PlanesBand(const PackedPlanes& packed, const Image& input, int64_t columns, int64_t rows);

  int64_t columns() const {
    return columns_;
  }
  int64_t rows() const {
    return rows_;
  }
  // Elements from a line's first column to what each width tap of output column 0 reads.
  const std::vector<int64_t>& tapOffsets() const {
    return tap_offsets_;
  }
  // Copies the input of `rows` output rows of depth `z` from `row` on, for the columns from `column` on. A vector may
  // be read behind each line.
  void fill(const float* image, int64_t z, int64_t row, int64_t rows, int64_t column, int64_t columns,
            float* buffer) const;
  // The lines that row `row` of those reads, by channel, depth and height tap; none is null.
  void findLines(const float* buffer, int64_t row, const float** lines) const;

 private:
  void setBlock(int64_t columns, int64_t rows, int64_t room);
  int64_t linesOf(int64_t rows) const;
  void copyPhase(const float* line, int64_t first, int64_t count, float* to) const;

  Geometry geometry_;
  Image input_;
  int64_t lanes_ = 0;
  int64_t reach_ = 0;
  int64_t columns_ = 0;
  int64_t rows_ = 0;
  int64_t pitch_ = 0;  // floats of a phase of a line
  int64_t lines_ = 0;  // of a channel and depth tap
  int64_t step_ = 1;   // from each of them to the next, in lines of the image
  std::vector<int64_t> tap_offsets_;
};

}  // namespace torchtrt::kernels::convolution
