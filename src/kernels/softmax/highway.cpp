// Softmax and log-softmax in float32 or float64, where either the axis or another lies next to each other in memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "kernels/common/fallback.h"
#include "kernels/common/loop_nest.h"
#include "kernels/common/row_reductions.h"
#include "kernels/common/simple_kernel.h"
#include "kernels/common/strided_loop.h"
#include "kernels/parallel.h"
#include "kernels/softmax/fast.h"
#include "kernels/softmax/softmax.h"

namespace torchtrt::kernels::softmax {
namespace {

struct Config {
  size_t axis = 0;
  bool log = false;
};

// Rows that lie along memory.
template <typename T>
class SoftmaxOfRows final : public Prepared {
 public:
  SoftmaxOfRows(const Config& config, const ShapeSet& shapes)
      : log_(config.log),
        size_(shapes.inputs[0].dims[config.axis]),
        rows_(withoutAxis(shapes.inputs[0].dims, config.axis), {withoutAxis(shapes.outputs[0].strides, config.axis),
                                                                withoutAxis(shapes.inputs[0].strides, config.axis)}) {}

  void run(const RunArgs& args) const override {
    const RowReductionsOf<T>& functions = rowReductions<T>();
    const auto* in = static_cast<const T*>(args.inputs[0]);
    auto* out = static_cast<T*>(args.outputs[0]);
    parallelFor(args.threads, 0, rows_.count(), grainFor(4 * size_), [&](int64_t begin, int64_t end) {
      rows_.run(begin, end, rows_.count(), [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          runRow(functions, in + offsets[1] + i * steps[1], out + offsets[0] + i * steps[0]);
        }
      });
    });
  }

 private:
  void runRow(const RowReductionsOf<T>& functions, const T* in, T* out) const {
    const T greatest = functions.max(in, size_);
    const T sum = functions.exponentials(in, greatest, log_ ? nullptr : out, size_);
    if (log_) {
      // Two steps, since greatest + log(sum) would round away the smaller of them.
      functions.scale(in, T(1), -greatest, out, size_);
      functions.scale(out, T(1), -std::log(sum), out, size_);
    } else {
      functions.scale(out, T(1) / sum, T(0), out, size_);
    }
  }

  bool log_;
  int64_t size_;
  StridedLoop rows_;
};

// Rows that lie side by side, so that vectors run across them.
template <typename T>
class SoftmaxOfColumns final : public Prepared {
 public:
  static bool accepts(const Config& config, const ShapeSet& shapes) {
    const LoopNest kept = keptNest(config, shapes);
    // Fewer than four columns between the terms of one leave vectors too empty.
    return kept.steps()[0] == 1 && kept.steps()[1] == 1 && std::abs(shapes.inputs[0].strides[config.axis]) >= 4;
  }

  SoftmaxOfColumns(const Config& config, const ShapeSet& shapes)
      : log_(config.log),
        size_(shapes.inputs[0].dims[config.axis]),
        in_step_(shapes.inputs[0].strides[config.axis]),
        out_step_(shapes.outputs[0].strides[config.axis]),
        columns_(std::clamp<int64_t>(kCached / size_ / kLine * kLine, kLine, kColumns)),
        kept_(keptNest(config, shapes)) {}

  void run(const RunArgs& args) const override {
    const auto* in = static_cast<const T*>(args.inputs[0]);
    auto* out = static_cast<T*>(args.outputs[0]);
    kept_.run(args.threads, columns_, grainFor(4 * size_), [&](const LoopNest::Block& block) {
      for (int64_t row = 0; row < block.rows; ++row) {
        runColumns(in + block.offsets[1] + row * block.row_strides[1],
                   out + block.offsets[0] + row * block.row_strides[0], block.length);
      }
    });
  }

 private:
  static constexpr int64_t kColumns = 256;
  static constexpr int64_t kLine = 16;       // floats of a cache line
  static constexpr int64_t kCached = 32768;  // elements of a block, which two passes write and read again
  static constexpr int64_t kPartial = 32;    // terms that are added before they go into the total
  using Row = std::array<T, kColumns>;

  // The other axes: output and input.
  static LoopNest keptNest(const Config& config, const ShapeSet& shapes) {
    return {withoutAxis(shapes.inputs[0].dims, config.axis),
            {withoutAxis(shapes.outputs[0].strides, config.axis), withoutAxis(shapes.inputs[0].strides, config.axis)}};
  }

  void runColumns(const T* in, T* out, int64_t columns) const {
    const RowReductionsOf<T>& functions = rowReductions<T>();
    alignas(64) Row greatest, sums, partial, zeros;
    greatest.fill(-std::numeric_limits<T>::infinity());
    sums.fill(T(0));
    zeros.fill(T(0));
    for (int64_t i = 0; i < size_; ++i) {
      functions.raise(in + i * in_step_, greatest.data(), columns);
    }
    for (int64_t first = 0; first < size_; first += kPartial) {
      partial.fill(T(0));
      for (int64_t i = first; i < std::min(first + kPartial, size_); ++i) {
        functions.exponentialsEach(in + i * in_step_, greatest.data(), log_ ? nullptr : out + i * out_step_,
                                   partial.data(), columns);
      }
      functions.add(partial.data(), sums.data(), columns);
    }
    for (size_t j = 0; j < static_cast<size_t>(columns); ++j) {
      sums[j] = log_ ? -std::log(sums[j]) : T(1) / sums[j];
      greatest[j] = -greatest[j];
    }
    for (int64_t i = 0; i < size_; ++i) {
      T* to = out + i * out_step_;
      if (log_) {
        functions.shiftTwice(in + i * in_step_, greatest.data(), sums.data(), to, columns);
      } else {
        functions.scaleEach(to, sums.data(), zeros.data(), to, columns);
      }
    }
  }

  bool log_;
  int64_t size_, in_step_, out_step_;
  int64_t columns_;  // of a block
  LoopNest kept_;
};

template <typename T>
std::unique_ptr<Prepared> choose(const Config& config, const ShapeSet& shapes) {
  const TensorDesc& in = shapes.inputs[0];
  if (in.dims.empty() || in.dims[config.axis] == 0) {
    return nullptr;
  }
  if (in.strides[config.axis] == 1 && shapes.outputs[0].strides[config.axis] == 1) {
    return std::make_unique<SoftmaxOfRows<T>>(config, shapes);
  }
  return SoftmaxOfColumns<T>::accepts(config, shapes) ? std::make_unique<SoftmaxOfColumns<T>>(config, shapes) : nullptr;
}

}  // namespace

CreateResult createHighway(const Problem& problem) {
  const Config config = {static_cast<size_t>(problem.attributes->getInt("axis")),
                         problem.attributes->getBool("log", false)};
  return createFloating(problem, [&](auto type) {
    return makeKernelWithFallback<Config>(config, choose<decltype(type)>, createSoftmaxReference(problem));
  });
}

}  // namespace torchtrt::kernels::softmax
