// Maxima over channels-last images of float16 or bfloat16: vectors run over channels. A maximum is one of the values,
// so nothing is rounded.
#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pooling/halves.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

#include "cpu/pooling/line.h"
#include "cpu/simd/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pooling::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;

// kVectors vectors of channels of one window, which begins at `in`.
template <typename Format, int kVectors>
HWY_INLINE void maxOf(const LineOf<uint16_t>& window, const Span& span, const uint16_t* in, uint16_t* out) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t step = span.step * window.column_stride;
  hn::Vec<D> best[kVectors];
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    best[j] = hn::Set(d, -std::numeric_limits<float>::infinity());
  }
  for (int64_t z = 0; z < window.count[0]; ++z) {
    for (int64_t y = 0; y < window.count[1]; ++y) {
      const uint16_t* from = in + z * window.stride[0] + y * window.stride[1];
      for (int64_t x = 0; x < span.count; ++x, from += step) {
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) {
          best[j] = math::greater(best[j], Format::widen(from + j * lanes));
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    Format::narrow(best[j], out + j * lanes);
  }
}

// Takes whole vectors of channels.
template <typename Format>
void maxOfLine(const LineOf<uint16_t>& line) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  for (int64_t pixel = 0; pixel < line.pixels; ++pixel) {
    const Span& span = line.spans[pixel];
    const uint16_t* in = line.in + span.first * line.column_stride;
    uint16_t* out = line.out + pixel * line.out_stride;
    int64_t c = 0;
    for (; c + 4 * lanes <= line.channels; c += 4 * lanes) {
      maxOf<Format, 4>(line, span, in + c, out + c);
    }
    for (; c + lanes <= line.channels; c += lanes) {
      maxOf<Format, 1>(line, span, in + c, out + c);
    }
  }
}

LineFunction<uint16_t> functionForTarget(bool is_brain) {
  return is_brain ? maxOfLine<math::Brain> : maxOfLine<math::Half>;
}

}  // namespace
}  // namespace torchtrt::kernels::pooling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/pooling/channels_last.h"
#include "cpu/pooling/fast.h"

namespace torchtrt::kernels::pooling {

HWY_EXPORT(functionForTarget);

CreateResult createHalves(const Problem& problem) {
  constexpr int64_t kLongestVector = 16;
  Config config = readConfig(*problem.attributes);
  if (std::optional<Refusal> refusal =
          refuseChannelsLast(problem, config.window.size(), {DType::kFloat16, DType::kBFloat16})) {
    return *refusal;
  }
  if (!config.is_max) {
    return Refusal{"operation", "computes maxima only"};
  }
  if (problem.inputs[0].dims[1] <= 0 || problem.inputs[0].dims[1] % kLongestVector != 0) {
    return Refusal{"channels", "needs whole vectors of channels"};
  }
  return std::make_unique<ChannelsLastKernel<uint16_t>>(
      std::move(config), HWY_DYNAMIC_DISPATCH(functionForTarget)(problem.inputs[0].dtype == DType::kBFloat16));
}

}  // namespace torchtrt::kernels::pooling
#endif  // HWY_ONCE
