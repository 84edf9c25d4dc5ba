#include <cmath>

#include "cpu/fourier/plugins.h"
#include "cpu/fourier/transform.h"
#include "cpu/plugin/built_in.h"

namespace torchtrt::kernels::fourier {
namespace {

using plugin::InputView;
using plugin::OutputView;

[[noreturn]] void fail(const char* who, const std::string& problem) {
  throw EngineError(ErrorCode::kPlugin, std::string(who) + ": " + problem);
}

int64_t between(const Attributes& fields, const char* who, const char* name, int64_t least, int64_t most) {
  const int64_t value = fields.getInt(name);
  if (value < least || value > most) {
    fail(who, std::string("expected ") + name + " from " + std::to_string(least) + " to " + std::to_string(most) +
                  ", got " + std::to_string(value));
  }
  return value;
}

bool mayBe(const Dim& dim, int64_t size) {
  return !dim.isConstant() || dim.constant() == size;
}

class ShortTimeFourier final : public plugin::Plugin {
 public:
  static constexpr const char* kType = "ShortTimeFourier";
  static constexpr const char* kFields[] = {"length", "hop", "one_sided", "scale"};

  explicit ShortTimeFourier(const Attributes& fields)
      : hop_(between(fields, kType, "hop", 1, kMostLength)),
        one_sided_(fields.getBool("one_sided")),
        scale_(fields.getDouble("scale")),
        transform_(one_sided_ ? Form::kRealToHalf : Form::kRealToFull,
                   between(fields, kType, "length", 1, kMostLength)) {}

  int outputCount() const override {
    return 2;
  }

  bool supports(std::span<const DType> inputs) const override {
    return inputs.size() == 2 && areFloating(inputs);
  }

  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    if (inputs.size() != 2 || inputs[0].dims.rank() != 2 || inputs[1].dims.rank() != 1 ||
        !mayBe(inputs[1].dims[0], transform_.length())) {
      fail(kType, "expected a signal [rows, samples] and a window of " + std::to_string(transform_.length()));
    }
    const Dim& samples = inputs[0].dims[1];
    if (samples.isConstant() && samples.constant() < transform_.length()) {
      fail(kType, "expected at least " + std::to_string(transform_.length()) + " samples, got " + samples.toString());
    }
    const Dim frames = Dim::floorDiv(samples - Dim(transform_.length()), Dim(hop_)) + Dim(1);
    const Dims dims({inputs[0].dims[0], Dim(one_sided_ ? transform_.sums() : transform_.length()), frames});
    return {{inputs[0].dtype, dims}, {inputs[0].dtype, dims}};
  }

  size_t scratchBytes(std::span<const InputView> inputs) const override {
    return denseBytes(inputs);
  }

  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void* scratch,
               int threads) const override {
    visitFloating(inputs[0].dtype, [&](auto type) {
      using T = decltype(type);
      auto* free = static_cast<std::byte*>(scratch);
      const std::vector<const T*> operands = denseOperands<T>(inputs, free, threads);
      const int64_t rows = outputs[0].dims[0], sums = outputs[0].dims[1], frames = outputs[0].dims[2];
      Task<T> task = transform_.task<T>(scale_);
      task.window = operands[1];
      task.in_re = operands[0];
      task.in = {frames, inputs[0].dims[1], hop_, 1, transform_.length()};
      task.out_re = static_cast<T*>(outputs[0].data);
      task.out_im = static_cast<T*>(outputs[1].data);
      task.out = {frames, sums * frames, 1, frames, sums};
      runAll(task, rows * frames, threads);
    });
  }

 private:
  int64_t hop_;
  bool one_sided_;
  double scale_;
  Transform transform_;
};

class InverseShortTimeFourier final : public plugin::Plugin {
 public:
  static constexpr const char* kType = "InverseShortTimeFourier";
  static constexpr const char* kFields[] = {"length", "hop", "scale", "trim", "samples"};

  explicit InverseShortTimeFourier(const Attributes& fields)
      : hop_(between(fields, kType, "hop", 1, kMostLength)),
        scale_(fields.getDouble("scale")),
        trim_(between(fields, kType, "trim", 0, kMostLength)),
        samples_(between(fields, kType, "samples", -1, int64_t{1} << 40)),
        transform_(Form::kHalfToReal, between(fields, kType, "length", hop_, kMostLength)) {}

