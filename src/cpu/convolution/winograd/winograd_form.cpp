#include "cpu/convolution/winograd/winograd_form.h"

#include <algorithm>

namespace torchtrt::kernels::convolution {

int64_t WinogradSizes::kernelOf(int64_t product) const {
  return std::min(product / side, lines - 1) * lines + std::min(product % side, lines - 1);
}

WinogradSizes sizesOf(WinogradForm form) {
  switch (form) {
    case WinogradForm::kSmall:
      return {2, 4, 1, 4};
    case WinogradForm::kLarge:
      return {4, 6, 1, 6};
    case WinogradForm::kStrided:
      break;
  }
  return {2, 5, 2, 4};
}

bool isWinogradShape(const Geometry& g) {
  const bool has_stride = g.stride == Spatial{1, 1, 1} || g.stride == Spatial{1, 2, 2};
  return g.spatial_rank == 2 && g.kernel == Spatial{1, 3, 3} && g.dilation == Spatial{1, 1, 1} && has_stride &&
         g.channels / g.groups % kWinogradVector == 0 && g.outputs / g.groups % kWinogradVector == 0;
}

}  // namespace torchtrt::kernels::convolution
