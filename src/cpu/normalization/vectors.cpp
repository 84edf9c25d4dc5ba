// Normalization in float32 or float64, the former of 16-bit numbers, too, where what is normalized together lies next
// to each other.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "cpu/loops/fallback.h"
#include "cpu/loops/loop_nest.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/normalization/channels_last_groups.h"
#include "cpu/normalization/fast.h"
#include "cpu/normalization/moments.h"
#include "cpu/normalization/normalization.h"
#include "cpu/simd/activation_rows.h"
#include "cpu/simd/row_reductions.h"
#include "cpu/storage/wide_row.h"
#include "kernels/fusion.h"

namespace torchtrt::kernels::normalization {
namespace {

// Layer and rms: every row has statistics of its own.
template <typename T, typename Stored>
class NormalizedRows final : public Prepared, public RunsPieces {
 public:
  static bool accepts(const Config<T>& config, const ShapeSet& shapes) {
    const size_t rank = config.normalized_rank;
    for (const TensorDesc* desc : {&shapes.inputs[kIn], &shapes.outputs[0]}) {
      if (!isDenseTail(*desc, rank)) {
        return false;
      }
    }
    const std::vector<int64_t>& dims = shapes.inputs[kIn].dims;
    for (const Input input : {kScale, kBias}) {
      if (config.present[input]) {
        const TensorDesc& parameter = shapes.inputs[input];
        if (!isDenseTail(parameter, parameter.dims.size()) ||
            !std::equal(parameter.dims.rbegin(), parameter.dims.rend(), dims.rbegin()) ||
            parameter.dims.size() != rank) {
          return false;
        }
      }
    }
    return true;
  }

  NormalizedRows(const Config<T>& config, const ShapeSet& shapes)
      : config_(config),
        rows_(head(shapes.inputs[kIn].dims), {head(shapes.outputs[0].strides), head(shapes.inputs[kIn].strides)}),
        is_dense_(lieDenseAlike(shapes.inputs[kIn].dims, shapes.inputs[kIn].strides, shapes.outputs[0].strides)) {
    const std::vector<int64_t>& dims = shapes.inputs[kIn].dims;
    size_ = countOf({dims.end() - static_cast<ptrdiff_t>(config.normalized_rank), dims.end()});
  }

  void run(const RunArgs& args) const override {
    if (size_ == 0) {
      return;
    }
    const auto* in = static_cast<const Stored*>(args.inputs[kIn]);
    auto* out = static_cast<Stored*>(args.outputs[0]);
    const T* scales = parameter(args, kScale, 0);
    const T* biases = parameter(args, kBias, 1);
    parallelFor(args.threads, 0, rows_.count(), grainFor(size_), [&](int64_t begin, int64_t end) {
      WideRow<T, Stored> row(config_.halves, size_);
      rows_.run(begin, end, rows_.count(), [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          row.run(in + offsets[1] + i * steps[1], out + offsets[0] + i * steps[0], size_,
                  [&](const T* from, T* to) { runRow(from, scales, biases, to); });
        }
      });
    });
  }

  size_t scratchBytes() const override {
    return kIsWidened ? 2 * static_cast<size_t>(size_) * sizeof(T) : 0;
  }

  void runPiece(const RunArgs& args, int64_t begin, int64_t end) const override {
    const T* scales = parameter(args, kScale, 0);
    const T* biases = parameter(args, kBias, 1);
    WideRow<T, Stored> row(config_.halves, size_);
    for (int64_t i = begin; i < end; i += size_) {
      row.run(static_cast<const Stored*>(args.inputs[kIn]) + i, static_cast<Stored*>(args.outputs[0]) + i, size_,
              [&](const T* from, T* to) { runRow(from, scales, biases, to); });
    }
  }
  bool hasDenseOutput() const override {  // widened parameters lie in scratch memory, which pieces would share
    return is_dense_ && size_ != 0 && !kIsWidened;
  }
  int64_t rowLength() const override {
    return size_;
  }

