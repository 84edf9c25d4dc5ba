// Adaptive pooling in float32 or float64 of what lies in lines: the lines of a window are folded into one, then that
// along itself.
#include <algorithm>
#include <array>
#include <vector>

#include "cpu/loops/fallback.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/pooling/fast.h"
#include "cpu/pooling/pooling.h"
#include "cpu/pooling/windows.h"
#include "cpu/simd/row_reductions.h"
#include "cpu/threads/parallel.h"
#include "cpu/threads/thread_memory.h"

namespace torchtrt::kernels::pooling {
namespace {

template <typename T>
class AdaptiveLines final : public Prepared {
 public:
  static bool accepts(const Config&, const ShapeSet& shapes) {
    const TensorDesc& in = shapes.inputs[0];
    return !in.dims.empty() && in.strides.back() == 1 && shapes.outputs[0].strides.back() == 1 && countOf(in.dims) > 0;
  }

  AdaptiveLines(const Config& config, const ShapeSet& shapes)
      : is_max_(config.is_max),
        in_(shapes.inputs[0]),
        out_(shapes.outputs[0]),
        axes_(in_.dims.size()),
        pooled_(std::min<size_t>(axes_, 3)),
        windows_(config, sizesOf(in_, pooled_), sizesOf(out_, pooled_), pooled_) {}

  void run(const RunArgs& args) const override {
    const auto* in = static_cast<const T*>(args.inputs[0]);
    auto* out = static_cast<T*>(args.outputs[0]);
    const int64_t lines = countOf(out_.dims) / std::max<int64_t>(out_.dims.back(), 1);
    const int64_t cost = windows_.largest[0] * windows_.largest[1] * in_.dims.back();
    parallelFor(args.threads, 0, lines, grainFor(cost), [&](int64_t begin, int64_t end) {
      ThreadVector<T> folded(static_cast<size_t>(in_.dims.back()));
      for (int64_t line = begin; line < end; ++line) {
        runLine(in, out, line, folded.data());
      }
    });
  }

 private:
  // The last three axes, of which those that are not pooled have windows of one element.
  static convolution::Image sizesOf(const TensorDesc& desc, size_t pooled) {
    convolution::Image image;
    std::copy(desc.dims.end() - static_cast<ptrdiff_t>(pooled), desc.dims.end(),
              image.size.end() - static_cast<ptrdiff_t>(pooled));
    return image;
  }

  // The output line of that number, row by row.
  void runLine(const T* in, T* out, int64_t line, T* folded) const {
    std::array<Span, 2> spans;  // depth, height
    std::array<int64_t, 2> strides = {0, 0};
    for (size_t axis = axes_ - 1; axis-- > 0;) {
      const int64_t at = line % out_.dims[axis];
      line /= out_.dims[axis];
      out += at * out_.strides[axis];
      if (axis + 3 < axes_) {
        in += at * in_.strides[axis];
        continue;
      }
      const size_t slot = axis + 3 - axes_;
      spans[slot] = windows_.spans[slot][static_cast<size_t>(at)];
      strides[slot] = in_.strides[axis];
      in += spans[slot].first * strides[slot];
    }
    const std::vector<Span>& columns = windows_.spans[2];
    const int64_t area = spans[0].count * spans[1].count;
    const int64_t width = in_.dims.back();
    if (columns.size() == 1 && strides[1] == width) {
      runWhole(in, out, spans, strides[0]);
      return;
    }
    const RowReductionsOf<T>& functions = rowReductions<T>();
    const T* row = in;
    if (area > 1) {
      std::copy_n(in, width, folded);
      for (int64_t i = 1; i < area; ++i) {
        const T* from = in + i / spans[1].count * strides[0] + i % spans[1].count * strides[1];
        (is_max_ ? functions.raise : functions.add)(from, folded, width);
      }
      row = folded;
    }
    for (size_t x = 0; x < columns.size(); ++x) {
      const Span& column = columns[x];
      out[x] = is_max_ ? functions.max(row + column.first, column.count)
                       : average(functions.sum(row + column.first, column.count), area * column.count);
    }
  }

  // One window as wide as the lines, which lie without gaps.
  void runWhole(const T* in, T* out, const std::array<Span, 2>& spans, int64_t depth_stride) const {
    const RowReductionsOf<T>& functions = rowReductions<T>();
    const int64_t count = spans[1].count * in_.dims.back();
    if (is_max_) {
      *out = functions.max(in, count);
      for (int64_t z = 1; z < spans[0].count; ++z) {
        const T greatest = functions.max(in + z * depth_stride, count);
        functions.raise(&greatest, out, 1);
      }
      return;
    }
    double sum = 0;
    for (int64_t z = 0; z < spans[0].count; ++z) {
      sum += static_cast<double>(functions.sum(in + z * depth_stride, count));
    }
    *out = average(sum, spans[0].count * count);
  }

  static T average(double sum, int64_t count) {
    return static_cast<T>(sum / static_cast<double>(count));
  }

  bool is_max_;
  TensorDesc in_, out_;
  size_t axes_, pooled_;
  Windows windows_;
};

}  // namespace

CreateResult createAdaptiveLines(const Problem& problem) {
  if (problem.outputs.size() > 1) {
    return Refusal{"indices", "does not return indices"};
  }
  return createFloating(problem, [&](auto type) {
    return makeKernelWithFallback<AdaptiveLines<decltype(type)>>(readAdaptiveConfig(*problem.attributes),
                                                                 createAdaptivePoolingReference(problem));
  });
}

}  // namespace torchtrt::kernels::pooling
