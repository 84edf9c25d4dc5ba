// Group and instance normalization of channels-last images, one pass over memory for the statistics: blocks of pixels
// that stay in the cache have sums and squares of their own for each channel, which are put together per group.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "cpu/loops/simple_kernel.h"
#include "cpu/normalization/config.h"
#include "cpu/normalization/moments.h"
#include "cpu/simd/row_reductions.h"
#include "cpu/storage/wide_row.h"
#include "cpu/threads/thread_memory.h"

namespace torchtrt::kernels::normalization {

template <typename T, typename Stored>
class ChannelsLastGroups final : public Prepared {
 public:
  static bool accepts(const Config<T>& config, const ShapeSet& shapes) {
    for (const TensorDesc* desc : {&shapes.inputs[kIn], &shapes.outputs[0]}) {
      if (desc->dims.size() < 3 || !isChannelsLast(*desc)) {
        return false;
      }
    }
    return std::all_of(shapes.inputs.begin() + 1, shapes.inputs.end(), [&](const TensorDesc& parameter) {
      return !config.present[&parameter - shapes.inputs.data()] || isDenseTail(parameter, parameter.dims.size());
    });
  }

  ChannelsLastGroups(const Config<T>& config, const ShapeSet& shapes)
      : config_(config), in_stride_(shapes.inputs[kIn].strides[0]), out_stride_(shapes.outputs[0].strides[0]) {
    const std::vector<int64_t>& dims = shapes.inputs[kIn].dims;
    samples_ = dims[0];
    channels_ = dims[1];
    pixels_ = countOf({dims.begin() + 2, dims.end()});
    groups_ = config.groups == 0 ? channels_ : config.groups;
    if (channels_ * pixels_ == 0) {
      samples_ = 0;
      return;
    }
    pattern_ = channels_ * std::max<int64_t>(1, kPattern / channels_);
    const int64_t patterns = std::max<int64_t>(1, kBlock / pattern_);
    block_pixels_ = patterns * (pattern_ / channels_);
    blocks_ = (pixels_ + block_pixels_ - 1) / block_pixels_;
  }

  // Holds means and squares of the channels for each block of each sample, and for each sample three numbers for each
  // element of a pattern.
  size_t scratchBytes() const override {
    return static_cast<size_t>(samples_ * (2 * blocks_ * channels_ + 3 * pattern_)) * sizeof(T);
  }

