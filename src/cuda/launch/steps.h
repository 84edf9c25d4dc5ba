// Steps around calls of libraries: copies of operands that a library cannot read, and a launch that adds what it left.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"

namespace torchtrt::cuda {

// The place of elements at a run.
struct Place {
  enum class Kind : uint8_t { kAbsent, kInput, kOutput, kScratch, kFixed };
  Kind kind = Kind::kAbsent;
  size_t index = 0;    // of the operand
  int64_t offset = 0;  // in scratch memory, in bytes
  DevicePointer address = 0;

  static Place input(const Layer& layer, size_t index) {
    return layer.has(index) ? Place{Kind::kInput, index} : Place{};
  }
  static Place output() {
    return {Kind::kOutput};
  }
  static Place fixed(DevicePointer address) {
    return {Kind::kFixed, 0, 0, address};
  }
  // Room for so many elements.
  static Place reserve(Launches& launches, int64_t count, DType dtype) {
    return {Kind::kScratch, 0, launches.reserve(static_cast<size_t>(count) * sizeOf(dtype))};
  }

  Arguments& addTo(Arguments& arguments, int64_t bytes = 0) const;
};

// A tensor's elements, by strides.
struct Strided {
  Place place;
  Ints strides;
};

// Defines HAS_SCALE, and BIAS as the type of a bias in memory.
void defineScale(Source& source, bool has_scale, DType dtype);

// Copies all elements, bit by bit.
void addCopy(Launches& launches, DType dtype, const Ints& dims, const Strided& from, const Strided& to);

// Activation of sums times scale plus bias plus residual, which are rounded once. The last dim is the one that threads
// go along. Beside a scale, which is of float32, the bias is so, too.
struct Finish {
  Ints dims;
  DType sums_dtype = DType::kFloat32, dtype = DType::kFloat32;
  Strided sums, scale, bias, residual, out;  // scale, bias and residual may be absent, with strides of 0
};
void addFinish(Launches& launches, const Layer& layer, const Finish& finish);

}  // namespace torchtrt::cuda
