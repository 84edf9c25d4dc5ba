#include <algorithm>
#include <array>

#include "base/check.h"
#include "cpu/convolution/convolution.h"
#include "cpu/loops/accumulate.h"
#include "cpu/loops/activation.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/storage/dense.h"
#include "kernels/scale.h"

namespace torchtrt::kernels {
namespace {

// Depth, height, width: problems with fewer spatial dimensions get leading ones of size 1.
using Spatial = std::array<int64_t, 3>;

constexpr int64_t kChannels = 4;   // output channels that share one pass over the input
constexpr int64_t kColumns = 256;  // outputs along a row per pass

struct ConvolutionConfig {
  bool transposed = false;
  Spatial stride{}, padding{}, dilation{};
  int64_t groups = 1;
  bool has_bias = false, has_residual = false, has_scale = false;
  ActivationSpec activation;
};

Spatial spatial(const std::vector<int64_t>& values, int64_t fill) {
  TORCHTRT_CHECK(!values.empty() && values.size() <= 3, values.size() << " spatial dimensions");
  Spatial result = {fill, fill, fill};
  std::copy_backward(values.begin(), values.end(), result.end());
  return result;
}

Spatial spatialPart(const std::vector<int64_t>& values, int64_t fill) {
  return spatial({values.begin() + 2, values.end()}, fill);
}

// Output positions [begin, end) along the innermost axis that one kernel column reaches inside the input.
struct Reach {
  int64_t begin, end;
  int64_t input;  // the input column of `begin`
};

class ConvolutionPrepared final : public Prepared {
 public:
  ConvolutionPrepared(const ConvolutionConfig& config, const ShapeSet& shapes)
      : config_(config),
        in_(shapes.inputs.at(0)),
        kernel_(shapes.inputs.at(1)),
        out_(shapes.outputs.at(0)),
        residual_(config.has_residual ? shapes.inputs.at(3) : TensorDesc{}),
        bias_dtype_(config.has_bias ? shapes.inputs.at(2).dtype : DType::kFloat32),
        bias_stride_(config.has_bias ? shapes.inputs[2].strides.at(0) : 0),
        scale_stride_(config.has_scale ? shapes.inputs.at(kScale).strides.at(0) : 0) {
    const TensorDesc& kernel = shapes.inputs[1];
    batch_ = out_.dims.at(0);
    out_channels_ = out_.dims.at(1);
    in_channels_ = shapes.inputs[0].dims.at(1);
    in_size_ = spatialPart(shapes.inputs[0].dims, 1);
    kernel_size_ = spatialPart(kernel.dims, 1);
    out_size_ = spatialPart(out_.dims, 1);
    out_strides_ = spatialPart(out_.strides, 0);
    residual_strides_ = config.has_residual ? spatialPart(residual_.strides, 0) : Spatial{};
    group_in_ = in_channels_ / config.groups;
    group_out_ = out_channels_ / config.groups;
  }

  size_t scratchBytes() const override {
    return in_.scratchBytes() + kernel_.scratchBytes();
  }

  void run(const RunArgs& args) const override {
    visitComputeType(out_.dtype, [&](auto type) { runAs<typename decltype(type)::type>(args); });
  }

 private:
  template <typename T>
  struct Operands {
    const T* in;
    const T* kernel;
    Activation<T> activation;
  };
  template <typename T>
  using Sums = std::array<std::array<Accumulator<T>, kColumns>, kChannels>;
  struct Tile {
    int64_t batch, channel, channels, depth, row, column, columns;
  };

