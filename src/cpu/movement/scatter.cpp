#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "base/check.h"
#include "cpu/loops/loop_nest.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/movement/checked_index.h"
#include "cpu/movement/movement.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels {
namespace {

enum class Fold : uint8_t { kNone, kSum, kProd, kMax, kMin };

struct ScatterConfig {
  bool by_element = false;
  size_t axis = 0;
  Fold fold = Fold::kNone;
  bool include_self = true;
  bool negative = true;
};

// The lines along the axis, which never meet in the output.
StridedLoop linesOf(const ScatterConfig& config, const ShapeSet& shapes) {
  const TensorDesc& updates = shapes.inputs.at(2);
  const std::vector<int64_t> dims = withoutAxis(updates.dims, config.axis);
  const std::vector<int64_t> index_strides =
      config.by_element ? withoutAxis(shapes.inputs.at(1).strides, config.axis) : std::vector<int64_t>(dims.size(), 0);
  return {dims,
          {withoutAxis(shapes.outputs.at(0).strides, config.axis), index_strides,
           withoutAxis(updates.strides, config.axis)}};
}

template <typename T>
T neutral(Fold fold) {
  switch (fold) {
    case Fold::kProd:
      return T(1);
    case Fold::kMax:
      return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                  : std::numeric_limits<T>::lowest();
    case Fold::kMin:
      return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
    default:
      return T(0);
  }
}

// NaN wins in max and min; integers wrap.
template <typename T>
T folded(Fold fold, T a, T b) {
  switch (fold) {
    case Fold::kSum:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      } else {
        return a + b;
      }
    case Fold::kProd:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      } else {
        return a * b;
      }
    case Fold::kMax:
      return a != a || a > b ? a : b;
    case Fold::kMin:
      return a != a || a < b ? a : b;
    case Fold::kNone:
      break;
  }
  return b;
}

// visitor(constant) with the rule as a compile-time constant, so that loops do not ask for it.
template <typename Visitor>
void visitFold(Fold fold, Visitor&& visitor) {
  switch (fold) {
    case Fold::kSum:
      return visitor(std::integral_constant<Fold, Fold::kSum>());
    case Fold::kProd:
      return visitor(std::integral_constant<Fold, Fold::kProd>());
    case Fold::kMax:
      return visitor(std::integral_constant<Fold, Fold::kMax>());
    case Fold::kMin:
      return visitor(std::integral_constant<Fold, Fold::kMin>());
    case Fold::kNone:
      return visitor(std::integral_constant<Fold, Fold::kNone>());
  }
}

// The lowest and highest number of a dtype, which the compute type of small integers goes beyond.
int64_t clampToStorage(DType dtype, int64_t value) {
  const int bits = static_cast<int>(8 * sizeOf(dtype));
  if (bits == 64) {
    return value;
  }
  const bool is_unsigned = dtype == DType::kUInt8;
  const int64_t low = is_unsigned ? 0 : -(int64_t{1} << (bits - 1));
  const int64_t high = is_unsigned ? (int64_t{1} << bits) - 1 : (int64_t{1} << (bits - 1)) - 1;
  return std::clamp(value, low, high);
}

class ScatterPrepared final : public Prepared {
 public:
  ScatterPrepared(const ScatterConfig& config, const ShapeSet& shapes)
      : config_(config),
        copy_(shapes.outputs.at(0).dims, {shapes.outputs[0].strides, shapes.inputs.at(0).strides}),
        lines_(linesOf(config, shapes)),
        dtype_(shapes.outputs[0].dtype),
        index_dtype_(shapes.inputs.at(1).dtype),
        size_(static_cast<int64_t>(sizeOf(dtype_))),
        count_(shapes.inputs.at(2).dims.at(config.axis)),
        index_step_(shapes.inputs[1].strides.at(config.by_element ? config.axis : 0)),
        update_step_(shapes.inputs[2].strides[config.axis]),
        axis_size_(shapes.outputs[0].dims[config.axis]),
        axis_stride_(shapes.outputs[0].strides[config.axis]) {}

