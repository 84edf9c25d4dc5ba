#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "cpu/loops/simple_kernel.h"
#include "cpu/resize/resize.h"
#include "cpu/storage/dense.h"
#include "kernels/resize/axes.h"
#include "kernels/resize/taps.h"

namespace torchtrt::kernels {
namespace {

// Axes that the problem does not have take this entry.
const ByteTaps kOnlyEntry = {{{{}, {1, 0, 0, 0}}}, 0};

class ResizePrepared final : public Prepared {
 public:
  ResizePrepared(const ResizeConfig& config, const ShapeSet& shapes)
      : count_(tapCount(config.mode)), in_(shapes.inputs.at(0)), out_(shapes.outputs.at(0)) {
    const std::vector<ResizeAxis> axes = resizeAxes(config, shapes);
    const size_t spatial = axes.size();
    lead_ = out_.dims.size() - spatial;
    planes_ = countOf({out_.dims.begin(), out_.dims.begin() + static_cast<std::ptrdiff_t>(lead_)});
    for (size_t axis = 0; axis < spatial; ++axis) {
      const size_t slot = 3 - spatial + axis;
      const ResizeAxis& rule = axes[axis];
      in_size_[slot] = rule.in;
      strides_[slot] = out_.strides[lead_ + axis];
      if (count_ > 1 && !isFloating(out_.dtype)) {
        bytes_[slot] = byteTaps(rule);
      }
      taps_[slot] = out_.dtype == DType::kFloat64 ? resizeTaps<double>(rule) : resizeTaps<float>(rule);
    }
    if (in_size_[0] * in_size_[1] * in_size_[2] == 0 && countOf(out_.dims) != 0) {
      throw EngineError(ErrorCode::kShapeArithmetic, "resize met an input without elements", {},
                        "pass a tensor whose spatial dimensions are at least 1");
    }
  }

  size_t scratchBytes() const override {
    return in_.scratchBytes();
  }

  void run(const RunArgs& args) const override {
    visitComputeType(out_.dtype, [&](auto type) { runAs<typename decltype(type)::type>(args); });
  }

 private:
  template <typename T>
  void runAs(const RunArgs& args) const {
    const T* in = in_.dense<T>(args.threads, args.inputs[0], args.scratch);
    const Writer<T> writer(out_.dtype);
    const auto depths = static_cast<int64_t>(taps_[0].size());
    const auto rows = static_cast<int64_t>(taps_[1].size());
    const auto columns = static_cast<int64_t>(taps_[2].size());
    const int64_t plane_size = in_size_[0] * in_size_[1] * in_size_[2];
    parallelFor(args.threads, 0, planes_ * depths * rows, grainFor(columns * count_ * 4),
                [&](int64_t begin, int64_t end) {
                  alignas(64) std::array<T, kRun> values;
                  for (int64_t index = begin; index < end; ++index) {
                    const int64_t row = index % rows;
                    const int64_t depth = index / rows % depths;
                    const int64_t plane = index / rows / depths;
                    const int64_t target =
                        offsetAt(plane, out_.dims, out_.strides, lead_) + depth * strides_[0] + row * strides_[1];
                    for (int64_t column = 0; column < columns; column += kRun) {
                      const int64_t n = std::min(kRun, columns - column);
                      computeRow(in + plane * plane_size, depth, row, column, n, values.data());
                      writer.write(values.data(), n, args.outputs[0], target + column * strides_[2], strides_[2]);
                    }
                  }
                });
  }

  template <typename T>
  void computeRow(const T* plane, int64_t depth, int64_t row, int64_t column, int64_t count, T* values) const {
    const Taps& d = taps_[0][static_cast<size_t>(depth)];
    const Taps& h = taps_[1][static_cast<size_t>(row)];
    const Taps* w = taps_[2].data() + column;
    const auto line = [&](int z, int y) {
      return plane + (d.index[static_cast<size_t>(z)] * in_size_[1] + h.index[static_cast<size_t>(y)]) * in_size_[2];
    };
    if (count_ == 1) {
      const T* source = line(0, 0);
      for (int64_t i = 0; i < count; ++i) {
        values[i] = source[w[i].index[0]];
      }
      return;
    }
    if constexpr (std::is_integral_v<T>) {
      interpolateBytes(plane, depth, row, column, count, values);
    } else {
      interpolate(line, d, h, w, count, values);
    }
  }

  template <typename T, typename Line>
  void interpolate(Line&& line, const Taps& d, const Taps& h, const Taps* w, int64_t count, T* values) const {
    std::array<double, kRun> sums{};
    for (int z = 0; z < taps(0); ++z) {
      for (int y = 0; y < taps(1); ++y) {
        const double weight = d.weight[static_cast<size_t>(z)] * h.weight[static_cast<size_t>(y)];
        const T* source = line(z, y);
        for (int64_t i = 0; i < count; ++i) {
          double sum = 0;
          for (size_t x = 0; x < static_cast<size_t>(count_); ++x) {
            sum += w[i].weight[x] * static_cast<double>(source[w[i].index[x]]);
          }
          sums[static_cast<size_t>(i)] += weight * sum;
        }
      }
    }
    std::transform(sums.begin(), sums.begin() + count, values, [](double sum) { return static_cast<T>(sum); });
  }

  void interpolateBytes(const int64_t* plane, int64_t depth, int64_t row, int64_t column, int64_t count,
                        int64_t* values) const {
    const ByteTaps::Entry& d = bytes_[0].entries[static_cast<size_t>(depth)];
    const ByteTaps::Entry& h = bytes_[1].entries[static_cast<size_t>(row)];
    for (int64_t i = 0; i < count; ++i) {
      const ByteTaps::Entry& w = bytes_[2].entries[static_cast<size_t>(column + i)];
      values[i] = combine(0, d, [&](int64_t z) {
        return combine(1, h, [&](int64_t y) {
          const int64_t* source = plane + (z * in_size_[1] + y) * in_size_[2];
          return combine(2, w, [&](int64_t x) { return source[x]; });
        });
      });
    }
  }

  // The weighted sum along one axis, rounded to the dtype.
  template <typename Source>
  int64_t combine(size_t slot, const ByteTaps::Entry& entry, Source&& source) const {
    const int shift = bytes_[slot].shift;
    int64_t sum = shift == 0 ? 0 : int64_t{1} << (shift - 1);
    for (size_t t = 0; t < static_cast<size_t>(taps(slot)); ++t) {
      sum += entry.weight[t] == 0 ? 0 : entry.weight[t] * source(entry.index[t]);
    }
    const int64_t rounded = sum >> shift;
    return out_.dtype == DType::kUInt8 ? std::clamp<int64_t>(rounded, 0, 255) : rounded;
  }

  // Axes that the problem does not have hold one position of weight 1.
  int taps(size_t slot) const {
    return slot < 3 - (out_.dims.size() - lead_) ? 1 : count_;
  }

  int count_;  // taps per axis
  DenseOperand in_;
  TensorDesc out_;
  size_t lead_ = 0;
  int64_t planes_ = 0;
  // Depth, height, width.
  std::array<int64_t, 3> in_size_ = {1, 1, 1}, strides_{};
  std::array<ByteTaps, 3> bytes_ = {kOnlyEntry, kOnlyEntry, kOnlyEntry};
  std::array<std::vector<Taps>, 3> taps_ = {std::vector<Taps>(1), std::vector<Taps>(1), std::vector<Taps>(1)};
};

}  // namespace

CreateResult createResizeReference(const Problem& problem) {
  return makeKernel<ResizePrepared>(readResizeConfig(*problem.attributes));
}

}  // namespace torchtrt::kernels
