#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "base/check.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/movement/movement.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels {
namespace {

enum class Mode : uint8_t { kConstant, kReflect, kReplicate, kCircular };

struct PaddingConfig {
  Mode mode = Mode::kConstant;
  double value = 0;
};

constexpr int64_t kOutside = -1;

// The input index behind position `i` counted from the input's start, or kOutside for the padding value.
int64_t sourceIndex(Mode mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size) {
    return i;
  }
  switch (mode) {
    case Mode::kReplicate:
      return i < 0 ? 0 : size - 1;
    case Mode::kCircular:
      return (i % size + size) % size;
    case Mode::kReflect: {
      const int64_t period = std::max<int64_t>(2 * (size - 1), 1);  // the edges are not repeated
      const int64_t folded = std::abs(i) % period;
      return folded < size ? folded : period - folded;
    }
    case Mode::kConstant:
      break;
  }
  return kOutside;
}

class PaddingPrepared final : public Prepared {
 public:
  PaddingPrepared(const PaddingConfig& config, const ShapeSet& shapes) : size_(sizeOf(shapes.outputs.at(0).dtype)) {
    const TensorDesc& in = shapes.inputs.at(0);
    const TensorDesc& out = shapes.outputs[0];
    const std::vector<int64_t>& pre = shapes.dimsOf("pre");
    // The axis that lies closest in the output comes last: rows run along it.
    std::vector<size_t> order(out.dims.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return out.strides[a] > out.strides[b]; });
    std::vector<Extent> extents;
    for (const size_t axis : order) {
      if (in.dims[axis] == 0 && out.dims[axis] != 0 && config.mode != Mode::kConstant) {
        throw EngineError(ErrorCode::kShapeArithmetic,
                          "axis " + std::to_string(axis) + " is empty, and this padding repeats elements of it", {},
                          "pad with a constant, or pass a tensor that is not empty");
      }
      const Extent extent{in.dims[axis], in.strides[axis], out.dims[axis], out.strides[axis], pre.at(axis)};
      if (extents.empty() || !merge(config.mode, extent, extents.back())) {
        extents.push_back(extent);
      }
    }
    if (extents.empty()) {
      extents.push_back({1, 1, 1, 1, 0});
    }
    Writer<double>(out.dtype).write(&config.value, 1, value_.data(), 0, 1);
    inner_ = extents.back();
    extents.pop_back();
    findRuns(config.mode);
    for (const Extent& extent : extents) {
      addAxis(config.mode, extent);
      rows_ *= extent.out_size;
    }
  }

  void run(const RunArgs& args) const override {
    switch (size_) {
      case 1:
        return runAs<uint8_t>(args);
      case 2:
        return runAs<uint16_t>(args);
      case 4:
        return runAs<uint32_t>(args);
      default:
        return runAs<uint64_t>(args);
    }
  }

 private:
  struct Extent {
    int64_t in_size, in_stride, out_size, out_stride, pre;
  };

  struct Axis {
    std::vector<int64_t> source;  // per output index: the index in the input, or kOutside
    int64_t in_stride, out_stride;
  };

  // Neighbours in a row of the output whose sources are neighbours, too, or one element.
  struct Run {
    int64_t target, source, count;  // indices along the row
    int64_t step;                   // of the source: 1, -1 or 0
    bool outside;
  };

  // The begin of a row in the output and, unless it is all padding, in the input.
  struct Row {
    int64_t source = 0, target = 0;
    bool outside = false;
  };

  // Takes an axis that is not padded into the next outer one, where both lie so; what repeats single elements or turns
  // their order would do so with rows then.
  static bool merge(Mode mode, const Extent& inner, Extent& outer) {
    const auto isWhole = [](const Extent& extent) { return extent.pre == 0 && extent.in_size == extent.out_size; };
    const bool moves_rows = isWhole(outer) || mode == Mode::kConstant || mode == Mode::kCircular;
    if (!isWhole(inner) || !moves_rows || outer.in_stride != inner.in_stride * inner.in_size ||
        outer.out_stride != inner.out_stride * inner.out_size) {
      return false;
    }
    outer = {outer.in_size * inner.in_size, inner.in_stride, outer.out_size * inner.out_size, inner.out_stride,
             outer.pre * inner.in_size};
    return true;
  }

  void addAxis(Mode mode, const Extent& extent) {
    Axis axis{std::vector<int64_t>(static_cast<size_t>(extent.out_size)), extent.in_stride, extent.out_stride};
    for (int64_t i = 0; i < extent.out_size; ++i) {
      axis.source[static_cast<size_t>(i)] = sourceIndex(mode, i - extent.pre, extent.in_size);
    }
    axes_.push_back(std::move(axis));
  }

  void findRuns(Mode mode) {
    const int64_t size = inner_.in_size;
    for (int64_t i = 0; i < inner_.out_size;) {
      const int64_t position = i - inner_.pre;
      Run run{i, sourceIndex(mode, position, size), inner_.out_size - i, 1, false};
      if (mode == Mode::kCircular || (position >= 0 && position < size)) {
        run.count = std::min(run.count, size - run.source);
      } else if (mode == Mode::kReflect) {
        run.step = sourceIndex(mode, position + 1, size) - run.source;
        run.count = 1;
        while (i + run.count < inner_.out_size &&
               sourceIndex(mode, position + run.count, size) == run.source + run.step * run.count) {
          ++run.count;
        }
      } else {
        run.outside = run.source == kOutside;
        run.step = 0;
        run.count = position < 0 ? std::min(run.count, -position) : run.count;
      }
      runs_.push_back(run);
      i += run.count;
    }
  }

  // Rows are shared out among threads, or parts of them where there is one.
  template <typename Element>
  void runAs(const RunArgs& args) const {
    const auto* in = static_cast<const Element*>(args.inputs[0]);
    auto* out = static_cast<Element*>(args.outputs[0]);
    if (axes_.empty()) {
      parallelFor(args.threads, 0, inner_.out_size, grainFor(1),
                  [&](int64_t begin, int64_t end) { writePart(begin, end, in, out); });
      return;
    }
    const Axis& axis = axes_.back();
    const auto size = static_cast<int64_t>(axis.source.size());
    parallelFor(args.threads, 0, rows_, grainFor(inner_.out_size), [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const Row outer = outerOf(begin / size);
        const int64_t first = begin % size;
        const int64_t last = std::min(size, first + end - begin);
        for (int64_t index = first; index < last; ++index) {
          Row row = outer;
          add(axis, index, row);
          writeRow(row, in, out);
        }
        begin += last - first;
      }
    });
  }

  static void add(const Axis& axis, int64_t index, Row& row) {
    const int64_t source = axis.source[static_cast<size_t>(index)];
    row.outside = row.outside || source == kOutside;
    row.source += source * axis.in_stride;
    row.target += index * axis.out_stride;
  }

  // Returns the offset that the axes in front of the last of axes_ add to a row.
  Row outerOf(int64_t number) const {
    Row row;
    for (size_t d = axes_.size() - 1; d-- > 0;) {
      const auto size = static_cast<int64_t>(axes_[d].source.size());
      add(axes_[d], number % size, row);
      number /= size;
    }
    return row;
  }

  template <typename Element>
  void writeRow(const Row& row, const Element* in, Element* out) const {
    Element* const to = out + row.target;
    if (row.outside) {
      copyRun(sizeof(Element), value_.data(), 0, reinterpret_cast<std::byte*>(to), inner_.out_stride, inner_.out_size);
      return;
    }
    const Element* const from = in + row.source;
    const auto* const value = reinterpret_cast<const Element*>(value_.data());
    for (const Run& run : runs_) {
      write(run, run.outside ? value : from + run.source * inner_.in_stride, to, run.target, run.count);
    }
  }

  // Elements [begin, end) of the only row.
  template <typename Element>
  void writePart(int64_t begin, int64_t end, const Element* in, Element* out) const {
    const auto* const value = reinterpret_cast<const Element*>(value_.data());
    for (const Run& run : runs_) {
      const int64_t first = std::max(begin, run.target);
      const int64_t last = std::min(end, run.target + run.count);
      if (first < last) {
        const int64_t source = run.source + (first - run.target) * run.step;
        write(run, run.outside ? value : in + source * inner_.in_stride, out, first, last - first);
      }
    }
  }

  // `count` elements of the row from `target` on. Most runs are short, and a call would be most of their time.
  template <typename Element>
  void write(const Run& run, const Element* from, Element* row, int64_t target, int64_t count) const {
    constexpr int64_t kVector = 16 / sizeof(Element);
    constexpr int64_t kFew = 16 * kVector;
    const int64_t to_step = inner_.out_stride;
    Element* const to = row + target * to_step;
    if (count == 1) {
      *to = *from;
      return;
    }
    const int64_t from_step = run.step * inner_.in_stride;
    if (from_step == 1 && to_step == 1 && count >= kVector && count <= kFew) {
      for (int64_t i = 0; i + kVector < count; i += kVector) {
        std::memcpy(to + i, from + i, 16);
      }
      std::memcpy(to + count - kVector, from + count - kVector, 16);
    } else if (count <= kVector) {
      for (int64_t i = 0; i < count; ++i) {
        to[i * to_step] = from[i * from_step];
      }
    } else {
      copyRun(sizeof(Element), reinterpret_cast<const std::byte*>(from), from_step, reinterpret_cast<std::byte*>(to),
              to_step, count);
    }
  }

  size_t size_;
  std::vector<Axis> axes_;  // but the innermost
  Extent inner_{};
  std::vector<Run> runs_;
  alignas(8) std::array<std::byte, 8> value_{};  // the padding value in the tensor's dtype
  int64_t rows_ = 1;
};

Mode parseMode(const std::string& text) {
  if (text == "constant") {
    return Mode::kConstant;
  }
  if (text == "reflect") {
    return Mode::kReflect;
  }
  TORCHTRT_CHECK(text == "replicate" || text == "circular", "padding has no mode \"" << text << "\"");
  return text == "replicate" ? Mode::kReplicate : Mode::kCircular;
}

}  // namespace

CreateResult createPaddingReference(const Problem& problem) {
  return makeKernel<PaddingPrepared>(PaddingConfig{parseMode(problem.attributes->getString("mode", "constant")),
                                                   problem.attributes->getDouble("value", 0)});
}

}  // namespace torchtrt::kernels
