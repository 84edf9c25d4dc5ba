#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "cpu/loops/activation.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/normalization/normalization.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels {
namespace {

enum class Mode : uint8_t { kBatch, kLayer, kGroup, kInstance, kRms };

struct NormalizationConfig {
  Mode mode = Mode::kBatch;
  double eps = 0;
  int64_t normalized_rank = 1, groups = 1;
  std::array<bool, 5> present{};
  ActivationSpec activation;
};

enum Input : size_t { kIn, kScale, kBias, kMean, kVariance };

constexpr int64_t kCost = 8;

// Normalizes with given statistics: every channel (axis 1) has one factor and one term.
class BatchPrepared final : public Prepared {
 public:
  BatchPrepared(const NormalizationConfig& config, const ShapeSet& shapes)
      : config_(config), inputs_(shapes.inputs), dtype_(shapes.outputs.at(0).dtype), loop_(makeLoop(shapes)) {
    TORCHTRT_CHECK(config.present[kMean] && config.present[kVariance], "batch normalization without statistics");
    channels_ = inputs_[kIn].dims.at(1);
  }

  size_t scratchBytes() const override {
    return 2 * static_cast<size_t>(channels_) * sizeof(double);
  }

  void run(const RunArgs& args) const override {
    auto* factors = static_cast<double*>(args.scratch);
    double* terms = factors + channels_;
    for (int64_t channel = 0; channel < channels_; ++channel) {
      const double deviation = std::sqrt(channelValue(args, kVariance, channel, 0) + config_.eps);
      factors[channel] = channelValue(args, kScale, channel, 1) / deviation;
      terms[channel] = channelValue(args, kBias, channel, 0) - channelValue(args, kMean, channel, 0) * factors[channel];
    }
    visitComputeType(dtype_, [&](auto type) {
      if constexpr (std::is_floating_point_v<typename decltype(type)::type>) {
        runAs<typename decltype(type)::type>(args, factors, terms);
      }
    });
  }

 private:
  // Output, input, and the number of the channel as if it were a tensor's offset.
  static StridedLoop makeLoop(const ShapeSet& shapes) {
    const TensorDesc& out = shapes.outputs[0];
    std::vector<int64_t> channel(out.dims.size(), 0);
    channel.at(1) = 1;
    return {out.dims, {out.strides, shapes.inputs.at(kIn).strides, channel}};
  }

  double channelValue(const RunArgs& args, Input input, int64_t channel, double fallback) const {
    if (!config_.present[input]) {
      return fallback;
    }
    return Reader<double>(inputs_[input].dtype).one(args.inputs[input], channel * inputs_[input].strides.at(0));
  }

  template <typename T>
  void runAs(const RunArgs& args, const double* factors, const double* terms) const {
    const Reader<T> reader(inputs_[kIn].dtype);
    const Writer<T> writer(dtype_);
    const Activation<T> activation(config_.activation, dtype_);
    parallelFor(args.threads, 0, loop_.count(), grainFor(kCost), [&](int64_t begin, int64_t end) {
      alignas(64) std::array<T, kRun> values;
      loop_.run(begin, end, kRun, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        reader.read(args.inputs[kIn], offsets[1], steps[1], n, values.data());
        for (int64_t i = 0; i < n; ++i) {
          const int64_t channel = offsets[2] + i * steps[2];
          T& value = values[static_cast<size_t>(i)];
          value = static_cast<T>(static_cast<double>(value) * factors[channel] + terms[channel]);
        }
        activation.apply(values.data(), n);
        writer.write(values.data(), n, args.outputs[0], offsets[0], steps[0]);
      });
    });
  }

  NormalizationConfig config_;
  std::vector<TensorDesc> inputs_;
  DType dtype_;
  StridedLoop loop_;
  int64_t channels_ = 0;
};

// A tensor's strides over the axes that number the rows, and over those inside a row. A row has statistics of its own.
struct Strides {
  std::vector<int64_t> rows, inside;
};

