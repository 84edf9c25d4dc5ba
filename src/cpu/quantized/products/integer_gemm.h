// Products of small integers, exact on every instruction set: B is packed once, as int16; the caller widens rows of A
// to int16 as it reads them; sums are int32 and wrap. (Instructions that multiply bytes would saturate in int16 on CPUs
// without VNNI.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace torchtrt::kernels::quantized {

// B of shape [depth, columns], as panels of up to two vectors of int32 columns.
class PackedIntegers {
 public:
  PackedIntegers() = default;
  // Row k of B is row(k)[n * column_stride] for n < columns; of int8_t or int16_t.
  template <typename T>
  PackedIntegers(int64_t depth, int64_t columns, int64_t column_stride, const std::function<const T*(int64_t)>& row,
                 int threads);

  int64_t depth() const {
    return depth_;
  }
  int64_t columns() const {
    return columns_;
  }
  size_t bytes() const {
    return bytes_;
  }

  struct Panel {
    const int16_t* data;  // [(depth + 1) / 2][width][2], zeros where there is nothing
    int32_t width;        // a multiple of the vector's lanes
    int32_t column;       // first column
    int32_t valid;        // columns that exist
  };
  const std::vector<Panel>& panels() const {
    return panels_;
  }

 private:
  int64_t depth_ = 0;
  int64_t columns_ = 0;
  size_t bytes_ = 0;
  std::shared_ptr<int16_t> data_;
  std::vector<Panel> panels_;
};

inline constexpr int64_t kWidestPanel = 32;  // on any machine

// Any number of rows times one panel, over a part of the depth.
struct PanelProduct {
  const int16_t* a;  // row r at a + r * a_stride
  int64_t a_stride;
  int64_t rows;
  const int16_t* b;  // of the panel, at the first pair of this part
  int64_t width;
  int64_t pairs;         // steps of the depth by two
  int32_t* sums;         // [rows][width]
  bool add;              // to what is there; otherwise overwrites it
  const int16_t* ahead;  // as many values as `b` has that are needed next: fetched meanwhile
};

struct IntegerGemm {
  int64_t lanes = 1;  // int32 values of a vector
  void (*multiply)(const PanelProduct& product) = nullptr;
};
IntegerGemm integerGemm();  // the variant for this machine; ask once and keep it

}  // namespace torchtrt::kernels::quantized
