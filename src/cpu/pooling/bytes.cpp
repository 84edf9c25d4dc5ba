// Maxima over channels-last images of int8 or uint8: vectors run over channels.
#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pooling/bytes.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

#include "cpu/pooling/line.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pooling::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// kVectors vectors of channels of one window, which begins at `in`.
template <int kVectors, typename D, typename T>
HWY_INLINE void maxOf(D d, const LineOf<T>& window, const Span& span, const T* in, T* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t step = span.step * window.column_stride;
  const bool is_empty = window.count[0] <= 0 || window.count[1] <= 0 || span.count <= 0;
  hn::Vec<D> best[kVectors];
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    best[j] = hn::Set(d, is_empty ? T(0) : std::numeric_limits<T>::min());
  }
  for (int64_t z = 0; z < window.count[0]; ++z) {
    for (int64_t y = 0; y < window.count[1]; ++y) {
      const T* from = in + z * window.stride[0] + y * window.stride[1];
      for (int64_t x = 0; x < span.count; ++x, from += step) {
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) {
          best[j] = hn::Max(best[j], hn::LoadU(d, from + j * lanes));
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    hn::StoreU(best[j], d, out + j * lanes);
  }
}

// Takes at least a vector of channels; the last one may overlap the one before.
template <typename D, typename T>
void maxOfPixels(D d, const LineOf<T>& line) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t pixel = 0; pixel < line.pixels; ++pixel) {
    const Span& span = line.spans[pixel];
    const T* in = line.in + span.first * line.column_stride;
    T* out = line.out + pixel * line.out_stride;
    int64_t c = 0;
    for (; c + 4 * lanes <= line.channels; c += 4 * lanes) {
      maxOf<4>(d, line, span, in + c, out + c);
    }
    for (; c + 2 * lanes <= line.channels; c += 2 * lanes) {
      maxOf<2>(d, line, span, in + c, out + c);
    }
    for (; c + lanes <= line.channels; c += lanes) {
      maxOf<1>(d, line, span, in + c, out + c);
    }
    if (c < line.channels) {
      maxOf<1>(d, line, span, in + line.channels - lanes, out + line.channels - lanes);
    }
  }
}

// Uses the longest vectors that the channels fill.
template <typename T>
void maxOfLine(const LineOf<T>& line) {
  if (line.channels >= static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()))) {
    maxOfPixels(hn::ScalableTag<T>(), line);
  } else if (line.channels >= 16) {
    maxOfPixels(hn::CappedTag<T, 16>(), line);
  } else if (line.channels >= 4) {
    maxOfPixels(hn::CappedTag<T, 4>(), line);
  } else {
    maxOfPixels(hn::CappedTag<T, 1>(), line);
  }
}

LineFunction<int8_t> signedForTarget() {
  return maxOfLine<int8_t>;
}

LineFunction<uint8_t> unsignedForTarget() {
  return maxOfLine<uint8_t>;
}

}  // namespace
}  // namespace torchtrt::kernels::pooling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/pooling/channels_last.h"
#include "cpu/pooling/fast.h"

namespace torchtrt::kernels::pooling {

HWY_EXPORT(signedForTarget);
HWY_EXPORT(unsignedForTarget);

CreateResult createBytes(const Problem& problem) {
  Config config = readConfig(*problem.attributes);
  if (std::optional<Refusal> refusal =
          refuseChannelsLast(problem, config.window.size(), {DType::kInt8, DType::kUInt8})) {
    return *refusal;
  }
  if (!config.is_max) {
    return Refusal{"operation", "computes maxima only"};
  }
  if (problem.inputs[0].dtype == DType::kInt8) {
    return std::make_unique<ChannelsLastKernel<int8_t>>(std::move(config), HWY_DYNAMIC_DISPATCH(signedForTarget)());
  }
  return std::make_unique<ChannelsLastKernel<uint8_t>>(std::move(config), HWY_DYNAMIC_DISPATCH(unsignedForTarget)());
}

}  // namespace torchtrt::kernels::pooling
#endif  // HWY_ONCE
