// Quantized convolution as a product of matrices: rows of A are put together from the image, block by block, as they
// are widened. Channels-last outputs; inputs in any order, channels-last being fastest.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>

#include "cpu/convolution/geometry.h"
#include "cpu/quantized/fast.h"
#include "cpu/quantized/products/product.h"
#include "cpu/quantized/products/widen.h"

namespace torchtrt::kernels::quantized {
namespace {

using convolution::Geometry;
using convolution::Image;
using convolution::Pixel;
using convolution::Spatial;

struct Packed {
  Geometry geometry;
  PackedProduct product;
  WidenFunction widen;
  bool is_signed;
  int zero_point;
};

// Rows of A are the channels of the taps of each window, tap by tap.
class WindowRows final : public Rows {
 public:
  WindowRows(const Packed& packed, const ShapeSet& shapes)
      : packed_(packed),
        input_(convolution::imageOf(shapes.inputs[kInput])),
        output_(convolution::imageOf(shapes.outputs[0])),
        residual_(packed.geometry.has_residual ? convolution::imageOf(shapes.inputs[kResidual]) : output_) {
    const Geometry& g = packed_.geometry;
    channels_ = g.channels / g.groups;
    // A line of taps is one run of memory where pixels lie side by side.
    const bool dense =
        g.groups == 1 && g.dilation[2] == 1 && input_.channel_stride == 1 && input_.stride[2] == input_.channels;
    taps_of_run_ = dense ? g.kernel[2] : 1;
    for (int64_t z = 0; z < g.kernel[0]; ++z) {
      for (int64_t y = 0; y < g.kernel[1]; ++y) {
        for (int64_t x = 0; x < g.kernel[2]; x += taps_of_run_) {
          const Spatial at = {z * g.dilation[0], y * g.dilation[1], x * g.dilation[2]};
          runs_.push_back(at);
          offsets_.push_back(at[0] * input_.stride[0] + at[1] * input_.stride[1] + at[2] * input_.stride[2]);
        }
      }
    }
    flat_ = dense && g.isPointwise() && g.stride == Spatial{1, 1, 1} && convolution::isFlat(input_, input_.channels);
  }

  int64_t count() const {
    return output_.batch * output_.pixels();
  }

  void widen(const void* input, int64_t group, int64_t first, int64_t count, int64_t begin, int64_t end, int16_t* to,
             int64_t stride) const override {
    const auto* steps = static_cast<const std::byte*>(input) + group * channels_ * input_.channel_stride;
    if (flat_ && end - begin == channels_ && stride == channels_) {
      widenRun(steps + first * channels_, count * channels_, to);
      return;
    }
    const int64_t length = taps_of_run_ * channels_;
    const bool whole = input_.channel_stride == 1 && end - begin == length * static_cast<int64_t>(runs_.size());
    Pixel pixel = output_.pixelAt(first);
    for (int64_t r = 0; r < count; ++r, output_.advance(pixel), to += stride) {
      const Spatial start = startOf(pixel);
      if (whole && isInside(start)) {
        const std::byte* from = steps + pixel[0] * input_.batch_stride + start[0] * input_.stride[0] +
                                start[1] * input_.stride[1] + start[2] * input_.stride[2];
        packed_.widen({from, offsets_.data(), static_cast<int64_t>(runs_.size()), length, packed_.zero_point, to});
      } else {
        widenRow(steps + pixel[0] * input_.batch_stride, start, begin, end, to);
      }
      if ((end - begin) % 2 != 0) {
        to[end - begin] = 0;
      }
    }
  }

  void find(int64_t first, int64_t count, int64_t* out, int64_t* residual) const override {
    Pixel pixel = output_.pixelAt(first);
    for (int64_t r = 0; r < count; ++r, output_.advance(pixel)) {
      out[r] = output_.offsetOf(pixel);
      residual[r] = residual_.offsetOf(pixel);
    }
  }

 private:
  // Returns the begin of a pixel's window.
  Spatial startOf(const Pixel& pixel) const {
    const Geometry& g = packed_.geometry;
    return {pixel[1] * g.stride[0] - g.pre_padding[0], pixel[2] * g.stride[1] - g.pre_padding[1],
            pixel[3] * g.stride[2] - g.pre_padding[2]};
  }

  bool isInside(const Spatial& start) const {
    const Geometry& g = packed_.geometry;
    for (size_t i = 0; i < 3; ++i) {
      if (start[i] < 0 || start[i] + (g.kernel[i] - 1) * g.dilation[i] >= input_.size[i]) {
        return false;
      }
    }
    return true;
  }

