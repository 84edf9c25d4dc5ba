// Pooling over row-major images in float32 or float64: vectors run along the lines.
#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pooling/planes.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/pooling/plane.h"
#include "cpu/simd/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pooling::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;

template <typename T>
using TagOf = hn::ScalableTag<T>;
template <typename T>
using VectorOf = hn::Vec<TagOf<T>>;

template <bool kMax, typename V>
HWY_INLINE V fold(V so_far, V x) {
  return kMax ? math::greater(so_far, x) : hn::Add(so_far, x);
}

// Folds the lines of a window.
template <bool kMax, typename T, typename Load>
HWY_INLINE VectorOf<T> foldLines(const PlaneOf<T>& plane, const Span& line, const T* from, const Load& load) {
  if (plane.depth.count == 0 || line.count == 0) {
    return hn::Set(TagOf<T>(), kMax ? -std::numeric_limits<T>::infinity() : T(0));
  }
  VectorOf<T> total = load(from);
  const int64_t step = line.step * plane.line_stride;
  for (int64_t z = 0; z < plane.depth.count; ++z) {
    const T* at = from + z * plane.depth_stride;
    for (int64_t y = 0; y < line.count; ++y, at += step) {
      if (y > 0 || z > 0) {
        total = fold<kMax>(total, load(at));
      }
    }
  }
  return total;
}

template <typename T>
HWY_INLINE T divisorOf(const PlaneOf<T>& plane, const Span& line, const Span& column) {
  switch (plane.divisor) {
    case Divisor::kFixed:
      return static_cast<T>(plane.fixed_divisor);
    case Divisor::kPadded:
      return static_cast<T>(plane.depth.padded * line.padded * column.padded);
    case Divisor::kElements:
      break;
  }
  // no elements average to 0
  return static_cast<T>(std::max<int64_t>(plane.depth.count * line.count * column.count, 1));
}

// A tap of a vector of pixels: of `left` columns from `from` on, where that is fewer than a vector reads.
template <bool kMax, bool kCut, typename T>
HWY_INLINE VectorOf<T> foldTap(const PlaneOf<T>& plane, const Span& line, const T* from, int64_t left) {
  const TagOf<T> d;
  const auto mask =
      hn::FirstN(d, static_cast<size_t>(std::clamp<int64_t>(left, 0, kCut ? static_cast<int64_t>(hn::Lanes(d)) : 0)));
  return foldLines<kMax>(plane, line, from,
                         [&](const T* at) HWY_ATTR { return kCut ? hn::MaskedLoad(mask, d, at) : hn::LoadU(d, at); });
}

// A vector of pixels from `pixel` on, `count` of which are stored. kStride 0: any.
template <bool kMax, int kStride, bool kCut, typename T>
HWY_INLINE void poolVector(const PlaneOf<T>& plane, const Span& line, const T* first_line, T* out, int64_t pixel,
                           int64_t count) {
  using V = VectorOf<T>;
  const TagOf<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const Span& column = plane.regular;
  const int64_t first = column.first + (pixel - plane.regular_begin) * plane.stride;
  const T* from = first_line + first;
  const int64_t left = plane.width - first;
  V total = hn::Zero(d);
  const auto add = [&](int64_t x, V tap) HWY_ATTR { total = x == 0 ? tap : fold<kMax>(total, tap); };
  if constexpr (kStride == 2) {  // undilated: columns are folded first, then neighbours are told apart
    for (int64_t x = 0; x < column.count; x += 2) {
      const V low = foldTap<kMax, kCut>(plane, line, from + x, left - x);
      const V high = foldTap<kMax, kCut>(plane, line, from + x + lanes, left - x - lanes);
      add(x, math::even(low, high));
      if (x + 1 < column.count) {
        add(x + 1, math::odd(low, high));
      }
    }
  } else if constexpr (kStride == 1) {
    for (int64_t x = 0; x < column.count; ++x) {
      add(x, foldTap<kMax, kCut>(plane, line, from + x * column.step, left - x * column.step));
    }
  } else {
    using Index = hn::TFromD<hn::RebindToSigned<TagOf<T>>>;
    const hn::RebindToSigned<TagOf<T>> di;
    const auto last = hn::Set(di, static_cast<Index>(count - 1));  // what lanes behind it read, too
    const auto index = hn::Mul(hn::Min(hn::Iota(di, 0), last), hn::Set(di, static_cast<Index>(plane.stride)));
    for (int64_t x = 0; x < column.count; ++x) {
      add(x, foldLines<kMax>(plane, line, from + x * column.step,
                             [&](const T* at) HWY_ATTR { return hn::GatherIndex(d, at, index); }));
    }
  }
  if (!kMax) {
    total = hn::Div(total, hn::Set(d, divisorOf(plane, line, column)));
  }
  if (HWY_LIKELY(count == lanes)) {  // stores under a mask take many times as long on some machines
    hn::StoreU(total, d, out + pixel);
  } else {
    hn::BlendedStore(total, hn::FirstN(d, static_cast<size_t>(count)), d, out + pixel);
  }
}