 private:
  std::vector<int64_t> head(const std::vector<int64_t>& values) const {
    return {values.begin(), values.end() - static_cast<ptrdiff_t>(config_.normalized_rank)};
  }

  void runRow(const T* in, const T* scales, const T* biases, T* out) const {
    const RowReductionsOf<T>& functions = rowReductions<T>();
    const auto [mean, factor] = momentsOf(in, size_, config_.eps, !config_.is_rms);
    functions.normalize(in, mean, factor, scales, biases, out, size_);
    if (config_.activation) {
      config_.activation(out, out, size_);
    }
  }

  static constexpr bool kIsWidened = !std::is_same_v<T, Stored>;

  // Null where there is none. Widened ones lie in the scratch memory, one after the other.
  const T* parameter(const RunArgs& args, Input input, [[maybe_unused]] int64_t place) const {
    if (!config_.present[input]) {
      return nullptr;
    }
    if constexpr (kIsWidened) {
      T* wide = static_cast<T*>(args.scratch) + place * size_;
      config_.halves.widen(args.inputs[input], wide, size_);
      return wide;
    } else {
      return static_cast<const T*>(args.inputs[input]);
    }
  }

  Config<T> config_;
  StridedLoop rows_;
  bool is_dense_;
  int64_t size_ = 0;
};

// Writes batch normalization's factor and term for every channel.
template <typename T, typename Stored>
void fillLines(const Config<T>& config, const RunArgs& args, int64_t channels, T* factors, T* terms) {
  for (int64_t c = 0; c < channels; ++c) {
    const auto value = [&](Input input, T missing) {
      return static_cast<double>(parameterAt<T, Stored>(config, args, input, c, missing));
    };
    const double factor = value(kScale, 1) / std::sqrt(value(kVariance, 0) + config.eps);
    factors[c] = static_cast<T>(factor);
    terms[c] = static_cast<T>(value(kBias, 0) - value(kMean, 0) * factor);
  }
}

// Those of constants, or null.
template <typename T, typename Stored>
std::shared_ptr<const std::vector<T>> constantLines(const Config<T>& config, const Problem& problem) {
  if (!config.present[kMean]) {
    return nullptr;  // the reference says so
  }
  const std::vector<int64_t>& dims = problem.inputs[kMean].dims;
  const void* parameters[5] = {};
  for (const Input input : {kScale, kBias, kMean, kVariance}) {
    if (config.present[input]) {
      const Operand& operand = problem.inputs[input];
      if (operand.constant == nullptr || operand.dims != dims) {
        return nullptr;
      }
      parameters[input] = operand.constant;
    }
  }
  const int64_t channels = countOf(dims);
  auto lines = std::make_shared<std::vector<T>>(static_cast<size_t>(2 * channels));
  fillLines<T, Stored>(config, {parameters, nullptr, nullptr, 1}, channels, lines->data(), lines->data() + channels);
  return lines;
}

// Batch: every channel has one factor and one term.
template <typename T, typename Stored>
class NormalizedChannels final : public Prepared, public RunsPieces {
 public:
  static bool accepts(const Config<T>& config, const ShapeSet& shapes) {
    for (const Input input : {kScale, kBias, kMean, kVariance}) {
      if (config.present[input] && !isDenseTail(shapes.inputs[input], shapes.inputs[input].dims.size())) {
        return false;
      }
    }
    const LoopNest::Strides steps = nestOf(shapes).steps();
    return steps[0] == 1 && steps[1] == 1 && (steps[2] == 0 || steps[2] == 1);
  }

  NormalizedChannels(const Config<T>& config, const ShapeSet& shapes)
      : config_(config), nest_(nestOf(shapes)), channels_(shapes.inputs[kIn].dims[1]) {}