  template <typename T>
  void runAs(const RunArgs& args) const {
    auto* scratch = static_cast<std::byte*>(args.scratch);
    const Operands<T> operands{in_.dense<T>(args.threads, args.inputs[0], scratch),
                               kernel_.dense<T>(args.threads, args.inputs[1], scratch + in_.scratchBytes()),
                               Activation<T>(config_.activation, out_.dtype)};
    const int64_t blocks_per_group = (group_out_ + kChannels - 1) / kChannels;
    const int64_t column_blocks = (out_size_[2] + kColumns - 1) / kColumns;
    const int64_t rows = out_size_[0] * out_size_[1];
    const int64_t tiles = batch_ * config_.groups * blocks_per_group * rows * column_blocks;
    const int64_t volume = kernel_size_[0] * kernel_size_[1] * kernel_size_[2];
    const int64_t cost = kChannels * std::min(out_size_[2], kColumns) * (group_in_ * volume + 1);
    parallelFor(args.threads, 0, tiles, grainFor(cost), [&](int64_t begin, int64_t end) {
      for (int64_t index = begin; index < end; ++index) {
        int64_t rest = index;
        const auto next = [&rest](int64_t size) {
          const int64_t value = rest % size;
          rest /= size;
          return value;
        };
        Tile tile{};
        tile.column = next(column_blocks) * kColumns;
        tile.columns = std::min(kColumns, out_size_[2] - tile.column);
        tile.row = next(out_size_[1]);
        tile.depth = next(out_size_[0]);
        const int64_t block = next(blocks_per_group) * kChannels;
        tile.channels = std::min(kChannels, group_out_ - block);
        tile.channel = next(config_.groups) * group_out_ + block;
        tile.batch = rest;
        computeTile(args, operands, tile);
      }
    });
  }

  template <typename T>
  void computeTile(const RunArgs& args, const Operands<T>& operands, const Tile& tile) const {
    alignas(64) Sums<T> sums{};
    const int64_t first_in = tile.channel / group_out_ * group_in_;
    for (int64_t c = 0; c < group_in_; ++c) {
      const T* plane =
          operands.in + (tile.batch * in_channels_ + first_in + c) * in_size_[0] * in_size_[1] * in_size_[2];
      for (int64_t kd = 0; kd < kernel_size_[0]; ++kd) {
        const int64_t depth = inputIndex(0, tile.depth, kd);
        for (int64_t kh = 0; depth >= 0 && kh < kernel_size_[1]; ++kh) {
          const int64_t row = inputIndex(1, tile.row, kh);
          if (row >= 0) {
            addRow(operands, tile, c, kd * kernel_size_[1] + kh, plane + (depth * in_size_[1] + row) * in_size_[2],
                   sums);
          }
        }
      }
    }
    for (int64_t k = 0; k < tile.channels; ++k) {
      finishRow(args, operands, tile, tile.channel + k, sums[static_cast<size_t>(k)].data());
    }
  }

  // Adds what one input row contributes through one row of the kernel.
  template <typename T>
  void addRow(const Operands<T>& operands, const Tile& tile, int64_t c, int64_t kernel_row, const T* in,
              Sums<T>& sums) const {
    const int64_t rows = kernel_size_[0] * kernel_size_[1];
    const int64_t out_step = config_.transposed ? config_.stride[2] : 1;
    const int64_t in_step = config_.transposed ? 1 : config_.stride[2];
    for (int64_t kw = 0; kw < kernel_size_[2]; ++kw) {
      const Reach reach = config_.transposed ? transposedReach(tile, kw) : directReach(tile, kw);
      for (int64_t k = 0; k < tile.channels; ++k) {
        // Kernel dims: [K, C/groups, ...], and [C, K/groups, ...] when transposed.
        const int64_t channel = tile.channel + k;
        const int64_t filter = config_.transposed
                                   ? (channel / group_out_ * group_in_ + c) * group_out_ + channel % group_out_
                                   : channel * group_in_ + c;
        const auto weight =
            static_cast<Accumulator<T>>(operands.kernel[(filter * rows + kernel_row) * kernel_size_[2] + kw]);
        Accumulator<T>* sum = sums[static_cast<size_t>(k)].data();
        const T* x = in + reach.input;
        for (int64_t i = reach.begin; i < reach.end; i += out_step, x += in_step) {
          sum[i] += weight * static_cast<Accumulator<T>>(*x);
        }
      }
    }
  }

  // Columns are counted from the tile's first one.
  Reach directReach(const Tile& tile, int64_t kw) const {
    const int64_t stride = config_.stride[2];
    const int64_t first = tile.column * stride - config_.padding[2] + kw * config_.dilation[2];
    const int64_t begin = first < 0 ? (-first + stride - 1) / stride : 0;
    const int64_t room = in_size_[2] - first;
    const int64_t end = room <= 0 ? 0 : (room + stride - 1) / stride;
    return {begin, std::min(end, tile.columns), first + begin * stride};
  }

