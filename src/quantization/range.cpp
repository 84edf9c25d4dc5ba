#include "quantization/range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "base/steps.h"

namespace torchtrt::quantization {

namespace {

using Counts = std::vector<double>;

// The entropy of `inside` relative to itself read back from `levels` steps of equal width, what lies outside having
// become the outermost bins: Kullback-Leibler divergence, in nats, of what a clipped tensor holds from what its steps
// can tell (S. Migacz, 8-bit Inference with TensorRT, GTC 2017). Bins that hold nothing count as nothing.
double divergence(std::span<const double> inside, double below, double above, int levels) {
  const size_t n = inside.size();
  const double inside_total = std::accumulate(inside.begin(), inside.end(), 0.0);
  const double total = inside_total + below + above;
  if (inside_total == 0) {
    return std::numeric_limits<double>::infinity();
  }
  const double least = 0.5 / total;  // a bin of outliers alone: no step knows of it
  double sum = 0;
  for (size_t level = 0, begin = 0; begin < n; ++level) {
    const size_t end = std::min(n, (level + 1) * n / static_cast<size_t>(levels));
    const auto held = [&](size_t i) { return inside[i] + (i == 0 ? below : 0) + (i + 1 == n ? above : 0); };
    double in_step = 0;
    double bins = 0;
    for (size_t i = begin; i < end; ++i) {
      in_step += inside[i];
      bins += held(i) > 0 ? 1 : 0;
    }
    const double told = bins == 0 ? 0 : std::max(in_step / bins / inside_total, least);
    for (size_t i = begin; i < end; ++i) {
      if (held(i) > 0) {
        const double p = held(i) / total;
        sum += p * std::log(p / told);
      }
    }
    begin = end;
  }
  return sum;
}

// Counts of |x| in bins of the histogram's width. `side`: 1 above zero, -1 below.
Counts countsBeside(const Histogram& histogram, int side) {
  Counts counts(Histogram::kHalf);
  for (int i = 0; i < Histogram::kHalf; ++i) {
    const int bin = side > 0 ? Histogram::kHalf + i : Histogram::kHalf - 1 - i;
    counts[static_cast<size_t>(i)] = static_cast<double>(histogram.bins()[static_cast<size_t>(bin)]);
  }
  return counts;
}

// Returns the number of bins from zero up to the last that holds anything.
size_t extent(const Counts& counts) {
  size_t end = counts.size();
  while (end > 0 && counts[end - 1] == 0) {
    --end;
  }
  return end;
}

double sumFrom(const Counts& counts, size_t first) {
  return std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(std::min(first, counts.size())), counts.end(),
                         0.0);
}

// The magnitude up to which values are kept: that of the least divergence. Exact zeros are left out, since they have a
// step of their own whatever the range.
double entropyLimit(const Histogram& histogram, bool symmetric) {
  constexpr size_t kStride = 8;  // bins from one candidate to the next
  Counts above = countsBeside(histogram, 1);
  Counts below = countsBeside(histogram, -1);
  above[0] -= static_cast<double>(histogram.zeros());
  if (symmetric) {
    std::transform(above.begin(), above.end(), below.begin(), above.begin(), std::plus<>());
    std::fill(below.begin(), below.end(), 0.0);
  }
  const int levels = symmetric ? 128 : 256;
  const size_t extent_above = extent(above);
  const size_t extent_below = extent(below);
  const size_t all = std::max(extent_above, extent_below);
  size_t best = all;
  double least = std::numeric_limits<double>::infinity();
  // Goes from all of it inwards: nothing is clipped if clipping gains nothing.
  for (size_t limit = all; limit > 0; limit = limit > kStride ? (limit - 1) / kStride * kStride : 0) {
    const size_t from = std::min(limit, extent_below);
    const size_t to = std::min(limit, extent_above);
    if (from + to < static_cast<size_t>(levels)) {
      break;
    }
    Counts inside(from + to);
    std::copy_n(above.begin(), to, inside.begin() + static_cast<std::ptrdiff_t>(from));
    std::reverse_copy(below.begin(), below.begin() + static_cast<std::ptrdiff_t>(from), inside.begin());
    const double lost = divergence(inside, sumFrom(below, from), sumFrom(above, to), levels);
    if (lost < least) {
      least = lost;
      best = limit;
    }
  }
  return static_cast<double>(best) * histogram.width();
}

// The magnitude within which `percent` of all values lie, to the width of a bin.
double percentileLimit(const Histogram& histogram, double percent) {
  const Counts above = countsBeside(histogram, 1);
  const Counts below = countsBeside(histogram, -1);
  const double wanted = static_cast<double>(histogram.count()) * percent / 100;
  double within = 0;
  size_t bins = 0;
  while (bins < above.size() && within < wanted) {
    within += above[bins] + below[bins];
    ++bins;
  }
  return static_cast<double>(bins) * histogram.width();
}

}  // namespace

std::optional<Range> rangeOf(const Histogram& histogram, const Options& options) {
  if (histogram.isEmpty()) {
    return std::nullopt;
  }
  double limit = std::numeric_limits<double>::infinity();
  if (options.method == Method::kEntropy) {
    limit = entropyLimit(histogram, options.symmetric);
  } else if (options.method == Method::kPercentile) {
    limit = percentileLimit(histogram, options.percentile);
  }
  return Range{std::max(histogram.min(), -limit), std::min(histogram.max(), limit)};
}

namespace {

// Steps of 8 bits that reach over the range, with an even zero point. Then a result in the middle of two integers goes
// to the same one whether it is rounded in front of the zero point or behind it, and no library needs more work for its
// bits.
Steps asymmetricSteps(double low, double high) {
  constexpr double kMost = 255;
  const double middle = -low / ((high - low) / kMost) / 2;
  Steps best;
  best.scale = std::numeric_limits<double>::infinity();
  for (const double half : {std::floor(middle), std::ceil(middle)}) {
    const double below = std::min(std::max(0.0, 2 * half), kMost - 1);  // 0 for what is no number
    const double scale = std::max(low < 0 ? -low / below : 0, high / (kMost - below));
    if (scale < best.scale) {
      best.scale = scale;
      best.zero_point = std::llround(below);
    }
  }
  return best;
}

}  // namespace

std::optional<Steps> stepsOf(const Range& range, bool symmetric) {
  if (!std::isfinite(range.low) || !std::isfinite(range.high) || range.low > range.high) {
    throw CompileError(ErrorCode::kInvalidOption,
                       "a range from " + std::to_string(range.low) + " to " + std::to_string(range.high) + " is none");
  }
  const double low = std::min(range.low, 0.0);
  const double high = std::max(range.high, 0.0);
  if (low == high) {
    return std::nullopt;
  }
  Steps steps = symmetric ? Steps{DType::kInt8, std::max(-low, high) / 127, 0, -127, 127} : asymmetricSteps(low, high);
  const auto scale = static_cast<float>(steps.scale);
  if (!isStepScale(scale) || !std::isnormal(1 / scale)) {
    return std::nullopt;
  }
  steps.scale = static_cast<double>(scale);
  return steps;
}

}  // namespace torchtrt::quantization
