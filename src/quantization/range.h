// Takes a range from what a tensor held, and an int8 or uint8 quantization from a range.
#pragma once

#include <cstdint>
#include <optional>

#include "quantization/histogram.h"
#include "quantization/quantization.h"

namespace torchtrt::quantization {

// Nothing for a tensor that held no finite value but zeros.
std::optional<Range> rangeOf(const Histogram& histogram, const Options& options);

// The attributes of a QUANTIZE layer. scale is a float32 number.
struct Steps {
  DType to = DType::kUInt8;
  double scale = 1;
  int64_t zero_point = 0;
  int64_t low = 0;
  int64_t high = 255;
};

// Steps that reach over the range and zero. Nothing where float32 has no such scale, or not its reciprocal. Throws
// CompileError(kInvalidOption) for a range that is none.
std::optional<Steps> stepsOf(const Range& range, bool symmetric);

}  // namespace torchtrt::quantization
