// Two depthwise convolutions share this: one on an image in memory (depthwise.cpp), and one on an image that is
// computed line by line (depthwise_behind.cpp). Private to this folder.
#pragma once

#include <memory>
#include <vector>

#include "cpu/convolution/direct/depthwise_row.h"
#include "cpu/convolution/direct/row.h"
#include "kernels/fusion.h"

namespace torchtrt::kernels::convolution {

struct PackedDepthwise : PackedRows {
  std::vector<DepthwiseBlock> blocks;
  DepthwiseFunctions functions;
};

// Visits each weight: body(place in [channels, taps], place in packed memory).
template <typename Body>
void visitWeights(const PackedDepthwise& packed, Body&& body) {
  const int64_t taps = packed.geometry.taps();
  for (const DepthwiseBlock& block : packed.blocks) {
    const int64_t begin = block.weights - packed.weights.get();
    const int64_t width = block.vectors * packed.functions.lanes;
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t i = 0; i < block.valid; ++i) {
        body((block.channel + i) * taps + tap, begin + tap * width + i);
      }
    }
  }
}

// The mean of each channel of each image, as a second output. The thread that computes a line of the result leaves its
// sums. They are added up at the end, in an order that does not depend on threads.
class MeansOfLines {
 public:
  MeansOfLines(const DepthwiseFunctions& functions, const Image& output) : functions_(functions), output_(output) {}

  int64_t floats() const {  // of memory for the sums of all lines
    return output_.batch * floatsOfImage();
  }
  // The sums of a block of a line's channels, which the row has just written.
  void addLine(float* sums, const Pixel& first, const Row& row, const DepthwiseBlock& block) const {
    float* const line =
        sums + first[0] * floatsOfImage() + (first[1] * output_.size[1] + first[2]) * output_.channels + block.channel;
    functions_.sum(row.out + block.channel, row.out_stride, row.columns, block.valid, 1.0F, line);
  }
  void write(const float* sums, float* means) const {
    for (int64_t n = 0; n < output_.batch; ++n) {
      functions_.sum(sums + n * floatsOfImage(), output_.channels, output_.size[0] * output_.size[1], output_.channels,
                     static_cast<float>(output_.pixels()), means + n * output_.channels);
    }
  }

 private:
  int64_t floatsOfImage() const {
    return output_.size[0] * output_.size[1] * output_.channels;
  }

  DepthwiseFunctions functions_;
  Image output_;
};

// ReadsPixels::prepareBehind.
Fused prepareDepthwiseBehind(std::shared_ptr<const PackedDepthwise> packed, const ShapeSet& shapes,
                             const ComputesPixels& before, const ShapeSet& before_shapes, bool with_means);

}  // namespace torchtrt::kernels::convolution
