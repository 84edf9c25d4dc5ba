#include <algorithm>
#include <cmath>

#include "conversion/converters/call.h"
#include "conversion/converters/list.h"
#include "conversion/converters/plugin_layer.h"

// Images sampled at given places, and resized with a filter as wide as the step (antialias), which is a plugin
// (src/cpu/resize).

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

// Bytes and floats of 4 and 8 bytes as they are, halves in float32.
template <bool cubic>
Tensor& resizeSmoothly(const Call& call, const std::vector<int64_t>& size, bool align_corners,
                       const std::vector<double>& scales) {
  constexpr double kMostScale = 1 << 20;
  Tensor& given = call.tensor(0);
  const bool is_stored_so = given.getType() == DType::kUInt8 || given.getType() == DType::kFloat64;
  for (size_t i = 0; i < scales.size(); ++i) {
    if (scales[i] != 0 && (scales[i] < 1 / kMostScale || scales[i] > kMostScale)) {
      call.refuse("argument", "scale factors below 2^-20 or above 2^20");
    }
    const Dim& in = given.getDimensions()[given.rank() - 2 + static_cast<int>(i)];
    if (given.getType() == DType::kUInt8 && scales[i] != 0 && scales[i] != 1 &&
        call.number(in, "the size of a dimension to resize") == size.at(i)) {
      call.refuse("argument",
                  "a scale factor other than 1 between equal sizes is one only for some numbers of channels");
    }
  }
  Tensor& x = is_stored_so ? given : call.cast(given, DType::kFloat32);
  const Layer* layer = addPlugin(call, "AntialiasedResize", {&x},
                                 attributes({{"mode", std::string(cubic ? "cubic" : "linear")},
                                             {"size", size},
                                             {"align_corners", align_corners},
                                             {"scales", scales}}));
  return call.cast(*layer->getOutput(0), given.getType());
}

// self, output_size, align_corners, scales_h, scales_w
template <bool cubic>
Tensor& toSize(Call& call) {
  const auto scale = [&](size_t i) { return call.isNone(i) ? 0 : std::max(call.real(i), 0.0); };
  return resizeSmoothly<cubic>(call, call.integers(1), call.flag(2), {scale(3), scale(4)});
}

// input, output_size or None, align_corners, scale_factors or None
template <bool cubic>
Tensor& toSizeOrScale(Call& call) {
  if (!call.isNone(1)) {
    return resizeSmoothly<cubic>(call, call.integers(1), call.flag(2), {0, 0});
  }
  const std::vector<double> factors = call.arg(3).unwrapToDoubleList().vec();
  const Tensor& x = call.tensor(0);
  std::vector<int64_t> size;
  for (int i = 0; i < 2; ++i) {
    const int64_t in = call.number(x.getDimensions()[x.rank() - 2 + i], "the size of a dimension to resize");
    size.push_back(static_cast<int64_t>(std::floor(static_cast<double>(in) * factors.at(static_cast<size_t>(i)))));
  }
  return resizeSmoothly<cubic>(call, size, call.flag(2), {std::max(factors[0], 0.0), std::max(factors[1], 0.0)});
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
