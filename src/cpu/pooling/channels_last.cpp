// Pooling over channels-last images in float32 or float64, a line of windows at a time: vectors run over channels.
#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pooling/channels_last.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "cpu/loops/pieces.h"
#include "cpu/pooling/line.h"
#include "cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pooling::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;

// kVectors vectors of channels of one window, which begins at `in`; `count` is the channels left, of which the last
// vector may use fewer.
template <bool kMax, int kVectors, bool kPartial, typename T>
HWY_INLINE void pool(const LineOf<T>& window, const Span& span, const T* in, T* out, int64_t count, T divisor) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto mask = hn::FirstN(d, static_cast<size_t>(kPartial ? count : lanes));
  const int64_t step = span.step * window.column_stride;
  V total[kVectors];
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) {
    total[j] = hn::Set(d, kMax ? -std::numeric_limits<T>::infinity() : T(0));
  }
  for (int64_t z = 0; z < window.count[0]; ++z) {
    for (int64_t y = 0; y < window.count[1]; ++y) {
      const T* from = in + z * window.stride[0] + y * window.stride[1];
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

template <typename T>
HWY_INLINE T divisorOf(const LineOf<T>& line, const Span& span) {
  switch (line.divisor) {
    case Divisor::kFixed:
      return static_cast<T>(line.area);
    case Divisor::kPadded:
      return static_cast<T>(line.area * span.padded);
    case Divisor::kElements:
      break;
  }
  return static_cast<T>(std::max<int64_t>(line.area * span.count, 1));  // no elements average to 0
}

template <bool kMax, typename T>
void poolWindows(const LineOf<T>& line) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  for (int64_t pixel = 0; pixel < line.pixels; ++pixel) {
    const Span& span = line.spans[pixel];
    const T divisor = kMax ? T(1) : divisorOf(line, span);
    const T* in = line.in + span.first * line.column_stride;
    T* out = line.out + pixel * line.out_stride;
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
constexpr int64_t kNarrowLine = 4096;  // elements of the buffer, on the stack

template <typename T>
HWY_INLINE bool isNarrow(const LineOf<T>& line) {
  return line.channels < static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>())) && line.column_stride == line.channels &&
         line.width * line.channels <= kNarrowLine;
}

template <typename T>
HWY_NOINLINE void maxOfNarrow(const LineOf<T>& line) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  HWY_ALIGN T columns[kNarrowLine + HWY_MAX_BYTES / sizeof(T)];
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
    columnsFrom(i, [&](const T* from) HWY_ATTR { return hn::LoadU(d, from); });
  }
  if (i < size) {
    const auto rest = hn::FirstN(d, static_cast<size_t>(size - i));
    columnsFrom(i, [&](const T* from) HWY_ATTR { return hn::MaskedLoad(rest, d, from); });
  }
  const auto mask = hn::FirstN(d, static_cast<size_t>(line.channels));
  for (int64_t pixel = 0; pixel < line.pixels; ++pixel) {
    const Span& span = line.spans[pixel];
    const T* from = columns + span.first * line.channels;
    V best = lowest;
    for (int64_t x = 0; x < span.count; ++x) {
      best = math::greater(best, hn::LoadU(d, from));
      from += span.step * line.channels;
    }
    hn::BlendedStore(best, mask, d, line.out + pixel * line.out_stride);
  }
}

template <typename T>
void maxOfLine(const LineOf<T>& line) {
  isNarrow(line) ? maxOfNarrow(line) : poolWindows<true>(line);
}

LineFunction<float> floatLine(bool is_max) {
  return is_max ? maxOfLine<float> : poolWindows<false, float>;
}
LineFunction<double> doubleLine(bool is_max) {
  return is_max ? maxOfLine<double> : poolWindows<false, double>;
}

}  // namespace
}  // namespace torchtrt::kernels::pooling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/pooling/channels_last.h"
#include "cpu/pooling/fast.h"
#include "cpu/pooling/pooling.h"

namespace torchtrt::kernels::pooling {

HWY_EXPORT(floatLine);
HWY_EXPORT(doubleLine);

namespace {

CreateResult create(const Problem& problem, Config config, std::unique_ptr<Kernel> reference = nullptr) {
  const bool is_max = config.is_max;
  if (problem.outputs[0].dtype == DType::kFloat64) {
    return std::make_unique<ChannelsLastKernel<double>>(std::move(config), HWY_DYNAMIC_DISPATCH(doubleLine)(is_max),
                                                        std::move(reference));
  }
  return std::make_unique<ChannelsLastKernel<float>>(std::move(config), HWY_DYNAMIC_DISPATCH(floatLine)(is_max),
                                                     std::move(reference));
}

}  // namespace

CreateResult createChannelsLast(const Problem& problem) {
  Config config = readConfig(*problem.attributes);
  if (std::optional<Refusal> refusal =
          refuseChannelsLast(problem, config.window.size(), {DType::kFloat32, DType::kFloat64})) {
    return *refusal;
  }
  return create(problem, std::move(config));
}

CreateResult createAdaptiveChannelsLast(const Problem& problem) {
  // The number of pooled dims is known at run time only. A channels-last order says that most likely all dims behind
  // the channels are pooled.
  const size_t rank = problem.outputs[0].dims.size();
  if (isRowMajor(problem.inputs[0])) {
    return Refusal{"memory-order", "reads and writes channels-last only"};
  }
  if (std::optional<Refusal> refusal =
          refuseChannelsLast(problem, rank < 3 ? 0 : rank - 2, {DType::kFloat32, DType::kFloat64})) {
    return *refusal;
  }
  CreateResult reference = createAdaptivePoolingReference(problem);
  return create(problem, readAdaptiveConfig(*problem.attributes),
                std::move(std::get<std::unique_ptr<Kernel>>(reference)));
}

}  // namespace torchtrt::kernels::pooling
#endif  // HWY_ONCE
