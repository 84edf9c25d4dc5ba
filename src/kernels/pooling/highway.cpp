// Pooling over channels-last images in float32, a line of windows at a time: vectors run over channels.
#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pooling/highway.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "kernels/common/math-inl.h"
#include "kernels/common/pieces.h"
#include "kernels/pooling/line.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pooling::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using Line = LineOf<float>;

// kVectors vectors of channels of one window, which begins at `in`; `count` is the channels left, of which the last
// vector may use fewer.
template <bool kMax, int kVectors, bool kPartial>
HWY_INLINE void pool(const Line& window, const Span& span, const float* in, float* out, int64_t count, float divisor) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto mask = hn::FirstN(d, static_cast<size_t>(kPartial ? count : lanes));
  const int64_t step = span.step * window.column_stride;
  V total[kVectors];
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) {
    total[j] = hn::Set(d, kMax ? -std::numeric_limits<float>::infinity() : 0.0F);
  }
  for (int64_t z = 0; z < window.count[0]; ++z) {
    for (int64_t y = 0; y < window.count[1]; ++y) {
      const float* from = in + z * window.stride[0] + y * window.stride[1];
      // Averages sum each line by itself, and long ones in pieces: rounding grows with the sides of a window, or their
      // roots, not with its area.
      const int64_t most = kMax ? span.count : summedAtOnce(span.count);
      for (int64_t x = 0; x < span.count;) {
        V line[kVectors];
#pragma GCC unroll 8
        for (int j = 0; j < kVectors; ++j) {
          line[j] = kMax ? total[j] : hn::Zero(d);
        }
        for (const int64_t end = std::min(span.count, x + most); x < end; ++x) {
#pragma GCC unroll 8
          for (int j = 0; j < kVectors; ++j) {
            const V value = kPartial ? hn::MaskedLoad(mask, d, from) : hn::LoadU(d, from + j * lanes);
            line[j] = kMax ? math::greater(line[j], value) : hn::Add(line[j], value);
          }
          from += step;
        }
#pragma GCC unroll 8
        for (int j = 0; j < kVectors; ++j) {
          total[j] = kMax ? line[j] : hn::Add(total[j], line[j]);
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) {
    const V value = kMax ? total[j] : hn::Div(total[j], hn::Set(d, divisor));
    if (kPartial) {
      hn::BlendedStore(value, mask, d, out);
    } else {
      hn::StoreU(value, d, out + j * lanes);
    }
  }
}

HWY_INLINE float divisorOf(const Line& line, const Span& span) {
  switch (line.divisor) {
    case Divisor::kFixed:
      return static_cast<float>(line.area);
    case Divisor::kPadded:
      return static_cast<float>(line.area * span.padded);
    case Divisor::kElements:
      break;
  }
  return static_cast<float>(std::max<int64_t>(line.area * span.count, 1));  // no elements average to 0
}

template <bool kMax>
void poolWindows(const Line& line) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  for (int64_t pixel = 0; pixel < line.pixels; ++pixel) {
    const Span& span = line.spans[pixel];
    const float divisor = kMax ? 1.0F : divisorOf(line, span);
    const float* in = line.in + span.first * line.column_stride;
    float* out = line.out + pixel * line.out_stride;
    int64_t c = 0;
    for (; c + 4 * lanes <= line.channels; c += 4 * lanes) {
      pool<kMax, 4, false>(line, span, in + c, out + c, line.channels - c, divisor);
    }
    for (; c + 2 * lanes <= line.channels; c += 2 * lanes) {
      pool<kMax, 2, false>(line, span, in + c, out + c, line.channels - c, divisor);
    }
    for (; c + lanes <= line.channels; c += lanes) {
      pool<kMax, 1, false>(line, span, in + c, out + c, line.channels - c, divisor);
    }
    if (c < line.channels) {
      pool<kMax, 1, true>(line, span, in + c, out + c, line.channels - c, divisor);
    }
  }
}

// Columns first, whole vectors across the pixels of the line, then along the line from a buffer: where a pixel does not
// fill a vector, that fills more of them.
constexpr int64_t kNarrowLine = 4096;  // floats of the buffer, on the stack

HWY_INLINE bool isNarrow(const Line& line) {
  return line.channels < static_cast<int64_t>(hn::Lanes(D())) && line.column_stride == line.channels &&
         line.width * line.channels <= kNarrowLine;
}

HWY_NOINLINE void maxOfNarrow(const Line& line) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  HWY_ALIGN float columns[kNarrowLine + HWY_MAX_BYTES / sizeof(float)];
  const int64_t size = line.width * line.channels;
  const auto columnsFrom = [&](int64_t i, const auto& load) HWY_ATTR {
    V best = lowest;
    for (int64_t z = 0; z < line.count[0]; ++z) {
      for (int64_t y = 0; y < line.count[1]; ++y) {
        best = math::greater(best, load(line.in + z * line.stride[0] + y * line.stride[1] + i));
      }
    }
    hn::StoreU(best, d, columns + i);
  };
  int64_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    columnsFrom(i, [&](const float* from) HWY_ATTR { return hn::LoadU(d, from); });
  }
  if (i < size) {
    const auto rest = hn::FirstN(d, static_cast<size_t>(size - i));
    columnsFrom(i, [&](const float* from) HWY_ATTR { return hn::MaskedLoad(rest, d, from); });
  }
  const auto mask = hn::FirstN(d, static_cast<size_t>(line.channels));
  for (int64_t pixel = 0; pixel < line.pixels; ++pixel) {
    const Span& span = line.spans[pixel];
    const float* from = columns + span.first * line.channels;
    V best = lowest;
    for (int64_t x = 0; x < span.count; ++x) {
      best = math::greater(best, hn::LoadU(d, from));
      from += span.step * line.channels;
    }
    hn::BlendedStore(best, mask, d, line.out + pixel * line.out_stride);
  }
}

void maxOfLine(const Line& line) {
  isNarrow(line) ? maxOfNarrow(line) : poolWindows<true>(line);
}

LineFunction<float> functionForTarget(bool is_max) {
  return is_max ? maxOfLine : poolWindows<false>;
}

}  // namespace
}  // namespace torchtrt::kernels::pooling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/pooling/channels_last.h"
#include "kernels/pooling/fast.h"

namespace torchtrt::kernels::pooling {

HWY_EXPORT(functionForTarget);

namespace {

CreateResult create(Config config) {
  const LineFunction<float> function = HWY_DYNAMIC_DISPATCH(functionForTarget)(config.is_max);
  return std::make_unique<ChannelsLastKernel<float>>(std::move(config), function);
}

}  // namespace

CreateResult createHighway(const Problem& problem) {
  Config config = readConfig(*problem.attributes);
  if (std::optional<Refusal> refusal = refuseChannelsLast(problem, config.window.size(), {DType::kFloat32})) {
    return *refusal;
  }
  return create(std::move(config));
}

CreateResult createAdaptiveHighway(const Problem& problem) {
  // How many dims are pooled is known at run time only; a channels-last order says that they are all behind the
  // channels.
  const size_t rank = problem.outputs[0].dims.size();
  if (convolution::isRowMajor(problem.inputs[0])) {
    return Refusal{"memory-order", "reads and writes channels-last only"};
  }
  if (std::optional<Refusal> refusal = refuseChannelsLast(problem, rank < 3 ? 0 : rank - 2, {DType::kFloat32})) {
    return *refusal;
  }
  return create(readAdaptiveConfig(*problem.attributes));
}

}  // namespace torchtrt::kernels::pooling
#endif  // HWY_ONCE
