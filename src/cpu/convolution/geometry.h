// The fast convolution kernels share this: a convolution's attributes, brought to three spatial dimensions, and the
// sizes and strides of one call. Missing outer dimensions have size 1. The reference kernel does not use it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>

#include "cpu/storage/order.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels::convolution {

using Spatial = std::array<int64_t, 3>;  // depth, height, width

struct Geometry {
  int spatial_rank = 2;
  int64_t groups = 1;
  int64_t channels = 0;  // of the input, all groups
  int64_t outputs = 0;   // of the output, all groups
  Spatial kernel = {1, 1, 1};
  Spatial stride = {1, 1, 1};
  Spatial dilation = {1, 1, 1};
  Spatial pre_padding = {0, 0, 0};
  Spatial post_padding = {0, 0, 0};
  bool has_bias = false;
  bool has_residual = false;
  bool has_scale = false;  // of bfloat16: one float32 for each output, as the bias is then
  std::string activation;  // fused, "" for none
  double alpha = 0;
  double beta = 0;
  DType dtype = DType::kFloat32;   // of all operands, but in a quantized convolution
  const float* weights = nullptr;  // [outputs, channels / groups, kernel...], row-major; null except for float32

  bool addsBias() const {  // before the scale, behind which a bias is a shift
    return has_bias && !has_scale;
  }
  int64_t taps() const {
    return kernel[0] * kernel[1] * kernel[2];
  }
  bool isPointwise() const {  // 1x1 without padding: each output pixel reads one input pixel
    return taps() == 1 && pre_padding == Spatial{0, 0, 0} && post_padding == Spatial{0, 0, 0};
  }
};

enum class Weights : uint8_t { kConstant, kAny };

// Refuses operands of other dtypes except for bias and scale of a scaled convolution, and, unless any are asked for,
// filters that are not constant. A size of a computed filter that may vary from call to call is -1.
std::variant<Geometry, Refusal> describe(const Problem& problem, DType dtype = DType::kFloat32,
                                         Weights weights = Weights::kConstant);
// The same of a quantized_convolution, whose operands have dtypes of their own.
std::variant<Geometry, Refusal> describeQuantized(const Problem& problem);
// The same of a deconvolution: channels and outputs are those of its input and output, weights are [channels, outputs /
// groups, kernel...], and output padding is taken off the padding after.
std::variant<Geometry, Refusal> describeTransposed(const Problem& problem, Weights weights = Weights::kConstant,
                                                   DType dtype = DType::kFloat32);
// True if the windows of a deconvolution lie side by side, without gaps or padding, in one group.
bool spreads(const Geometry& geometry);
// Channels, outputs and kernel sizes of a geometry with these weights.
void setKernel(Geometry& geometry, const std::vector<int64_t>& dims, bool transposed);

// A place in the images of a batch: batch, depth, height, width.
using Pixel = std::array<int64_t, 4>;

// Sizes and strides (in elements) of an image tensor [N, C, d...].
struct Image {
  int64_t batch = 0;
  int64_t channels = 0;
  Spatial size = {1, 1, 1};
  int64_t batch_stride = 0;
  int64_t channel_stride = 0;
  Spatial stride = {0, 0, 0};

  int64_t pixels() const {
    return size[0] * size[1] * size[2];
  }
  // Pixel number `index` of the batch, row by row.
  Pixel pixelAt(int64_t index) const {
    Pixel pixel{};
    for (size_t i = 4; i-- > 1;) {
      pixel[i] = index % size[i - 1];
      index /= size[i - 1];
    }
    pixel[0] = index;
    return pixel;
  }
  // Moves on to the next pixel of the batch.
  void advance(Pixel& pixel) const {
    for (size_t i = 3; i > 0; --i) {
      if (++pixel[i] < size[i - 1]) {
        return;
      }
      pixel[i] = 0;
    }
    ++pixel[0];
  }
  // Returns the offset of the pixel in the first channel, in elements.
  int64_t offsetOf(const Pixel& pixel) const {
    return pixel[0] * batch_stride + pixel[1] * stride[0] + pixel[2] * stride[1] + pixel[3] * stride[2];
  }
};
Image imageOf(const TensorDesc& desc);

// Pixel p of the whole batch lies at p times `step`.
bool isFlat(const Image& image, int64_t step);

// The input lines that one line of the output reads in one channel, by depth and height tap; null where that is
// padding. `channel` is the first element of the image in that channel. Returns the place behind the last.
const float** findLines(const Geometry& geometry, const Image& input, const float* channel, int64_t out_depth,
                        int64_t out_height, const float** lines);

// True if the operand lies channels-last, whatever its shape will be.
bool isChannelsLast(
    const Operand& operand);  // channels have stride 1; true for row-major too where all spatial dims are 1

}  // namespace torchtrt::kernels::convolution