  size_t scratchBytes() const override {
    return hasLines() ? 0 : 2 * static_cast<size_t>(channels_) * sizeof(T);
  }

  void run(const RunArgs& args) const override {
    const T* lines = hasLines() ? config_.channel_lines->data() : static_cast<const T*>(args.scratch);
    if (!hasLines()) {
      T* computed = static_cast<T*>(args.scratch);
      fillLines<T, Stored>(config_, args, channels_, computed, computed + channels_);
    }
    nest_.run(args.threads, kBlock, kGrain, [&](const LoopNest::Block& block) { runBlock(args, lines, block); });
  }

  void runPiece(const RunArgs& args, int64_t begin, int64_t end) const override {
    const T* lines = config_.channel_lines->data();
    nest_.runPiece(begin, end, kBlock, [&](const LoopNest::Block& block) { runBlock(args, lines, block); });
  }
  bool hasDenseOutput() const override {  // pieces of computed lines would compute them each time
    return hasLines() && nest_.isDense();
  }

 private:
  static constexpr int64_t kBlock = 4096;
  static constexpr int64_t kGrain = 16384;

  // Output, input, and the number of the channel as if it were a tensor's offset.
  static LoopNest nestOf(const ShapeSet& shapes) {
    std::vector<int64_t> channel(shapes.outputs[0].dims.size(), 0);
    channel[1] = 1;
    return {shapes.outputs[0].dims, {shapes.outputs[0].strides, shapes.inputs[kIn].strides, channel}};
  }

  bool hasLines() const {
    return config_.channel_lines != nullptr && config_.channel_lines->size() == static_cast<size_t>(2 * channels_);
  }

  void runBlock(const RunArgs& args, const T* factors, const LoopNest::Block& block) const {
    const RowReductionsOf<T>& functions = rowReductions<T>();
    const T* terms = factors + channels_;
    const Stored* in = static_cast<const Stored*>(args.inputs[kIn]) + block.offsets[1];
    Stored* out = static_cast<Stored*>(args.outputs[0]) + block.offsets[0];
    int64_t channel = block.offsets[2];
    WideRow<T, Stored> wide(config_.halves, block.length);
    for (int64_t row = 0; row < block.rows; ++row) {
      wide.run(in, out, block.length, [&](const T* from, T* to) {
        if (block.steps[2] == 1) {
          functions.scaleEach(from, factors + channel, terms + channel, to, block.length);
        } else {
          functions.scale(from, factors[channel], terms[channel], to, block.length);
        }
        if (config_.activation) {
          config_.activation(to, to, block.length);
        }
      });
      in += block.row_strides[1];
      out += block.row_strides[0];
      channel += block.row_strides[2];
    }
  }

  Config<T> config_;
  LoopNest nest_;
  int64_t channels_;
};

// Group and instance: the channels of a group and their positions lie next to each other.
template <typename T, typename Stored>
class NormalizedGroups final : public Prepared {
 public:
  static bool accepts(const Config<T>& config, const ShapeSet& shapes) {
    for (const TensorDesc* desc : {&shapes.inputs[kIn], &shapes.outputs[0]}) {
      if (!isDenseTail(*desc, desc->dims.size() - 1)) {
        return false;
      }
    }
    return std::all_of(shapes.inputs.begin() + 1, shapes.inputs.end(), [&](const TensorDesc& parameter) {
      return !config.present[&parameter - shapes.inputs.data()] || isDenseTail(parameter, parameter.dims.size());
    });
  }

  NormalizedGroups(const Config<T>& config, const ShapeSet& shapes)
      : config_(config), in_stride_(shapes.inputs[kIn].strides[0]), out_stride_(shapes.outputs[0].strides[0]) {
    const std::vector<int64_t>& dims = shapes.inputs[kIn].dims;
    samples_ = dims[0];
    channels_ = dims[1];
    positions_ = countOf({dims.begin() + 2, dims.end()});
    groups_ = config.groups == 0 ? channels_ : config.groups;
  }