  void run(const RunArgs& args) const override {
    if (samples_ == 0) {
      return;
    }
    auto* statistics = static_cast<T*>(args.scratch);
    T* scales = statistics + samples_ * blocks_ * 2 * channels_;
    const int64_t grain = grainFor(block_pixels_ * channels_);
    parallelFor(args.threads, 0, samples_ * blocks_, grain, [&](int64_t begin, int64_t end) {
      BlockReader reader(*this);
      for (int64_t i = begin; i < end; ++i) {
        reader.describe(blockOf(args, i), pixelsOf(i), statistics + i * 2 * channels_);
      }
    });
    parallelFor(args.threads, 0, samples_, grainFor(blocks_ * 2 * channels_), [&](int64_t begin, int64_t end) {
      for (int64_t sample = begin; sample < end; ++sample) {
        combine(args, statistics + sample * blocks_ * 2 * channels_, scales + sample * 3 * pattern_);
      }
    });
    parallelFor(args.threads, 0, samples_ * blocks_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        apply(args, i, scales + i / blocks_ * 3 * pattern_);
      }
    });
  }

 private:
  static constexpr int64_t kPattern = 512;  // elements that a call of a row function is worth
  static constexpr int64_t kBlock = 16384;  // elements, which stay in the first or second level of the cache

  static bool isChannelsLast(const TensorDesc& desc) {
    int64_t stride = desc.dims[1];
    for (size_t i = desc.dims.size(); i-- > 2;) {
      if (desc.dims[i] != 1 && desc.strides[i] != stride) {
        return false;
      }
      stride *= desc.dims[i];
    }
    return desc.dims[1] == 1 || desc.strides[1] == 1;
  }

  // Sums of a block, for which a thread has memory.
  class BlockReader {
   public:
    explicit BlockReader(const ChannelsLastGroups& kernel)
        : kernel_(kernel),
          sums_(takeThreadMemory<T>(static_cast<size_t>(3 * kernel.pattern_))),
          means_(sums_.get() + kernel.pattern_),
          squares_(means_ + kernel.pattern_) {
      if constexpr (kIsWidened) {
        wide_ = takeThreadMemory<T>(static_cast<size_t>(kernel.block_pixels_ * kernel.channels_));
      }
    }

    // The channels' means to `to`, behind them their sums of squares about these.
    void describe(const Stored* block, int64_t pixels, T* to) {
      const RowReductionsOf<T>& functions = rowReductions<T>();
      const int64_t channels = kernel_.channels_;
      const int64_t size = pixels * channels;
      const T* values = read(block, size);
      forPatterns(values, size, [&](const T* row, int64_t count) { functions.add(row, sums_.get(), count); });
      for (int64_t c = 0; c < channels; ++c) {
        to[c] = folded(sums_.get(), c) / static_cast<T>(pixels);
      }
      for (int64_t i = 0; i < kernel_.pattern_; i += channels) {
        std::copy_n(to, channels, means_ + i);
      }
      std::fill_n(squares_, kernel_.pattern_, T(0));
      forPatterns(values, size, [&](const T* row, int64_t count) {
        functions.addDeviations(row, means_, sums_.get(), squares_, count);
      });
      for (int64_t c = 0; c < channels; ++c) {
        const Deviations<T> deviations = {folded(sums_.get(), c), folded(squares_, c)};
        const Spread<T> spread = spreadOf(to[c], deviations, 1.0 / static_cast<double>(pixels));
        to[c] = spread.mean;
        to[channels + c] = static_cast<T>(spread.variance * static_cast<double>(pixels));
      }
    }

   private:
    const T* read(const Stored* block, [[maybe_unused]] int64_t size) {
      if constexpr (kIsWidened) {
        kernel_.config_.halves.widen(block, wide_.get(), size);
        return wide_.get();
      } else {
        return block;
      }
    }

    // add(row, count) for the block cut into patterns, from sums of zero.
    template <typename Add>
    void forPatterns(const T* values, int64_t size, const Add& add) {
      std::fill_n(sums_.get(), kernel_.pattern_, T(0));
      for (int64_t i = 0; i < size; i += kernel_.pattern_) {
        add(values + i, std::min(kernel_.pattern_, size - i));
      }
    }

    // A channel's share of the sums of a pattern.
    T folded(const T* sums, int64_t channel) const {
      T total = 0;
      for (int64_t i = channel; i < kernel_.pattern_; i += kernel_.channels_) {
        total += sums[i];
      }
      return total;
    }

    const ChannelsLastGroups& kernel_;
    ThreadMemory<T> sums_;  // of a pattern; means and squares lie behind them
    T* means_;
    T* squares_;
    ThreadMemory<T> wide_;
  };

  const Stored* blockOf(const RunArgs& args, int64_t index) const {
    return static_cast<const Stored*>(args.inputs[kIn]) + index / blocks_ * in_stride_ +
           index % blocks_ * block_pixels_ * channels_;
  }
  int64_t pixelsOf(int64_t index) const {
    return std::min(block_pixels_, pixels_ - index % blocks_ * block_pixels_);
  }

  // Writes a sample's vectors: the mean of each channel's group, repeated as long as a pattern is, then the factors,
  // then the biases. A factor and one term for both would be faster, but cancels less exactly if a mean is large.
  void combine(const RunArgs& args, const T* statistics, T* means_of_groups) const {
    const int64_t members = channels_ / groups_;
    T* factors = means_of_groups + pattern_;
    T* biases = factors + pattern_;
    for (int64_t group = 0; group < groups_; ++group) {
      const int64_t first = group * members;
      // visit(pixels, mean, squares) for every channel of every block
      const auto forEach = [&](const auto& visit) {
        for (int64_t block = 0; block < blocks_; ++block) {
          const T* means = statistics + block * 2 * channels_;
          for (int64_t c = first; c < first + members; ++c) {
            visit(static_cast<double>(pixelsOf(block)), static_cast<double>(means[c]),
                  static_cast<double>(means[channels_ + c]));
          }
        }
      };
      const auto count = static_cast<double>(members * pixels_);
      double sum = 0;
      forEach([&](double pixels, double mean, double) { sum += pixels * mean; });
      const double mean = sum / count;
      double squares = 0;
      forEach([&](double pixels, double of_block, double square) {
        squares += square + pixels * (of_block - mean) * (of_block - mean);
      });
      const double deviation = std::sqrt(squares / count + config_.eps);
      for (int64_t c = first; c < first + members; ++c) {
        means_of_groups[c] = std::isinf(deviation) ? T(0) : static_cast<T>(mean);
        factors[c] =
            static_cast<T>(static_cast<double>(parameterAt<T, Stored>(config_, args, kScale, c, 1)) / deviation);
        biases[c] = parameterAt<T, Stored>(config_, args, kBias, c, 0);
      }
    }
    for (int64_t i = channels_; i < pattern_; i += channels_) {
      for (T* values : {means_of_groups, factors, biases}) {
        std::copy_n(values, channels_, values + i);
      }
    }
  }

  void apply(const RunArgs& args, int64_t index, const T* means) const {
    const RowReductionsOf<T>& functions = rowReductions<T>();
    const Stored* in = blockOf(args, index);
    Stored* out = static_cast<Stored*>(args.outputs[0]) + index / blocks_ * out_stride_ +
                  index % blocks_ * block_pixels_ * channels_;
    WideRow<T, Stored> wide(config_.halves, pattern_);
    const int64_t size = pixelsOf(index) * channels_;
    for (int64_t i = 0; i < size; i += pattern_) {
      const int64_t count = std::min(pattern_, size - i);
      wide.run(in + i, out + i, count, [&](const T* from, T* to) {
        functions.normalizeEach(from, means, means + pattern_, means + 2 * pattern_, to, count);
        if (config_.activation) {
          config_.activation(to, to, count);
        }
      });
    }
  }

  static constexpr bool kIsWidened = !std::is_same_v<T, Stored>;

  Config<T> config_;
  int64_t in_stride_, out_stride_;
  int64_t samples_ = 0, channels_ = 0, pixels_ = 0, groups_ = 1;
  int64_t pattern_ = 0;       // elements of whole pixels that row functions take at a time
  int64_t block_pixels_ = 0;  // of a block
  int64_t blocks_ = 0;        // of a sample
};

}  // namespace torchtrt::kernels::normalization
