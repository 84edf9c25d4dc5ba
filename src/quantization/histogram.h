// Counts the values that a tensor held, in bins of equal width, half of them below zero. The width is a power of two
// and doubles as greater values come; pairs of bins then become one. So the counts depend on all values and not on
// their order, and memory stays the same. Values that are not finite are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torchtrt::quantization {

class Histogram {
 public:
  static constexpr int kHalf = 2048;  // bins on each side of zero

  void add(const float* values, size_t count);

  // No finite value but zeros was seen.
  bool isEmpty() const {
    return bins_.empty();
  }
  // Bin kHalf + i holds i * width() <= x < (i + 1) * width(), zeros among them; empty where isEmpty().
  const std::vector<uint64_t>& bins() const {
    return bins_;
  }
  double width() const {
    return width_;
  }
  // The finite values that were seen, zeros among them.
  uint64_t count() const {
    return count_;
  }
  uint64_t zeros() const {
    return zeros_;
  }
  // Returns the least of the values seen and of zero.
  double min() const {
    return static_cast<double>(min_);
  }
  double max() const {
    return static_cast<double>(max_);
  }

 private:
  void makeRoomFor(double magnitude);

  std::vector<uint64_t> bins_;
  double width_ = 0;
  uint64_t count_ = 0;
  uint64_t zeros_ = 0;
  float min_ = 0;
  float max_ = 0;
};

}  // namespace torchtrt::quantization