  // Values [begin, end) of the row whose window begins at `start`.
  void widenRow(const std::byte* image, const Spatial& start, int64_t begin, int64_t end, int16_t* to) const {
    const int64_t length = taps_of_run_ * channels_;
    while (begin < end) {
      const int64_t run = begin / length;
      const int64_t from = begin - run * length;
      const int64_t until = std::min(length, from + end - begin);
      const Spatial& tap = runs_[static_cast<size_t>(run)];
      const int64_t z = start[0] + tap[0];
      const int64_t y = start[1] + tap[1];
      const int64_t x = start[2] + tap[2];
      // The part of the run inside of the image.
      int64_t valid = from;
      int64_t valid_end = from;
      if (z >= 0 && z < input_.size[0] && y >= 0 && y < input_.size[1]) {
        valid = std::clamp(-x * channels_, from, until);
        valid_end = std::clamp((input_.size[2] - x) * channels_, valid, until);
      }
      std::fill(to, to + (valid - from), int16_t{0});
      if (valid < valid_end) {
        const std::byte* at =
            image + z * input_.stride[0] + y * input_.stride[1] + x * input_.stride[2] + valid * input_.channel_stride;
        widenRun(at, valid_end - valid, to + (valid - from));
      }
      std::fill(to + (valid_end - from), to + (until - from), int16_t{0});
      to += until - from;
      begin += until - from;
    }
  }

  void widenRun(const std::byte* from, int64_t count, int16_t* to) const {
    const int64_t step = input_.channel_stride;
    if (step == 1) {
      constexpr int64_t kNone = 0;
      packed_.widen({from, &kNone, 1, count, packed_.zero_point, to});
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<uint8_t>(from[i * step]);
      to[i] = static_cast<int16_t>((packed_.is_signed ? static_cast<int8_t>(value) : value) - packed_.zero_point);
    }
  }

  const Packed& packed_;
  Image input_;
  Image output_;
  Image residual_;
  int64_t channels_ = 0;          // of a group
  int64_t taps_of_run_ = 1;       // 1, or a line of the kernel
  std::vector<Spatial> runs_;     // offsets of their first taps from the window's start
  std::vector<int64_t> offsets_;  // the same in elements
  bool flat_ = false;             // rows of A lie in the input one behind the other
};

class ConvolutionKernel final : public Kernel {
 public:
  explicit ConvolutionKernel(std::shared_ptr<const Packed> packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    auto rows = std::make_unique<WindowRows>(*packed_, shapes);
    const int64_t count = rows->count();
    return std::make_unique<PreparedProduct>(std::shared_ptr<const PackedProduct>(packed_, &packed_->product),
                                             std::move(rows), count, shapes.threads);
  }
  bool needsConstant(int input) const override {
    return input != kKernel;
  }
  size_t packedBytes() const override {
    return packed_->product.bytes();
  }
  bool acceptsStrides(int input, const TensorDesc&) const override {
    return input == kInput;
  }

 private:
  std::shared_ptr<const Packed> packed_;
};

PackedIntegers packGroup(const Geometry& g, const int8_t* weights, int64_t group, int threads) {
  const int64_t channels = g.channels / g.groups;
  const int64_t outputs = g.outputs / g.groups;
  const int8_t* own = weights + group * outputs * channels * g.taps();
  const std::function<const int8_t*(int64_t)> row = [&](int64_t k) {
    return own + k % channels * g.taps() + k / channels;
  };
  return {channels * g.taps(), outputs, channels * g.taps(), row, threads};
}

}  // namespace

CreateResult createConvolutionIntegerGemm(const Problem& problem) {
  std::variant<Geometry, Refusal> described = convolution::describeQuantized(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const Geometry& g = std::get<Geometry>(described);
  if (g.outputs > 1 && !convolution::isChannelsLast(problem.outputs[0])) {
    return Refusal{"memory-order", "writes channels-last only"};
  }
  if (g.has_residual && g.outputs > 1 && !convolution::isChannelsLast(problem.inputs[kResidual])) {
    return Refusal{"memory-order", "reads a channels-last residual only"};
  }
  if (g.groups > 1 && g.outputs / g.groups < 8) {
    return Refusal{"narrow-groups", "takes groups of 8 outputs or more: fewer leave most of each vector empty"};
  }
  const auto* weights = static_cast<const int8_t*>(problem.inputs[kKernel].constant);
  std::vector<PackedIntegers> groups;
  for (int64_t group = 0; group < g.groups; ++group) {
    groups.push_back(packGroup(g, weights, group, problem.threads));
  }
  const DType dtype = problem.inputs[kInput].dtype;
  return std::make_unique<ConvolutionKernel>(std::make_shared<const Packed>(
      Packed{g, PackedProduct(problem, std::move(groups)), widenFunction(dtype), dtype == DType::kInt8,
             static_cast<int>(problem.attributes->getInt("zero_point", 0))}));
}

}  // namespace torchtrt::kernels::quantized