template <bool kMax, typename T>
HWY_INLINE T poolPixel(const PlaneOf<T>& plane, const Span& line, const Span& column, const T* first_line) {
  T total = kMax ? -std::numeric_limits<T>::infinity() : T(0);
  for (int64_t z = 0; z < plane.depth.count; ++z) {
    for (int64_t y = 0; y < line.count; ++y) {
      const T* from = first_line + z * plane.depth_stride + y * line.step * plane.line_stride + column.first;
      T row = 0;
      for (int64_t x = 0; x < column.count; ++x) {
        const T value = from[x * column.step];
        if (kMax) {
          total = value > total || std::isnan(value) ? value : total;
        } else {
          row += value;
        }
      }
      total += row;
    }
  }
  return kMax ? total : total / divisorOf(plane, line, column);
}

// The regular pixels; the last vector reaches back over what is done already where there is room.
template <bool kMax, int kStride, typename T>
HWY_INLINE void poolRegular(const PlaneOf<T>& plane, const Span& line, const T* first_line, T* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(TagOf<T>()));
  const Span& column = plane.regular;
  const int64_t reach = kStride == 0   ? 0
                        : kStride == 2 ? 2 * lanes + (column.count - 1) / 2 * 2
                                       : (column.count - 1) * column.step + lanes;
  const int64_t last = plane.regular_end - lanes;
  const int64_t behind = column.first + (last - plane.regular_begin) * plane.stride + reach;
  if (last >= plane.regular_begin && behind <= plane.width) {  // nothing to decide from vector to vector
    for (int64_t pixel = plane.regular_begin; pixel < last; pixel += lanes) {
      poolVector<kMax, kStride, false>(plane, line, first_line, out, pixel, lanes);
    }
    poolVector<kMax, kStride, false>(plane, line, first_line, out, last, lanes);
    return;
  }
  for (int64_t pixel = plane.regular_begin; pixel < plane.regular_end; pixel += lanes) {
    const int64_t at = std::max(plane.regular_begin, std::min(pixel, plane.regular_end - lanes));
    const int64_t count = std::min(lanes, plane.regular_end - at);
    if (column.first + (at - plane.regular_begin) * plane.stride + reach > plane.width) {
      poolVector<kMax, kStride, true>(plane, line, first_line, out, at, count);
    } else {
      poolVector<kMax, kStride, false>(plane, line, first_line, out, at, count);
    }
  }
}

template <bool kMax, typename T>
HWY_INLINE void poolRegular(const PlaneOf<T>& plane, const Span& line, const T* first_line, T* out) {
  if (plane.stride == 1) {
    poolRegular<kMax, 1>(plane, line, first_line, out);
  } else if (plane.stride == 2 && plane.regular.step == 1) {
    poolRegular<kMax, 2>(plane, line, first_line, out);
  } else {
    poolRegular<kMax, 0>(plane, line, first_line, out);
  }
}

// The commonest windows, with stride two: what is known of them while compiling unrolls every loop.
template <bool kMax, int kLines, int kColumns, typename T>
HWY_NOINLINE void poolKnown(PlaneOf<T> plane, Span line, const T* first_line, T* out) {
  plane.depth.count = 1;
  plane.stride = 2;
  plane.regular.count = kColumns;
  plane.regular.step = 1;
  line.count = kLines;
  line.step = 1;
  poolRegular<kMax, 2>(plane, line, first_line, out);
}

template <bool kMax, typename T>
void poolLines(const PlaneOf<T>& given) {
  const PlaneOf<T> plane = given;  // a copy: stores of vectors may change what is known of the original
  const bool is_plain = plane.depth.count == 1 && plane.stride == 2 && plane.regular.step == 1;
  for (int64_t y = plane.begin; y < plane.end; ++y) {
    const Span line = plane.lines[y];
    const T* first_line = plane.in + line.first * plane.line_stride;
    T* out = plane.out + y * plane.out_line_stride;
    for (int64_t x = 0; x < plane.regular_begin; ++x) {
      out[x] = poolPixel<kMax>(plane, line, plane.columns[x], first_line);
    }
    const auto is = [&](int64_t lines, int64_t columns) {
      return is_plain && line.step == 1 && line.count == lines && plane.regular.count == columns;
    };
    if (is(2, 2)) {
      poolKnown<kMax, 2, 2>(plane, line, first_line, out);
    } else if (is(3, 3)) {
      poolKnown<kMax, 3, 3>(plane, line, first_line, out);
    } else if (is(1, 2)) {
      poolKnown<kMax, 1, 2>(plane, line, first_line, out);
    } else if (is(1, 3)) {
      poolKnown<kMax, 1, 3>(plane, line, first_line, out);
    } else {
      poolRegular<kMax>(plane, line, first_line, out);
    }
    for (int64_t x = plane.regular_end; x < plane.pixels; ++x) {
      out[x] = poolPixel<kMax>(plane, line, plane.columns[x], first_line);
    }
  }
}

