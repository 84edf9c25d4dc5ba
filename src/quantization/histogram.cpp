#include "quantization/histogram.h"

#include <algorithm>
#include <cmath>

namespace torchtrt::quantization {

void Histogram::add(const float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const float value = std::isfinite(values[i]) ? values[i] : 0.0F;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }
  const double magnitude = std::max(-min(), max());
  if (magnitude > 0) {
    makeRoomFor(magnitude);
  }
  const double per_width = 1.0 / width_;
  for (size_t i = 0; i < count; ++i) {
    if (!std::isfinite(values[i])) {
      continue;
    }
    ++count_;
    zeros_ += values[i] == 0.0F ? 1 : 0;
    if (!bins_.empty()) {
      ++bins_[static_cast<size_t>(static_cast<double>(values[i]) * per_width + kHalf)];
    }
  }
}

void Histogram::makeRoomFor(double magnitude) {
  if (bins_.empty()) {
    width_ = std::ldexp(1.0, std::ilogb(magnitude) + 1) / kHalf;
    bins_.resize(2 * kHalf);
    bins_[kHalf] = zeros_;  // all that came before
  }
  for (; magnitude >= width_ * kHalf; width_ *= 2) {
    std::vector<uint64_t> wider(bins_.size());
    for (size_t i = 0; i < bins_.size(); ++i) {
      wider[(i + kHalf) / 2] += bins_[i];
    }
    bins_ = std::move(wider);
  }
}

}  // namespace torchtrt::quantization
