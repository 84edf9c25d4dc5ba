// Images in float32 or float64, row-major or channels-last: each input line that is needed is interpolated along the
// width once and kept while output lines need it, and these are sums of lines.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "base/align.h"
#include "cpu/loops/fallback.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/resize/fast.h"
#include "cpu/resize/lines.h"
#include "cpu/resize/resize.h"
#include "cpu/threads/parallel.h"
#include "kernels/resize/axes.h"

namespace torchtrt::kernels::resize {
namespace {

constexpr int64_t kLineUnit = 16;  // elements: what lines of scratch memory are rounded up to, cache lines

int64_t rounded(int64_t elements) {
  return roundUp(elements, kLineUnit);
}

bool hasLinesInMemory(const TensorDesc& tensor) {
  return tensor.strides.back() == 1;
}

bool isChannelsLast(const TensorDesc& tensor) {
  return tensor.dims.size() == 4 && tensor.strides[1] == 1 && tensor.strides[3] == tensor.dims[1];
}

template <typename T>
class InterpolatedLines final : public Prepared {
 public:
  static bool accepts(const ResizeConfig&, const ShapeSet& shapes) {
    const TensorDesc& in = shapes.inputs[0];
    const TensorDesc& out = shapes.outputs[0];
    const bool one_order =
        (hasLinesInMemory(in) && hasLinesInMemory(out)) || (isChannelsLast(in) && isChannelsLast(out));
    // The reference takes the rest: empty images, and lines beyond the offsets of a vector.
    return shapes.dimsOf("size").size() == 2 && one_order && countOf(in.dims) != 0 && countOf(out.dims) != 0 &&
           in.dims.back() * std::max<int64_t>(1, in.strides.back()) < std::numeric_limits<int32_t>::max();
  }

  InterpolatedLines(const ResizeConfig& config, const ShapeSet& shapes)
      : taps_(tapCount(config.mode)),
        in_(shapes.inputs[0]),
        out_(shapes.outputs[0]),
        channels_last_(!(hasLinesInMemory(in_) && hasLinesInMemory(out_))),
        functions_(lineFunctions<T>(taps_, channels_last_)) {
    const std::vector<ResizeAxis> axes = resizeAxes(config, shapes);
    rows_ = resizeTaps<T>(axes[0]);
    columns_.count = axes[1].out;
    columns_.step = axes[1].out;
    columns_.channels = channels_last_ ? out_.dims[1] : 1;
    const std::vector<Taps> taps = resizeTaps<T>(axes[1]);
    offsets_.resize(static_cast<size_t>(taps_ * columns_.step));
    weights_.resize(offsets_.size());
    for (size_t t = 0; t < static_cast<size_t>(taps_); ++t) {
      for (size_t i = 0; i < taps.size(); ++i) {
        const size_t at = t * static_cast<size_t>(columns_.step) + i;
        offsets_[at] = static_cast<int32_t>(taps[i].index[t] * columns_.channels);
        weights_[at] = static_cast<T>(taps[i].weight[t]);
      }
    }
    const auto ends = std::find_if(taps.begin(), taps.end(),
                                   [](const Taps& column) { return column.index[1] != column.index[0] + 1; });
    columns_.pairs = ends - taps.begin();
    columns_.offsets = offsets_.data();
    columns_.weights = weights_.data();
    line_ = columns_.count * columns_.channels;
    planes_axes_ = channels_last_ ? 1 : out_.dims.size() - 2;
    lines_ = static_cast<int64_t>(rows_.size());
    for (size_t axis = 0; axis < planes_axes_; ++axis) {
      lines_ *= out_.dims[axis];
    }
    const int64_t worth = lines_ * line_ * taps_ / grainFor(1);  // threads
    shares_ = std::clamp<int64_t>(worth, 1, std::min<int64_t>(shapes.threads, lines_));
  }

  size_t scratchBytes() const override {
    return taps_ == 1 ? 0 : static_cast<size_t>(shares_ * taps_ * rounded(line_)) * sizeof(T);
  }
  size_t heldBytes() const override {
    return offsets_.size() * (sizeof(int32_t) + sizeof(T)) + rows_.size() * sizeof(Taps);
  }

