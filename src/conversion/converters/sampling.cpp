#include <algorithm>
#include <cmath>

#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

// Images sampled at given places, and resized with a filter as wide as the step (antialias).

namespace torchtrt::conversion::converters {
namespace {

// input, grid, interpolation_mode, padding_mode, align_corners
Tensor& gridSample(Call& call) {
  static constexpr const char* kModes[] = {"linear", "nearest", "cubic"};
  static constexpr const char* kPaddings[] = {"zeros", "border", "reflection"};
  const int64_t mode = call.integer(2), padding = call.integer(3);
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2) {
    call.refuse("argument", "interpolation_mode and padding_mode have to be 0, 1 or 2");
  }
  Tensor& input = call.tensor(0);
  return call.add(LayerType::kGRID_SAMPLE, {&input, &call.cast(call.tensor(1), input.getType())},
                  attributes({{"mode", std::string(kModes[mode])},
                              {"padding", std::string(kPaddings[padding])},
                              {"align_corners", call.flag(4)}}));
}

template <typename T>
T linearFilter(T x) {
  return std::max(T(0), 1 - std::abs(x));
}

template <typename T>
T cubicFilter(T x) {
  constexpr T kA = T(-0.5);
  x = std::abs(x);
  if (x < 1) {
    return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  }
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * kA : 0;
}

// Row i says how much of every input element output i takes, in the input's precision as PyTorch computes it.
template <bool cubic, typename T>
at::Tensor filterMatrix(int64_t in, int64_t out, bool align_corners, std::optional<double> scale_factor) {
  T scale = 0;
  if (align_corners) {
    scale = out > 1 ? static_cast<T>(in - 1) / static_cast<T>(out - 1) : 0;
  } else {
    scale = scale_factor && *scale_factor > 0 ? static_cast<T>(1 / *scale_factor)
                                              : static_cast<T>(in) / static_cast<T>(out);
  }
  const T support = T(cubic ? 2 : 1) * std::max(scale, T(1));
  const T inverse = scale >= 1 ? 1 / scale : T(1);
  at::Tensor matrix = at::zeros({out, in}, c10::CppTypeToScalarType<T>::value);
  auto rows = matrix.accessor<T, 2>();
  for (int64_t i = 0; i < out; ++i) {
    const T center = scale * (static_cast<T>(i) + T(0.5));
    const int64_t first = std::max<int64_t>(static_cast<int64_t>(center - support + T(0.5)), 0);
    const int64_t last = std::min<int64_t>(static_cast<int64_t>(center + support + T(0.5)), in);
    T total = 0;
    for (int64_t j = first; j < last; ++j) {
      const T place = (static_cast<T>(j) - center + T(0.5)) * inverse;
      rows[i][j] = cubic ? cubicFilter(place) : linearFilter(place);
      total += rows[i][j];
    }
    for (int64_t j = first; j < last && total != 0; ++j) {
      rows[i][j] /= total;
    }
  }
  return matrix;
}

// Whole numbers in units of 2^-shift, in float32: 256 high + low, so that sums of products with bytes are below 2^24,
// where float32 is exact, and float32 has the fast products.
struct ByteFilter {
  at::Tensor high, low;
  int shift = 0;
};

// As precise as 16 bits allow, as PyTorch resizes bytes.
ByteFilter byteFilter(const Call& call, const at::Tensor& matrix) {
  const double greatest = matrix.numel() > 0 ? matrix.max().item<double>() : 0;
  ByteFilter filter;
  while (filter.shift < 22 && static_cast<int>(0.5 + greatest * (1 << (filter.shift + 1))) < (1 << 15)) {
    ++filter.shift;
  }
  const at::Tensor scaled = matrix * static_cast<double>(1 << filter.shift);
  const at::Tensor whole = (scaled + 0.5 * scaled.sign()).to(at::kInt);
  const at::Tensor low = whole.bitwise_and(255);
  const at::Tensor high = (whole - low).div(256, "trunc");
  for (const at::Tensor& part : {low, high}) {
    if (part.numel() > 0 && part.abs().sum(-1).max().item<int64_t>() * 255 >= (int64_t{1} << 24)) {
      call.refuse("argument",
                  "sums of so many bytes are not exact in float32: an image is made over a hundred times smaller");
    }
  }
  filter.high = high.to(at::kFloat);
  filter.low = low.to(at::kFloat);
  return filter;
}

// Products with both parts of a filter, put together in whole numbers.
template <typename Multiply>
Tensor& exactSums(const Call& call, const Multiply& multiply, const ByteFilter& filter) {
  Tensor& high = call.cast(multiply(filter.high), DType::kInt32);
  Tensor& low = call.cast(multiply(filter.low), DType::kInt32);
  return call.elementwise("sum", call.elementwise("prod", high, call.constant(256, DType::kInt32)), low);
}

// Sums of products with whole numbers, rounded to bytes.
Tensor& roundedToBytes(const Call& call, Tensor& sums, int shift) {
  const int64_t unit = int64_t{1} << shift;
  Tensor& shifted = call.elementwise("sum", sums, call.constant(unit / 2, DType::kInt32));
  Tensor& bytes = call.elementwise("floor_div", shifted, call.constant(unit, DType::kInt32));
  Tensor& not_below = call.elementwise("max", bytes, call.constant(0, DType::kInt32));
  return call.elementwise("min", not_below, call.constant(255, DType::kInt32));
}

// Both axes in whole numbers, width first, as PyTorch has them to the bit.
template <bool cubic>
Tensor& resizeBytesSmoothly(const Call& call, const std::vector<int64_t>& size, bool align_corners,
                            const std::vector<std::optional<double>>& scales) {
  Tensor& given = call.tensor(0);
  const auto filter = [&](int axis) {
    const int64_t in = call.number(given.getDimensions()[given.rank() - 2 + axis], "the size of a dimension to resize");
    const auto at = static_cast<size_t>(axis);
    if (in == size.at(at) && scales[at].value_or(1) != 1) {
      call.refuse("argument",
                  "a scale factor other than 1 between equal sizes is one only for some numbers of channels");
    }
    return byteFilter(call, filterMatrix<cubic, double>(in, size[at], align_corners, scales[at]));
  };
  const ByteFilter height = filter(0), width = filter(1);
  Tensor& x = call.cast(given, DType::kFloat32);
  Tensor& narrowed = exactSums(
      call,
      [&](const at::Tensor& part) -> Tensor& {
        return call.add(LayerType::kMATRIX_MULTIPLY, {&x, call.ctx.constant(part)},
                        attributes({{"transpose_b", true}}));
      },
      width);
  Tensor& bytes = call.cast(roundedToBytes(call, narrowed, width.shift), DType::kFloat32);
  Tensor& resized = exactSums(
      call,
      [&](const at::Tensor& part) -> Tensor& {
        return call.add(LayerType::kMATRIX_MULTIPLY, {call.ctx.constant(part), &bytes});
      },
      height);
  return call.cast(roundedToBytes(call, resized, height.shift), given.getType());
}

// Both axes are products with constant matrices, width first.
template <bool cubic>
Tensor& resizeSmoothly(const Call& call, const std::vector<int64_t>& size, bool align_corners,
                       const std::vector<std::optional<double>>& scales) {
  Tensor& given = call.tensor(0);
  if (given.getType() == DType::kUInt8) {
    return resizeBytesSmoothly<cubic>(call, size, align_corners, scales);
  }
  const DType dtype = given.getType() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  Tensor& x = call.cast(given, dtype);
  const auto matrix = [&](int axis) -> Tensor& {
    const int64_t in = call.number(x.getDimensions()[x.rank() - 2 + axis], "the size of a dimension to resize");
    const auto at = static_cast<size_t>(axis);
    const auto weights = dtype == DType::kFloat64 ? filterMatrix<cubic, double> : filterMatrix<cubic, float>;
    return *call.ctx.constant(weights(in, size.at(at), align_corners, scales[at]));
  };
  Tensor& narrowed = call.add(LayerType::kMATRIX_MULTIPLY, {&x, &matrix(1)}, attributes({{"transpose_b", true}}));
  return call.cast(call.add(LayerType::kMATRIX_MULTIPLY, {&matrix(0), &narrowed}), given.getType());
}

// self, output_size, align_corners, scales_h, scales_w
template <bool cubic>
Tensor& toSize(Call& call) {
  const auto scale = [&](size_t i) { return call.isNone(i) ? std::nullopt : std::optional(call.real(i)); };
  return resizeSmoothly<cubic>(call, call.integers(1), call.flag(2), {scale(3), scale(4)});
}

// input, output_size or None, align_corners, scale_factors or None
template <bool cubic>
Tensor& toSizeOrScale(Call& call) {
  if (!call.isNone(1)) {
    return resizeSmoothly<cubic>(call, call.integers(1), call.flag(2), {std::nullopt, std::nullopt});
  }
  const std::vector<double> factors = call.arg(3).unwrapToDoubleList().vec();
  const Tensor& x = call.tensor(0);
  std::vector<int64_t> size;
  for (int i = 0; i < 2; ++i) {
    const int64_t in = call.number(x.getDimensions()[x.rank() - 2 + i], "the size of a dimension to resize");
    size.push_back(static_cast<int64_t>(std::floor(static_cast<double>(in) * factors.at(static_cast<size_t>(i)))));
  }
  return resizeSmoothly<cubic>(call, size, call.flag(2), {factors[0], factors[1]});
}

}  // namespace

void addSamplings(NodeConverterRegistry& registry) {
  for (const char* name : {"grid_sampler", "grid_sampler_2d", "grid_sampler_3d"}) {
    registry.add(std::string("aten::") + name +
                     "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> "
                     "Tensor",
                 one(gridSample));
  }
  registry.add(
      "aten::_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, "
      "float? scales_w=None) -> Tensor",
      one(toSize<false>));
  registry.add(
      "aten::_upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, "
      "float? scales_w=None) -> Tensor",
      one(toSize<true>));
  registry.add(
      "aten::_upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? "
      "scale_factors) -> Tensor",
      one(toSizeOrScale<false>));
  registry.add(
      "aten::_upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? "
      "scale_factors) -> Tensor",
      one(toSizeOrScale<true>));
}

}  // namespace torchtrt::conversion::converters