struct Split {
  std::vector<int64_t> row_dims, inside_dims;
  Strides out, in, scale, bias;
};

using Difference = std::vector<int64_t>::difference_type;

Strides cut(const std::vector<int64_t>& values, size_t at) {
  const auto middle = values.begin() + static_cast<Difference>(at);
  return {{values.begin(), middle}, {middle, values.end()}};
}

// Layer and rms: the last dimensions are a row; scale and bias have its shape.
Split splitLast(const NormalizationConfig& config, const ShapeSet& shapes) {
  const TensorDesc& out = shapes.outputs.at(0);
  const size_t at = out.dims.size() - static_cast<size_t>(config.normalized_rank);
  const Strides dims = cut(out.dims, at);
  const auto parameter = [&](Input input) {
    const bool present = config.present[input];
    return Strides{std::vector<int64_t>(at, 0), present ? broadcastStrides(shapes.inputs[input], dims.inside)
                                                        : std::vector<int64_t>(dims.inside.size(), 0)};
  };
  return {dims.rows,         dims.inside,     cut(out.strides, at), cut(shapes.inputs.at(kIn).strides, at),
          parameter(kScale), parameter(kBias)};
}

// Group and instance: the channels are cut into groups; a row is a sample's group with all its spatial positions.
Split splitChannels(const NormalizationConfig& config, const ShapeSet& shapes) {
  const TensorDesc& out = shapes.outputs.at(0);
  const int64_t channels = out.dims.at(1);
  const int64_t groups = config.mode == Mode::kInstance ? channels : config.groups;
  const int64_t group_size = groups == 0 ? 0 : channels / groups;
  const auto cutChannels = [&](const std::vector<int64_t>& strides) {
    Strides result{{strides[0], strides[1] * group_size}, {strides[1]}};
    result.inside.insert(result.inside.end(), strides.begin() + 2, strides.end());
    return result;
  };
  const auto parameter = [&](Input input) {
    std::vector<int64_t> strides(out.dims.size(), 0);
    strides[1] = config.present[input] ? shapes.inputs[input].strides.at(0) : 0;
    return cutChannels(strides);
  };
  std::vector<int64_t> inside = {group_size};
  inside.insert(inside.end(), out.dims.begin() + 2, out.dims.end());
  return {{out.dims[0], groups}, inside,          cutChannels(out.strides), cutChannels(shapes.inputs.at(kIn).strides),
          parameter(kScale),     parameter(kBias)};
}

class RowsPrepared final : public Prepared {
 public:
  RowsPrepared(const NormalizationConfig& config, const ShapeSet& shapes)
      : config_(config),
        inputs_(shapes.inputs),
        dtype_(shapes.outputs.at(0).dtype),
        split_(config.mode == Mode::kLayer || config.mode == Mode::kRms ? splitLast(config, shapes)
                                                                        : splitChannels(config, shapes)),
        inside_(split_.inside_dims, {split_.out.inside, split_.in.inside, split_.scale.inside, split_.bias.inside}) {}

