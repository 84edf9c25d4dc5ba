// Images whose channels are no sixteens, for convolutions of steps on tensor cores. Neighbouring places become one
// pixel where windows stride over them, and channels get company up to a multiple of 16.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/launch/steps.h"
#include "cuda/matmul/tile.h"

namespace torchtrt::cuda {

class Regrouped {
 public:
  // Of a convolution with weights of these dims [outputs, channels, height, width]. Chooses the pixels that give the
  // least depth.
  Regrouped(const Attributes& attributes, const Ints& filter);

  // For each byte along the depth of the new windows the element of an output's weights, or -1 for none.
  std::vector<int64_t> depthSteps() const;
  // The windows over the new image, in bytes; its channels, height and width are those of the new one.
  Windows windows(const kernels::TensorDesc& out) const;
  // Adds the launch that makes the new image. The image may have any strides.
  Place add(Launches& launches, const kernels::ShapeSet& shapes, int32_t zero_point) const;

 private:
  struct Axis {
    int64_t taps, stride, padding, dilation;  // of the windows over the image
    int64_t group = 1;                        // places of the image in a pixel

    int64_t newTaps() const;
    int64_t newStride() const {
      return stride / group;
    }
    int64_t pixels(int64_t outputs) const;
  };

  int64_t pixelBytes() const;
  int64_t depth() const;

  int64_t channels_;
  Axis y_, x_;
};

}  // namespace torchtrt::cuda
