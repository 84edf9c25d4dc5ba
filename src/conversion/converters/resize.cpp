#include <cmath>

#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

namespace torchtrt::conversion::converters {
namespace {

constexpr char kNearest[] = "nearest", kNearestExact[] = "nearest_exact", kLinear[] = "linear", kCubic[] = "cubic";

Tensor& resize(const Call& call, const char* mode, const std::vector<Dim>& size, bool align_corners,
               const std::vector<double>& scales) {
  return call.add(
      LayerType::kRESIZE, {&call.tensor(0)},
      attributes(
          {{"mode", std::string(mode)}, {"size", Dims(size)}, {"align_corners", align_corners}, {"scales", scales}}));
}

// self, output_size, [align_corners,] a scale for each dim, which may be None
template <const char* mode, bool has_align_corners>
Tensor& toSize(Call& call) {
  const std::vector<Dim> size = call.dims(1);
  const size_t first = has_align_corners ? 3 : 2;
  std::vector<double> scales;
  bool any = false;
  for (size_t i = first; i < call.count(); ++i) {
    any |= !call.isNone(i);
    scales.push_back(call.isNone(i) ? 0 : call.real(i));
  }
  return resize(call, mode, size, has_align_corners && call.flag(2), any ? scales : std::vector<double>{});
}

// floor(dim * scale), which for a symbol is only known where the scale or its inverse is whole.
Dim scaledDim(const Call& call, const Dim& dim, double scale) {
  if (dim.isConstant()) {
    return static_cast<int64_t>(std::floor(static_cast<double>(dim.constant()) * scale));
  }
  if (scale == std::floor(scale)) {
    return dim * Dim(static_cast<int64_t>(scale));
  }
  const double inverse = 1 / scale;
  if (inverse == std::floor(inverse)) {
    return Dim::floorDiv(dim, static_cast<int64_t>(inverse));
  }
  call.refuse("dynamic-dimension", "dimension " + dim.toString() + " times scale " + std::to_string(scale) +
                                       " is no expression in whole numbers");
}

// input, output_size or None, [align_corners,] scale_factors or None
template <const char* mode, bool has_align_corners>
Tensor& toSizeOrScale(Call& call) {
  const bool align_corners = has_align_corners && call.flag(2);
  if (!call.isNone(1)) {
    return resize(call, mode, call.dims(1), align_corners, {});
  }
  const std::vector<double> scales = call.arg(has_align_corners ? 3 : 2).unwrapToDoubleList().vec();
  const Dims& dims = call.tensor(0).getDimensions();
  std::vector<Dim> size;
  for (size_t i = 0; i < scales.size(); ++i) {
    size.push_back(scaledDim(call, dims[dims.rank() - static_cast<int>(scales.size() - i)], scales[i]));
  }
  return resize(call, mode, size, align_corners, scales);
}

}  // namespace

void addResizes(NodeConverterRegistry& registry) {
  registry.add("aten::upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor",
               one(toSize<kNearest, false>));
  registry.add(
      "aten::upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> "
      "Tensor",
      one(toSize<kNearest, false>));
  registry.add(
      "aten::upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float? "
      "scales_w=None) -> Tensor",
      one(toSize<kNearest, false>));
  registry.add("aten::_upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor",
               one(toSize<kNearestExact, false>));
  registry.add(
      "aten::_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) "
      "-> Tensor",
      one(toSize<kNearestExact, false>));
  registry.add(
      "aten::_upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, "
      "float? scales_w=None) -> Tensor",
      one(toSize<kNearestExact, false>));
  registry.add(
      "aten::upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor",
      one(toSize<kLinear, true>));
  registry.add(
      "aten::upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? "
      "scales_w=None) -> Tensor",
      one(toSize<kLinear, true>));
  registry.add(
      "aten::upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None, float? "
      "scales_h=None, float? scales_w=None) -> Tensor",
      one(toSize<kLinear, true>));
  registry.add(
      "aten::upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? "
      "scales_w=None) -> Tensor",
      one(toSize<kCubic, true>));
  registry.add("aten::upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
               one(toSizeOrScale<kNearest, false>));
  registry.add("aten::upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
               one(toSizeOrScale<kNearest, false>));
  registry.add("aten::upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
               one(toSizeOrScale<kNearest, false>));
  registry.add(
      "aten::_upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
      one(toSizeOrScale<kNearestExact, false>));
  registry.add(
      "aten::_upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
      one(toSizeOrScale<kNearestExact, false>));
  registry.add(
      "aten::_upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
      one(toSizeOrScale<kNearestExact, false>));
  registry.add(
      "aten::upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> "
      "Tensor",
      one(toSizeOrScale<kLinear, true>));
  registry.add(
      "aten::upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) "
      "-> Tensor",
      one(toSizeOrScale<kLinear, true>));
  registry.add(
      "aten::upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) "
      "-> Tensor",
      one(toSizeOrScale<kLinear, true>));
  registry.add(
      "aten::upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) "
      "-> Tensor",
      one(toSizeOrScale<kCubic, true>));
}

}  // namespace torchtrt::conversion::converters