  // Input column i lands on output column i * stride + shift.
  Reach transposedReach(const Tile& tile, int64_t kw) const {
    const int64_t stride = config_.stride[2];
    const int64_t shift = kw * config_.dilation[2] - config_.padding[2] - tile.column;
    const int64_t input = shift < 0 ? (-shift + stride - 1) / stride : 0;
    const int64_t begin = input * stride + shift;
    const int64_t end = std::min(tile.columns, (in_size_[2] - 1) * stride + shift + 1);
    return {begin, end, input};
  }

  // The input index that kernel index `k` joins with output index `out` along an outer axis, or -1.
  int64_t inputIndex(size_t axis, int64_t out, int64_t k) const {
    int64_t index;
    if (config_.transposed) {
      const int64_t scaled = out + config_.padding[axis] - k * config_.dilation[axis];
      if (scaled < 0 || scaled % config_.stride[axis] != 0) {
        return -1;
      }
      index = scaled / config_.stride[axis];
    } else {
      index = out * config_.stride[axis] - config_.padding[axis] + k * config_.dilation[axis];
    }
    return index < in_size_[axis] ? index : -1;
  }

  template <typename T>
  void finishRow(const RunArgs& args, const Operands<T>& operands, const Tile& tile, int64_t channel,
                 Accumulator<T>* sums) const {
    alignas(64) std::array<T, kColumns> values;
    const auto offset = [&](const TensorDesc& desc, const Spatial& strides) {
      return tile.batch * desc.strides[0] + channel * desc.strides[1] + tile.depth * strides[0] +
             tile.row * strides[1] + tile.column * strides[2];
    };
    const auto bias =
        config_.has_bias
            ? static_cast<Accumulator<T>>(Reader<T>(bias_dtype_).one(args.inputs[2], channel * bias_stride_))
            : Accumulator<T>(0);
    const auto scale =
        config_.has_scale
            ? static_cast<Accumulator<T>>(Reader<T>(DType::kFloat32).one(args.inputs[kScale], channel * scale_stride_))
            : Accumulator<T>(1);
    if (config_.has_residual) {
      Reader<T>(residual_.dtype)
          .read(args.inputs[3], offset(residual_, residual_strides_), residual_strides_[2], tile.columns,
                values.data());
    }
    for (int64_t i = 0; i < tile.columns; ++i) {
      T& value = values[static_cast<size_t>(i)];
      const auto residual = config_.has_residual ? static_cast<Accumulator<T>>(value) : Accumulator<T>(0);
      value = static_cast<T>(sums[i] * scale + bias + residual);
    }
    operands.activation.apply(values.data(), tile.columns);
    Writer<T>(out_.dtype)
        .write(values.data(), tile.columns, args.outputs[0], offset(out_, out_strides_), out_strides_[2]);
  }

  ConvolutionConfig config_;
  DenseOperand in_, kernel_;
  TensorDesc out_, residual_;
  DType bias_dtype_;
  int64_t bias_stride_, scale_stride_;
  int64_t batch_, in_channels_, out_channels_, group_in_, group_out_;
  Spatial in_size_, kernel_size_, out_size_, out_strides_, residual_strides_;
};

CreateResult create(const Problem& problem, bool transposed) {
  const Attributes& attributes = *problem.attributes;
  const auto present = [&](size_t i) { return i < problem.inputs.size() && problem.inputs[i].present; };
  ConvolutionConfig config = {transposed,
                              spatial(attributes.getInts("stride"), 1),
                              spatial(attributes.getInts("pre_padding"), 0),
                              spatial(attributes.getInts("dilation"), 1),
                              attributes.getInt("groups", 1),
                              present(2),
                              present(3),
                              present(kScale),
                              fusedActivation(attributes)};
  if (!isActivationDefined(config.activation, problem.outputs.at(0).dtype)) {
    return Refusal{
        "dtype", "activation '" + config.activation.op + "' is not defined for " + toString(problem.outputs[0].dtype)};
  }
  return makeKernel<ConvolutionPrepared>(std::move(config));
}

}  // namespace

CreateResult createConvolutionReference(const Problem& problem) {
  return create(problem, false);
}

CreateResult createDeconvolutionReference(const Problem& problem) {
  return create(problem, true);
}

}  // namespace torchtrt::kernels