  void run(const RunArgs& args) const override {
    parallelFor(args.threads, 0, shares_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t share = begin; share < end; ++share) {
        const int64_t first = lines_ * share / shares_;
        const int64_t last = lines_ * (share + 1) / shares_;
        if (taps_ == 1) {
          copyLines(args, first, last);
        } else {
          T* scratch = static_cast<T*>(args.scratch) + share * taps_ * rounded(line_);
          interpolateLines(args, first, last, scratch);
        }
      }
    });
  }

 private:
  struct Place {
    const T* plane;  // of the input
    const Taps* taps;
    T* out;
  };

  Place placeOf(const RunArgs& args, int64_t line) const {
    const auto height = static_cast<int64_t>(rows_.size());
    const int64_t plane = line / height;
    const int64_t row = line % height;
    const size_t row_axis = out_.dims.size() - 2;
    return {static_cast<const T*>(args.inputs[0]) + offsetAt(plane, in_.dims, in_.strides, planes_axes_),
            &rows_[static_cast<size_t>(row)],
            static_cast<T*>(args.outputs[0]) + offsetAt(plane, out_.dims, out_.strides, planes_axes_) +
                row * out_.strides[row_axis]};
  }

  const T* inputLine(const Place& place, size_t tap) const {
    return place.plane + place.taps->index[tap] * in_.strides[in_.strides.size() - 2];
  }

  void copyLines(const RunArgs& args, int64_t first, int64_t last) const {
    const T* source = nullptr;
    const T* copied = nullptr;
    for (int64_t line = first; line < last; ++line) {
      const Place place = placeOf(args, line);
      const T* from = inputLine(place, 0);
      if (from == source) {
        std::memcpy(place.out, copied, static_cast<size_t>(line_) * sizeof(T));
      } else {
        functions_.along_width(columns_, from, place.out);
      }
      source = from;
      copied = place.out;
    }
  }

  void interpolateLines(const RunArgs& args, int64_t first, int64_t last, T* scratch) const {
    const auto count = static_cast<size_t>(taps_);
    std::array<const T*, 4> sources{};  // which input line each line of scratch memory was made of
    Rows<T> rows{};
    for (int64_t line = first; line < last; ++line) {
      const Place place = placeOf(args, line);
      std::array<const T*, 4> wanted{};
      for (size_t t = 0; t < count; ++t) {
        wanted[t] = inputLine(place, t);
      }
      for (size_t t = 0; t < count; ++t) {
        size_t slot = slotOf(sources, wanted[t]);
        if (slot == count) {
          slot = 0;
          while (slotOf(wanted, sources[slot]) != count) {
            ++slot;  // this one is needed, and another one is not
          }
          sources[slot] = wanted[t];
          functions_.along_width(columns_, wanted[t], scratch + static_cast<int64_t>(slot) * rounded(line_));
        }
        rows.lines[t] = scratch + static_cast<int64_t>(slot) * rounded(line_);
        rows.weights[t] = static_cast<T>(place.taps->weight[t]);
      }
      functions_.along_height(rows, line_, place.out);
    }
  }

  // taps_ where it is none of them.
  size_t slotOf(const std::array<const T*, 4>& lines, const T* line) const {
    return static_cast<size_t>(std::find(lines.begin(), lines.begin() + taps_, line) - lines.begin());
  }

  int taps_;
  TensorDesc in_;
  TensorDesc out_;
  bool channels_last_;
  LineFunctions<T> functions_;
  std::vector<Taps> rows_;
  std::vector<int32_t> offsets_;
  std::vector<T> weights_;
  Columns<T> columns_;
  int64_t line_ = 0;        // elements of an output line
  size_t planes_axes_ = 0;  // dimensions in front that number the planes
  int64_t lines_ = 0;       // of the output, in all planes
  int64_t shares_ = 1;      // of the lines, one a thread
};

}  // namespace

CreateResult createInterpolatedLines(const Problem& problem) {
  return createFloating(problem, [&](auto type) {
    return makeKernelWithFallback<InterpolatedLines<decltype(type)>>(readResizeConfig(*problem.attributes),
                                                                     createResizeReference(problem));
  });
}

}  // namespace torchtrt::kernels::resize