  void run(const RunArgs& args) const override {
    const int64_t members = groups_ == 0 ? 0 : channels_ / groups_;
    const int64_t size = members * positions_;
    if (size == 0) {
      return;
    }
    parallelFor(args.threads, 0, samples_ * groups_, grainFor(size), [&](int64_t begin, int64_t end) {
      WideRow<T, Stored> group(config_.halves, size);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t sample = i / groups_, channel = i % groups_ * members;
        const Stored* in = static_cast<const Stored*>(args.inputs[kIn]) + sample * in_stride_ + channel * positions_;
        Stored* out = static_cast<Stored*>(args.outputs[0]) + sample * out_stride_ + channel * positions_;
        group.run(in, out, size, [&](const T* from, T* to) { runGroup(args, from, to, channel, members); });
      }
    });
  }

 private:
  void runGroup(const RunArgs& args, const T* in, T* out, int64_t channel, int64_t members) const {
    const RowReductionsOf<T>& functions = rowReductions<T>();
    const int64_t size = members * positions_;
    const auto [mean, factor] = momentsOf(in, size, config_.eps, true);
    functions.normalize(in, mean, factor, nullptr, nullptr, out, size);
    for (int64_t c = 0; c < members; ++c) {
      T* row = out + c * positions_;
      if (config_.present[kScale] || config_.present[kBias]) {
        functions.scale(row, parameterAt<T, Stored>(config_, args, kScale, channel + c, 1),
                        parameterAt<T, Stored>(config_, args, kBias, channel + c, 0), row, positions_);
      }
    }
    if (config_.activation) {
      config_.activation(out, out, size);
    }
  }

  Config<T> config_;
  int64_t in_stride_, out_stride_;
  int64_t samples_ = 0, channels_ = 0, positions_ = 0, groups_ = 1;
};

template <typename T, typename Stored>
CreateResult create(const Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  const std::string& mode = attributes.getString("mode");
  Config<T> config;
  config.is_rms = mode == "rms";
  config.eps = attributes.getDouble("eps");
  config.normalized_rank = static_cast<size_t>(attributes.getInt("normalized_rank", 1));
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    config.present[i] = problem.inputs[i].present;
  }
  config.activation =
      activationRows<T>(attributes.getString("activation", ""), attributes.getDouble("activation_alpha", 0),
                        attributes.getDouble("activation_beta", 0));
  if constexpr (!std::is_same_v<T, Stored>) {
    config.halves = halfRows(problem.outputs[0].dtype);
  }
  if (mode == "batch") {
    config.channel_lines = constantLines<T, Stored>(config, problem);
    return makeKernelWithFallback<NormalizedChannels<T, Stored>>(config, createNormalizationReference(problem));
  }
  if (mode == "layer" || mode == "rms") {
    return makeKernelWithFallback<NormalizedRows<T, Stored>>(config, createNormalizationReference(problem));
  }
  config.groups = mode == "instance" ? 0 : attributes.getInt("groups", 1);
  return makeKernelWithFallback<Config<T>>(
      config,
      [](const Config<T>& given, const ShapeSet& shapes) -> std::unique_ptr<Prepared> {
        using RowMajor = NormalizedGroups<T, Stored>;
        using ChannelsLast = ChannelsLastGroups<T, Stored>;
        if (RowMajor::accepts(given, shapes)) {
          return std::make_unique<RowMajor>(given, shapes);
        }
        return ChannelsLast::accepts(given, shapes) ? std::make_unique<ChannelsLast>(given, shapes) : nullptr;
      },
      createNormalizationReference(problem));
}

}  // namespace

CreateResult createVectors(const Problem& problem) {
  return createStored(problem,
                      [&](auto type, auto stored) { return create<decltype(type), decltype(stored)>(problem); });
}

}  // namespace torchtrt::kernels::normalization
