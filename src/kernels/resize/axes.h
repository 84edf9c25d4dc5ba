// Reads the rules of a resize layer's axes from its attributes.
#pragma once

#include <vector>

#include "kernels/kernel.h"
#include "kernels/resize/taps.h"

namespace torchtrt::kernels {

struct ResizeConfig {
  ResizeMode mode = ResizeMode::kNearest;
  bool align_corners = false;
  std::vector<double> scales;  // of the last axes; fewer, or 0, where only sizes are known
};

TORCHTRT_API ResizeConfig readResizeConfig(const Attributes& attributes);

// One rule for each of the 1 to 3 spatial dimensions, which are the last.
TORCHTRT_API std::vector<ResizeAxis> resizeAxes(const ResizeConfig& config, const ShapeSet& shapes);

}  // namespace torchtrt::kernels
