#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "base/check.h"
#include "kernels/common/convert.h"
#include "kernels/common/loop_nest.h"
#include "kernels/common/simple_kernel.h"
#include "kernels/common/strided_loop.h"
#include "kernels/movement/movement.h"
#include "kernels/parallel.h"

namespace torchtrt::kernels {
namespace {

enum class Fold : uint8_t { kNone, kSum, kProd, kMax, kMin };

struct ScatterConfig {
  bool by_element = false;
  size_t axis = 0;
  Fold fold = Fold::kNone;
  bool include_self = true;
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
    parallelFor(args.threads, 0, copy_.count(), grainFor(1), [&](int64_t begin, int64_t end) {
      copy_.run(begin, end, copy_.count(), [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        copyRun(static_cast<size_t>(size_), data + offsets[1] * size_, steps[1], out + offsets[0] * size_, steps[0], n);
      });
    });
    parallelFor(args.threads, 0, lines_.count(), grainFor(4 * count_), [&](int64_t begin, int64_t end) {
      lines_.run(begin, end, kRun, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        if (config_.by_element && config_.include_self && index_dtype_ == DType::kInt64 &&
            scatterElements(args, offsets, steps, n)) {
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

 private:
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

  // False where elements are not stored as their compute type.
  bool scatterElements(const RunArgs& args, const int64_t* offsets, const int64_t* steps, int64_t n) const {
    switch (dtype_) {
      case DType::kFloat32:
        foldElements<float>(args, offsets, steps, n);
        return true;
      case DType::kFloat64:
        foldElements<double>(args, offsets, steps, n);
        return true;
      case DType::kInt64:
        foldElements<int64_t>(args, offsets, steps, n);
        return true;
      default:
        return false;
    }
  }

  // Every element has an index of its own. Whatever the order of the lines, a line's updates come in theirs.
  template <typename T>
  void foldElements(const RunArgs& args, const int64_t* offsets, const int64_t* steps, int64_t n) const {
    T* out = static_cast<T*>(args.outputs[0]) + offsets[0];
    const int64_t* indices = static_cast<const int64_t*>(args.inputs[1]) + offsets[1];
    const T* updates = static_cast<const T*>(args.inputs[2]) + offsets[2];
    const auto fold = [=, this, size = static_cast<uint64_t>(axis_size_), stride = axis_stride_, rule = config_.fold,
                       index_step = index_step_, update_step = update_step_, out_line = steps[0], index_line = steps[1],
                       update_line = steps[2]](int64_t line, int64_t k) {
      int64_t index = indices[line * index_line + k * index_step];
      if (static_cast<uint64_t>(index) >= size) {
        index = checked(index);
      }
      T& target = out[line * out_line + index * stride];
      target = folded(rule, target, updates[line * update_line + k * update_step]);
    };
    if (update_step_ < steps[2]) {
      for (int64_t line = 0; line < n; ++line) {
        for (int64_t k = 0; k < count_; ++k) {
          fold(line, k);
        }
      }
    } else {
      for (int64_t k = 0; k < count_; ++k) {
        for (int64_t line = 0; line < n; ++line) {
          fold(line, k);
        }
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

  // Counts negative indices from the end.
  [[gnu::noinline]] int64_t checked(int64_t index) const {
    if (index < -axis_size_ || index >= axis_size_) [[unlikely]] {
      throw EngineError(
          ErrorCode::kIndexOutOfRange,
          "scatter met index " + std::to_string(index) + " for an axis of size " + std::to_string(axis_size_), {},
          "indices must lie in [-size, size)");
    }
    return index < 0 ? index + axis_size_ : index;
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
                    parseFold(attributes.getString("reduce")), attributes.getBool("include_self", true)});
}

}  // namespace torchtrt::kernels