  bool supports(std::span<const DType> inputs) const override {
    return inputs.size() == 3 && areFloating(inputs);
  }

  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    if (inputs.size() != 3 || inputs[0].dims.rank() != 3 || inputs[1].dims.rank() != 3 || inputs[2].dims.rank() != 1 ||
        !mayBe(inputs[2].dims[0], transform_.length())) {
      fail(kType, "expected parts [rows, sums, frames] and a window of " + std::to_string(transform_.length()));
    }
    for (int axis = 0; axis < 3; ++axis) {
      const Dim& dim = inputs[0].dims[axis];
      if (dim.isConstant() && !mayBe(inputs[1].dims[axis], dim.constant())) {
        fail(kType,
             "expected parts of one shape, got " + inputs[0].dims.toString() + " and " + inputs[1].dims.toString());
      }
    }
    const Dim& frames = inputs[0].dims[2];
    const Dim left = Dim(transform_.length()) + Dim(hop_) * (frames - Dim(1)) - Dim(2 * trim_);
    if (samples_ < 0 && left.isConstant() && left.constant() < 0) {
      fail(kType, "expected enough frames for the samples that are left out, got " + frames.toString());
    }
    return {{inputs[0].dtype, Dims({inputs[0].dims[0], samples_ < 0 ? left : Dim(samples_)})}};
  }

  // Frames, and the sums of squared windows.
  size_t scratchBytes(std::span<const InputView> inputs) const override {
    const size_t size = inputs[0].dtype == DType::kFloat64 ? sizeof(double) : sizeof(float);
    return denseBytes(inputs) + static_cast<size_t>((inputs[0].dims[0] + 1) * inputs[0].dims[2] * transform_.length() +
                                                    transform_.length()) *
                                    size;
  }

  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void* scratch,
               int threads) const override {
    visitFloating(inputs[0].dtype, [&](auto type) {
      using T = decltype(type);
      auto* free = static_cast<std::byte*>(scratch);
      const std::vector<const T*> operands = denseOperands<T>(inputs, free, threads);
      const int64_t rows = inputs[0].dims[0], sums = inputs[0].dims[1], frames = inputs[0].dims[2];
      const int64_t length = transform_.length();
      T* const pieces = reinterpret_cast<T*>(free);
      Task<T> task = transform_.task<T>(scale_);
      task.window = operands[2];
      task.in_re = operands[0];
      task.in_im = operands[1];
      task.in = {frames, sums * frames, 1, frames, sums};
      task.out_re = pieces;
      task.out = {std::max<int64_t>(1, rows * frames), 0, length, 1, length};
      runAll(task, rows * frames, threads);
      T* const divisors = pieces + rows * frames * length;
      const int64_t samples = outputs[0].dims[1];
      const int64_t there = std::min(samples, std::max<int64_t>(0, length + hop_ * (frames - 1) - trim_));
      addSquares(operands[2], frames, there, divisors);
      addUp(pieces, divisors, rows, frames, there, samples, static_cast<T*>(outputs[0].data), threads);
    });
  }

 private:
  // Calls visit(first sample of the result, first number of the frame, how many) for what the result has of the frame.
  template <typename Visit>
  void ofFrame(int64_t frame, int64_t samples, Visit visit) const {
    const int64_t begin = std::max<int64_t>(0, frame * hop_ - trim_);
    const int64_t skipped = begin - (frame * hop_ - trim_);
    const int64_t count = std::min(transform_.length() - skipped, samples - begin);
    if (count > 0) {
      visit(begin, skipped, count);
    }
  }

  template <typename T>
  void addSquares(const T* window, int64_t frames, int64_t samples, T* divisors) const {
    std::fill_n(divisors, samples, T(0));
    for (int64_t frame = 0; frame < frames; ++frame) {
      ofFrame(frame, samples, [&](int64_t begin, int64_t skipped, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          divisors[begin + i] += window[skipped + i] * window[skipped + i];
        }
      });
    }
    if (std::any_of(divisors, divisors + samples, [](T divisor) { return divisor < T(1e-11); })) {
      fail(kType, "the squares of the windows add up to nothing somewhere, and nothing can be divided by that");
    }
  }

  template <typename T>
  void addUp(const T* pieces, const T* divisors, int64_t rows, int64_t frames, int64_t there, int64_t samples, T* out,
             int threads) const {
    const int64_t length = transform_.length();
    parallelFor(threads, 0, rows, 1, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        T* const sum = out + row * samples;
        std::fill_n(sum, samples, T(0));
        for (int64_t frame = 0; frame < frames; ++frame) {
          const T* const piece = pieces + (row * frames + frame) * length;
          ofFrame(frame, there, [&](int64_t begin, int64_t skipped, int64_t count) {
            for (int64_t i = 0; i < count; ++i) {
              sum[begin + i] += piece[skipped + i];
            }
          });
        }
        for (int64_t i = 0; i < there; ++i) {
          sum[i] /= divisors[i];
        }
      }
    });
  }

  int64_t hop_;
  double scale_;
  int64_t trim_, samples_;
  Transform transform_;
};

}  // namespace

std::shared_ptr<const plugin::PluginCreator> createShortTimeFourierCreator() {
  return std::make_shared<BuiltInCreator<ShortTimeFourier>>();
}

std::shared_ptr<const plugin::PluginCreator> createInverseShortTimeFourierCreator() {
  return std::make_shared<BuiltInCreator<InverseShortTimeFourier>>();
}

}  // namespace torchtrt::kernels::fourier
