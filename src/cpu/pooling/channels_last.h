// Pooling of channels-last images, whatever the dtype: lines of windows are shared out among threads and given to a
// vector function.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>

#include "cpu/pooling/line.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::pooling {

template <typename T>
class ChannelsLastPooling final : public Prepared {
 public:
  ChannelsLastPooling(const Config& config, LineFunction<T> function, const ShapeSet& shapes)
      : config_(config),
        in_(convolution::imageOf(shapes.inputs[0])),
        out_(convolution::imageOf(shapes.outputs[0])),
        windows_(config, in_, out_, shapes.outputs[0].dims.size() - 2),
        function_(function) {}

  void run(const RunArgs& args) const override {
    const int64_t lines = out_.batch * out_.size[0] * out_.size[1];
    // Threads share the channels if there are few lines (global pooling), in parts of whole cache lines.
    const bool split = lines < 4 * args.threads;
    const int64_t part = split ? kPart : std::max<int64_t>(out_.channels, 1);
    const int64_t parts = (out_.channels + part - 1) / part;
    const int64_t cost = out_.size[2] * part * windows_.largest[0] * windows_.largest[1] * windows_.largest[2];
    const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(cost, 1));
    parallelFor(args.threads, 0, lines * parts, grain, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t channel = unit % parts * part;
        runLine(args, unit / parts, channel, std::min(part, out_.channels - channel));
      }
    });
  }

 private:
  static constexpr int64_t kPart = 64;
  static constexpr int64_t kGrain = 32768;  // additions worth a thread

  void runLine(const RunArgs& args, int64_t index, int64_t channel, int64_t channels) const {
    LineOf<T> line;
    line.in = static_cast<const T*>(args.inputs[0]) + channel;
    line.out = static_cast<T*>(args.outputs[0]) + channel;
    line.area = 1;
    for (size_t i = 2; i-- > 0;) {
      const int64_t at = index % out_.size[i];
      index /= out_.size[i];
      const Span& span = windows_.spans[i][static_cast<size_t>(at)];
      line.count[i] = span.count;
      line.stride[i] = span.step * in_.stride[i];
      line.area *= config_.count_include_pad ? span.padded : span.count;
      line.in += span.first * in_.stride[i];
      line.out += at * out_.stride[i];
    }
    line.in += index * in_.batch_stride;
    line.out += index * out_.batch_stride;
    line.width = in_.size[2];
    line.column_stride = in_.stride[2];
    line.out_stride = out_.stride[2];
    line.spans = windows_.spans[2].data();
    line.pixels = out_.size[2];
    line.channels = channels;
    line.divisor = windows_.divisor;
    if (line.divisor == Divisor::kFixed) {
      line.area = config_.divisor;
    }
    function_(line);
  }

  Config config_;
  convolution::Image in_, out_;
  Windows windows_;
  LineFunction<T> function_;
};

template <typename T>
class ChannelsLastKernel final : public Kernel {
 public:
  // reference: of an adaptive pooling, for what is not over all dims behind the channels: prepare() is told first.
  ChannelsLastKernel(Config config, LineFunction<T> function, std::unique_ptr<Kernel> reference = nullptr)
      : config_(std::move(config)), function_(function), reference_(std::move(reference)) {}
  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    if (config_.is_adaptive && shapes.dimsOf("output_size").size() + 2 != shapes.inputs[0].dims.size()) {
      return reference_->prepare(shapes);
    }
    return std::make_unique<ChannelsLastPooling<T>>(config_, function_, shapes);
  }
  bool acceptsStrides(int, const TensorDesc& desc) const override {
    return desc.strides[1] == 1;
  }

 private:
  Config config_;
  LineFunction<T> function_;
  std::unique_ptr<Kernel> reference_;
};

// Refuses what `refuse` does, and orders other than channels-last.
std::optional<Refusal> refuseChannelsLast(const Problem& problem, size_t spatial, std::initializer_list<DType> dtypes);

}  // namespace torchtrt::kernels::pooling