  void run(const RunArgs& args) const override {
    const auto* data = static_cast<const std::byte*>(args.inputs[0]);
    auto* out = static_cast<std::byte*>(args.outputs[0]);
    if (out != data) {
      copyAll(data, out, args.threads);
    }
    parallelFor(args.threads, 0, lines_.count(), lineGrain(args.threads), [&](int64_t begin, int64_t end) {
      lines_.run(begin, end, kRun, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        if (foldStored(args, offsets, steps, n)) {
          return;
        }
        if (config_.fold == Fold::kNone) {
          copyLines(args, offsets, steps, n);
        } else {
          visitComputeType(dtype_,
                           [&](auto type) { foldLines<typename decltype(type)::type>(args, offsets, steps, n); });
        }
      });
    });
  }

  int updatedInput() const override {
    return 0;
  }

 private:
  void copyAll(const std::byte* data, std::byte* out, int threads) const {
    parallelFor(threads, 0, copy_.count(), grainFor(1), [&](int64_t begin, int64_t end) {
      copy_.run(begin, end, copy_.count(), [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        copyRun(static_cast<size_t>(size_), data + offsets[1] * size_, steps[1], out + offsets[0] * size_, steps[0], n);
      });
    });
  }

  // visitor(first, length, index): neighbouring lines that go to the same place along the axis.
  template <typename Visitor>
  void forEachTarget(const RunArgs& args, const int64_t* offsets, const int64_t* steps, int64_t n, int64_t k,
                     Visitor&& visitor) const {
    const Reader<int64_t> indices(index_dtype_);
    std::array<int64_t, kRun> run;
    const int64_t distinct = steps[1] == 0 ? 1 : n;
    indices.read(args.inputs[1], offsets[1] + k * index_step_, steps[1], distinct, run.data());
    for (int64_t i = 0; i < distinct; ++i) {
      visitor(i, distinct == 1 ? n : 1, checked(run[static_cast<size_t>(i)]));
    }
  }

  // Lines that share an index are not cut into narrower runs than threads ask for.
  int64_t lineGrain(int threads) const {
    const int64_t worth = grainFor(4 * count_);
    return config_.by_element ? worth
                              : std::max(worth, std::min<int64_t>(kRun, (lines_.count() + threads - 1) / threads));
  }

  // False where elements are not stored as their compute type, for what starts anew, and for longer rows that are
  // copied.
  bool foldStored(const RunArgs& args, const int64_t* offsets, const int64_t* steps, int64_t n) const {
    constexpr int64_t kFew = 8;
    if (!config_.by_element && config_.fold == Fold::kNone && n <= kFew) {
      const auto copy = [&](auto element) {
        foldRows<decltype(element)>(args, offsets, steps, n, std::integral_constant<Fold, Fold::kNone>());
      };
      size_ == 1 ? copy(uint8_t()) : size_ == 2 ? copy(uint16_t()) : size_ == 4 ? copy(uint32_t()) : copy(uint64_t());
      return true;
    }
    if (!config_.include_self || (config_.by_element ? index_dtype_ != DType::kInt64 : config_.fold == Fold::kNone)) {
      return false;
    }
    const auto as = [&](auto element) {
      using T = decltype(element);
      visitFold(config_.fold, [&](auto rule) {
        config_.by_element ? foldElements<T>(args, offsets, steps, n, rule)
                           : foldRows<T>(args, offsets, steps, n, rule);
      });
      return true;
    };
    switch (dtype_) {
      case DType::kFloat32:
        return as(float());
      case DType::kFloat64:
        return as(double());
      case DType::kInt64:
        return as(int64_t());
      default:
        return false;
    }
  }

  // All lines have one index for each k.
  template <typename T, typename Rule>
  void foldRows(const RunArgs& args, const int64_t* offsets, const int64_t* steps, int64_t n, Rule rule) const {
    T* out = static_cast<T*>(args.outputs[0]) + offsets[0];
    const T* updates = static_cast<const T*>(args.inputs[2]) + offsets[2];
    const Reader<int64_t> reader(index_dtype_);
    std::array<int64_t, kRun> places;
    for (int64_t start = 0; start < count_; start += kRun) {
      const int64_t length = std::min(kRun, count_ - start);
      reader.read(args.inputs[1], offsets[1] + start * index_step_, index_step_, length, places.data());
      std::for_each_n(places.begin(), length, [this, size = static_cast<uint64_t>(axis_size_)](int64_t& place) {
        place = (static_cast<uint64_t>(place) < size ? place : checked(place)) * axis_stride_;
      });
      const T* from = updates + start * update_step_;
      if (update_step_ < steps[2]) {
        for (int64_t line = 0; line < n; ++line) {
          for (int64_t k = 0; k < length; ++k) {
            T& target = out[line * steps[0] + places[static_cast<size_t>(k)]];
            target = folded<T>(rule, target, from[line * steps[2] + k * update_step_]);
          }
        }
        continue;
      }
      for (int64_t k = 0; k < length; ++k) {
        foldRow(rule, from + k * update_step_, steps[2], out + places[static_cast<size_t>(k)], steps[0], n);
      }
    }
  }

  // Blocks of a known length become vectors.
  template <typename T, typename Rule>
  static void foldRow(Rule rule, const T* __restrict updates, int64_t update_step, T* __restrict out, int64_t out_step,
                      int64_t count) {
    constexpr int64_t kBlock = 16;
    int64_t i = 0;
    if (update_step == 1 && out_step == 1) {
      for (; i + kBlock <= count; i += kBlock) {
        for (int64_t j = i; j < i + kBlock; ++j) {
          out[j] = folded<T>(rule, out[j], updates[j]);
        }
      }
    }
    for (; i < count; ++i) {
      out[i * out_step] = folded<T>(rule, out[i * out_step], updates[i * update_step]);
    }
  }

  // Every element has an index of its own. Whatever the order of the lines, a line's updates come in theirs.
  template <typename T, typename Rule>
  void foldElements(const RunArgs& args, const int64_t* offsets, const int64_t* steps, int64_t n, Rule rule) const {
    T* out = static_cast<T*>(args.outputs[0]) + offsets[0];
    const int64_t* indices = static_cast<const int64_t*>(args.inputs[1]) + offsets[1];
    const T* updates = static_cast<const T*>(args.inputs[2]) + offsets[2];
    const auto foldRun = [&](const int64_t* index, const T* update, T* target, int64_t count, auto index_step,
                             auto update_step, auto out_step, auto stride) {
      const auto size = static_cast<uint64_t>(axis_size_);
      for (int64_t i = 0; i < count; ++i) {
        int64_t place = index[i * index_step];
        if (static_cast<uint64_t>(place) >= size) {
          place = checked(place);
        }
        T& element = target[i * out_step + place * stride];
        element = folded<T>(rule, element, update[i * update_step]);
      }
    };
    constexpr std::integral_constant<int64_t, 0> kZero;
    constexpr std::integral_constant<int64_t, 1> kOne;
    if (update_step_ < steps[2]) {
      const bool dense = index_step_ == 1 && update_step_ == 1 && axis_stride_ == 1;
      for (int64_t line = 0; line < n; ++line, indices += steps[1], updates += steps[2], out += steps[0]) {
        dense ? foldRun(indices, updates, out, count_, kOne, kOne, kZero, kOne)
              : foldRun(indices, updates, out, count_, index_step_, update_step_, kZero, axis_stride_);
      }
    } else {
      const bool dense = steps[0] == 1 && steps[1] == 1 && steps[2] == 1;
      for (int64_t k = 0; k < count_; ++k, indices += index_step_, updates += update_step_) {
        dense ? foldRun(indices, updates, out, n, kOne, kOne, kOne, axis_stride_)
              : foldRun(indices, updates, out, n, steps[1], steps[2], steps[0], axis_stride_);
      }
    }
  }

  void copyLines(const RunArgs& args, const int64_t* offsets, const int64_t* steps, int64_t n) const {
    const auto* updates = static_cast<const std::byte*>(args.inputs[2]);
    auto* out = static_cast<std::byte*>(args.outputs[0]);
    for (int64_t k = 0; k < count_; ++k) {
      forEachTarget(args, offsets, steps, n, k, [&](int64_t first, int64_t length, int64_t index) {
        const int64_t source = offsets[2] + first * steps[2] + k * update_step_;
        const int64_t target = offsets[0] + first * steps[0] + index * axis_stride_;
        copyRun(static_cast<size_t>(size_), updates + source * size_, steps[2], out + target * size_, steps[0], length);
      });
    }
  }

  template <typename T>
  void foldLines(const RunArgs& args, const int64_t* offsets, const int64_t* steps, int64_t n) const {
    const Reader<T> reader(dtype_);
    const Writer<T> writer(dtype_);
    std::array<T, kRun> old, added;
    if (!config_.include_self) {
      old.fill(startValue<T>());
      for (int64_t k = 0; k < count_; ++k) {
        forEachTarget(args, offsets, steps, n, k, [&](int64_t first, int64_t length, int64_t index) {
          const int64_t target = offsets[0] + first * steps[0] + index * axis_stride_;
          writer.write(old.data(), length, args.outputs[0], target, steps[0]);
        });
      }
    }
    for (int64_t k = 0; k < count_; ++k) {
      forEachTarget(args, offsets, steps, n, k, [&](int64_t first, int64_t length, int64_t index) {
        const int64_t target = offsets[0] + first * steps[0] + index * axis_stride_;
        reader.read(args.outputs[0], target, steps[0], length, old.data());
        reader.read(args.inputs[2], offsets[2] + first * steps[2] + k * update_step_, steps[2], length, added.data());
        for (size_t i = 0; i < static_cast<size_t>(length); ++i) {
          old[i] = folded(config_.fold, old[i], added[i]);
        }
        writer.write(old.data(), length, args.outputs[0], target, steps[0]);
      });
    }
  }

  template <typename T>
  T startValue() const {
    if constexpr (std::is_integral_v<T>) {
      return clampToStorage(dtype_, neutral<T>(config_.fold));
    } else {
      return neutral<T>(config_.fold);
    }
  }

  int64_t checked(int64_t index) const {
    return checkedIndex(index, axis_size_, config_.negative, "scatter");
  }

  ScatterConfig config_;
  StridedLoop copy_, lines_;
  DType dtype_, index_dtype_;
  int64_t size_, count_, index_step_, update_step_, axis_size_, axis_stride_;
};

Fold parseFold(const std::string& text) {
  static constexpr const char* kNames[] = {"none", "sum", "prod", "max", "min"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), text);
  TORCHTRT_CHECK(found != std::end(kNames), "scatter has no reduce \"" << text << "\"");
  return static_cast<Fold>(found - std::begin(kNames));
}

}  // namespace

CreateResult createScatterReference(const Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  return makeKernel<ScatterPrepared>(
      ScatterConfig{attributes.getString("mode") == "element", static_cast<size_t>(attributes.getInt("axis")),
                    parseFold(attributes.getString("reduce")), attributes.getBool("include_self", true),
                    attributes.getBool("negative", true)});
}

}  // namespace torchtrt::kernels
