#include "kernels/resize/axes.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/check.h"

namespace torchtrt::kernels {
namespace {

ResizeMode parseMode(const std::string& text) {
  static constexpr const char* kNames[] = {"nearest", "nearest_exact", "linear", "cubic"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), text);
  TORCHTRT_CHECK(found != std::end(kNames), "resize has no mode \"" << text << "\"");
  return static_cast<ResizeMode>(found - std::begin(kNames));
}

}  // namespace

ResizeConfig readResizeConfig(const Attributes& attributes) {
  return {parseMode(attributes.getString("mode")), attributes.getBool("align_corners", false),
          attributes.has("scales") ? attributes.getDoubles("scales") : std::vector<double>()};
}

std::vector<ResizeAxis> resizeAxes(const ResizeConfig& config, const ShapeSet& shapes) {
  const TensorDesc& in = shapes.inputs.at(0);
  const TensorDesc& out = shapes.outputs.at(0);
  const size_t spatial = shapes.dimsOf("size").size();
  TORCHTRT_CHECK(spatial >= 1 && spatial <= 3 && spatial <= out.dims.size(), spatial << " spatial dimensions");
  const size_t lead = out.dims.size() - spatial;
  const bool copies_equal = config.mode == ResizeMode::kLinear ||
                            (config.mode == ResizeMode::kNearest && spatial == 2) ||
                            (config.mode == ResizeMode::kCubic && !isFloating(out.dtype));
  std::vector<ResizeAxis> axes;
  for (size_t axis = 0; axis < spatial; ++axis) {
    axes.push_back({config.mode, config.align_corners, axis < config.scales.size() ? config.scales[axis] : 0,
                    copies_equal, in.dims.at(lead + axis), out.dims[lead + axis]});
  }
  return axes;
}

}  // namespace torchtrt::kernels