  void run(const RunArgs& args) const override {
    if (inside_.count() == 0) {
      return;
    }
    parallelFor(args.threads, 0, countOf(split_.row_dims), grainFor(kCost * inside_.count()),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) {
                    if (dtype_ == DType::kFloat64) {
                      runRow<double>(args, row);
                    } else {
                      runRow<float>(args, row);
                    }
                  }
                });
  }

 private:
  struct Statistics {
    double mean, factor;
  };

  // sum of function(value) over a row that starts at `base`.
  template <typename T, typename Function>
  double sumOver(const RunArgs& args, int64_t base, Function&& function) const {
    const Reader<T> reader(inputs_[kIn].dtype);
    alignas(64) std::array<T, kRun> buffer;
    double sum = 0;
    inside_.run(0, inside_.count(), kRun, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
      const T* values = reader.view(args.inputs[kIn], base + offsets[1], steps[1], n, buffer.data());
      for (int64_t i = 0; i < n; ++i) {
        sum += function(static_cast<double>(values[i]));
      }
    });
    return sum;
  }

  template <typename T>
  Statistics statistics(const RunArgs& args, int64_t base) const {
    const auto count = static_cast<double>(inside_.count());
    double mean = config_.mode == Mode::kRms ? 0 : sumOver<T>(args, base, [](double value) { return value; }) / count;
    if (!std::isfinite(mean)) {  // the sum may be infinite where values are not
      mean = sumOver<T>(args, base, [count](double value) { return value / count; });
    }
    const double variance =
        sumOver<T>(args, base, [mean](double value) { return (value - mean) * (value - mean); }) / count;
    return {std::isinf(variance) ? 0 : mean, 1 / std::sqrt(variance + config_.eps)};
  }

  template <typename T>
  void runRow(const RunArgs& args, int64_t row) const {
    const auto start = [&](const Strides& strides) {
      return offsetAt(row, split_.row_dims, strides.rows, split_.row_dims.size());
    };
    const int64_t out = start(split_.out), in = start(split_.in), scale = start(split_.scale),
                  bias = start(split_.bias);
    const Statistics row_statistics = statistics<T>(args, in);
    const Reader<T> reader(inputs_[kIn].dtype);
    const Writer<T> writer(dtype_);
    const Activation<T> activation(config_.activation, dtype_);
    alignas(64) std::array<T, kRun> values, scales, biases;
    scales.fill(1);
    biases.fill(0);
    inside_.run(0, inside_.count(), kRun, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
      reader.read(args.inputs[kIn], in + offsets[1], steps[1], n, values.data());
      if (config_.present[kScale]) {
        Reader<T>(inputs_[kScale].dtype).read(args.inputs[kScale], scale + offsets[2], steps[2], n, scales.data());
      }
      if (config_.present[kBias]) {
        Reader<T>(inputs_[kBias].dtype).read(args.inputs[kBias], bias + offsets[3], steps[3], n, biases.data());
      }
      for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
        const double normalized = (static_cast<double>(values[i]) - row_statistics.mean) * row_statistics.factor;
        values[i] = static_cast<T>(normalized * static_cast<double>(scales[i]) + static_cast<double>(biases[i]));
      }
      activation.apply(values.data(), n);
      writer.write(values.data(), n, args.outputs[0], out + offsets[0], steps[0]);
    });
  }

  NormalizationConfig config_;
  std::vector<TensorDesc> inputs_;
  DType dtype_;
  Split split_;
  StridedLoop inside_;  // output, input, scale, bias
};

Mode parseMode(const std::string& text) {
  static constexpr const char* kNames[] = {"batch", "layer", "group", "instance", "rms"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), text);
  TORCHTRT_CHECK(found != std::end(kNames), "normalization has no mode \"" << text << "\"");
  return static_cast<Mode>(found - std::begin(kNames));
}

}  // namespace

CreateResult createNormalizationReference(const Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  NormalizationConfig config;
  config.mode = parseMode(attributes.getString("mode"));
  config.eps = attributes.getDouble("eps");
  config.normalized_rank = attributes.getInt("normalized_rank", 1);
  config.groups = attributes.getInt("groups", 1);
  config.activation = fusedActivation(attributes);
  for (size_t i = 0; i < problem.inputs.size() && i < config.present.size(); ++i) {
    config.present[i] = problem.inputs[i].present;
  }
  const DType dtype = problem.outputs.at(0).dtype;
  if (!isFloating(dtype) || !isActivationDefined(config.activation, dtype)) {
    return Refusal{"dtype", std::string("normalization is not defined for ") + toString(dtype)};
  }
  if (config.mode == Mode::kBatch) {
    return makeKernel<BatchPrepared>(std::move(config));
  }
  return makeKernel<RowsPrepared>(std::move(config));
}

}  // namespace torchtrt::kernels