PlaneFunction<float> floatPlane(bool is_max) {
  return is_max ? poolLines<true, float> : poolLines<false, float>;
}
PlaneFunction<double> doublePlane(bool is_max) {
  return is_max ? poolLines<true, double> : poolLines<false, double>;
}

}  // namespace
}  // namespace torchtrt::kernels::pooling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <memory>
#include <type_traits>
#include <utility>

#include "cpu/pooling/fast.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::pooling {
namespace {

HWY_EXPORT(floatPlane);
HWY_EXPORT(doublePlane);

template <typename T>
PlaneFunction<T> planeFunction(bool is_max) {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(floatPlane)(is_max);
  } else {
    return HWY_DYNAMIC_DISPATCH(doublePlane)(is_max);
  }
}

using convolution::Image;
using convolution::imageOf;

template <typename T>
class PlanesPooling final : public Prepared {
 public:
  PlanesPooling(const Config& config, const ShapeSet& shapes)
      : config_(config),
        in_(imageOf(shapes.inputs[0])),
        out_(imageOf(shapes.outputs[0])),
        windows_(config, in_, out_, shapes.outputs[0].dims.size() - 2),
        function_(planeFunction<T>(config.is_max)) {
    const std::vector<Span>& columns = windows_.spans[2];
    const auto is_regular = [&](const Span& span) { return span.count == config.window.back(); };
    const auto begin = std::find_if(columns.begin(), columns.end(), is_regular);
    regular_begin_ = begin - columns.begin();
    regular_end_ = std::find_if_not(begin, columns.end(), is_regular) - columns.begin();
  }

  void run(const RunArgs& args) const override {
    const int64_t lines = out_.size[1];
    const int64_t planes = out_.batch * out_.channels * out_.size[0];
    const int64_t cost = out_.size[2] * windows_.largest[0] * windows_.largest[1] * windows_.largest[2];
    const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(cost, 1));
    parallelFor(args.threads, 0, planes * lines, grain, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end;) {
        const int64_t first = line % lines;
        const int64_t count = std::min(end - line, lines - first);
        runLines(args, line / lines, first, first + count);
        line += count;
      }
    });
  }

 private:
  static constexpr int64_t kGrain = 32768;  // additions worth a thread

  void runLines(const RunArgs& args, int64_t index, int64_t begin, int64_t end) const {
    const int64_t z = index % out_.size[0];
    const int64_t channel = index / out_.size[0] % out_.channels;
    const int64_t n = index / out_.size[0] / out_.channels;
    PlaneOf<T> plane;
    plane.depth = windows_.spans[0][static_cast<size_t>(z)];
    plane.in = static_cast<const T*>(args.inputs[0]) + n * in_.batch_stride + channel * in_.channel_stride +
               plane.depth.first * in_.stride[0];
    plane.out =
        static_cast<T*>(args.outputs[0]) + n * out_.batch_stride + channel * out_.channel_stride + z * out_.stride[0];
    plane.depth_stride = plane.depth.step * in_.stride[0];
    plane.line_stride = in_.stride[1];
    plane.out_line_stride = out_.stride[1];
    plane.lines = windows_.spans[1].data();
    plane.begin = begin;
    plane.end = end;
    plane.columns = windows_.spans[2].data();
    plane.pixels = out_.size[2];
    plane.width = in_.size[2];
    plane.regular_begin = regular_begin_;
    plane.regular_end = regular_end_;
    plane.regular = regular_begin_ < regular_end_ ? windows_.spans[2][static_cast<size_t>(regular_begin_)] : Span{};
    plane.stride = config_.stride.back();
    plane.divisor = windows_.divisor;
    plane.fixed_divisor = config_.divisor;
    function_(plane);
  }

  Config config_;
  Image in_, out_;
  Windows windows_;
  PlaneFunction<T> function_;
  int64_t regular_begin_ = 0;
  int64_t regular_end_ = 0;
};

template <typename T>
class PlanesPoolingKernel final : public Kernel {
 public:
  explicit PlanesPoolingKernel(Config config) : config_(std::move(config)) {}
  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<PlanesPooling<T>>(config_, shapes);
  }
  bool acceptsStrides(int, const TensorDesc& desc) const override {
    return desc.strides.back() == 1;
  }

 private:
  Config config_;
};

}  // namespace

CreateResult createPlanes(const Problem& problem) {
  Config config = readConfig(*problem.attributes);
  if (std::optional<Refusal> refusal = refuse(problem, config.window.size(), {DType::kFloat32, DType::kFloat64})) {
    return *refusal;
  }
  if (!isRowMajor(problem.inputs[0]) || !isRowMajor(problem.outputs[0])) {
    return Refusal{"memory-order", "reads and writes row-major only"};
  }
  if (problem.outputs[0].dtype == DType::kFloat64) {
    return std::make_unique<PlanesPoolingKernel<double>>(std::move(config));
  }
  return std::make_unique<PlanesPoolingKernel<float>>(std::move(config));
}

}  // namespace torchtrt::kernels::pooling
#endif  // HWY_ONCE
