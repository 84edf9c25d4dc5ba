// Softmax and log-softmax in float32 or float64, the former of 16-bit numbers, too, where either the axis or another
// lies next to each other in memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "cpu/loops/fallback.h"
#include "cpu/loops/loop_nest.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/simd/row_reductions.h"
#include "cpu/softmax/fast.h"
#include "cpu/softmax/softmax.h"
#include "cpu/storage/wide_row.h"
#include "cpu/threads/parallel.h"
#include "kernels/fusion.h"

namespace torchtrt::kernels::softmax {
namespace {

struct Config {
  size_t axis = 0;
  bool log = false;
  HalfRows halves = {};  // empty unless operands are of 16 bits
};

// Rows that lie along memory. T is what is computed with, Stored the type of input and output: T, or uint16_t.
template <typename T, typename Stored>
class SoftmaxOfRows final : public Prepared, public RunsPieces {
 public:
  SoftmaxOfRows(const Config& config, const ShapeSet& shapes)
      : halves_(config.halves),
        log_(config.log),
        size_(shapes.inputs[0].dims[config.axis]),
        rows_(withoutAxis(shapes.inputs[0].dims, config.axis), {withoutAxis(shapes.outputs[0].strides, config.axis),
                                                                withoutAxis(shapes.inputs[0].strides, config.axis)}),
        is_dense_(lieDenseAlike(shapes.inputs[0].dims, shapes.inputs[0].strides, shapes.outputs[0].strides)) {}

  void runPiece(const RunArgs& args, int64_t begin, int64_t end) const override {
    const RowReductionsOf<T>& functions = rowReductions<T>();
    WideRow<T, Stored> row(halves_, size_);
    for (int64_t i = begin; i < end; i += size_) {
      row.run(static_cast<const Stored*>(args.inputs[0]) + i, static_cast<Stored*>(args.outputs[0]) + i, size_,
              [&](const T* from, T* to) { runRow(functions, from, to); });
    }
  }
  bool hasDenseOutput() const override {
    return is_dense_;
  }
  int64_t rowLength() const override {
    return size_;
  }

  void run(const RunArgs& args) const override {
    const RowReductionsOf<T>& functions = rowReductions<T>();
    const auto* in = static_cast<const Stored*>(args.inputs[0]);
    auto* out = static_cast<Stored*>(args.outputs[0]);
    parallelFor(args.threads, 0, rows_.count(), grainFor(4 * size_), [&](int64_t begin, int64_t end) {
      WideRow<T, Stored> row(halves_, size_);
      rows_.run(begin, end, rows_.count(), [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          row.run(in + offsets[1] + i * steps[1], out + offsets[0] + i * steps[0], size_,
                  [&](const T* from, T* to) { runRow(functions, from, to); });
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

  HalfRows halves_;
  bool log_;
  int64_t size_;
  StridedLoop rows_;
  bool is_dense_;
};

// Rows that lie side by side, so that vectors run across them; T and Stored as above.
template <typename T, typename Stored>
class SoftmaxOfColumns final : public Prepared {
 public:
  static bool accepts(const Config& config, const ShapeSet& shapes) {
    const LoopNest kept = keptNest(config, shapes);
    // Fewer than four columns between the terms of one leave vectors too empty.
    return kept.steps()[0] == 1 && kept.steps()[1] == 1 && std::abs(shapes.inputs[0].strides[config.axis]) >= 4;
  }

  SoftmaxOfColumns(const Config& config, const ShapeSet& shapes)
      : halves_(config.halves),
        log_(config.log),
        size_(shapes.inputs[0].dims[config.axis]),
        in_step_(shapes.inputs[0].strides[config.axis]),
        out_step_(shapes.outputs[0].strides[config.axis]),
        columns_(std::clamp<int64_t>(kCached / size_ / kLine * kLine, kLine, kColumns)),
        kept_(keptNest(config, shapes)) {}

  void run(const RunArgs& args) const override {
    const auto* in = static_cast<const Stored*>(args.inputs[0]);
    auto* out = static_cast<Stored*>(args.outputs[0]);
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
  struct Rows {
    alignas(64) Row greatest, sums, partial, wide, zeros;
  };

  // The other axes: output and input.
  static LoopNest keptNest(const Config& config, const ShapeSet& shapes) {
    return {withoutAxis(shapes.inputs[0].dims, config.axis),
            {withoutAxis(shapes.outputs[0].strides, config.axis), withoutAxis(shapes.inputs[0].strides, config.axis)}};
  }

  // A line across rows, in `wide` where it has to be widened.
  const T* line(const Stored* values, [[maybe_unused]] int64_t columns, [[maybe_unused]] Row& wide) const {
    if constexpr (kIsWidened) {
      halves_.widen(values, wide.data(), columns);
      return wide.data();
    } else {
      return values;
    }
  }

  void runColumns(const Stored* in, Stored* out, int64_t columns) const {
    const RowReductionsOf<T>& functions = rowReductions<T>();
    Rows rows;
    rows.greatest.fill(-std::numeric_limits<T>::infinity());
    rows.sums.fill(T(0));
    rows.zeros.fill(T(0));
    for (int64_t i = 0; i < size_; ++i) {
      functions.raise(line(in + i * in_step_, columns, rows.wide), rows.greatest.data(), columns);
    }
    for (int64_t first = 0; first < size_; first += kPartial) {
      rows.partial.fill(T(0));
      for (int64_t i = first; i < std::min(first + kPartial, size_); ++i) {
        T* exponentials = nullptr;  // where they are kept
        if constexpr (!kIsWidened) {
          exponentials = log_ ? nullptr : out + i * out_step_;
        }
        functions.exponentialsEach(line(in + i * in_step_, columns, rows.wide), rows.greatest.data(), exponentials,
                                   rows.partial.data(), columns);
      }
      functions.add(rows.partial.data(), rows.sums.data(), columns);
    }
    for (size_t j = 0; j < static_cast<size_t>(columns); ++j) {
      rows.sums[j] = log_ ? -std::log(rows.sums[j]) : T(1) / rows.sums[j];
      rows.greatest[j] = log_ ? -rows.greatest[j] : rows.greatest[j];
    }
    for (int64_t i = 0; i < size_; ++i) {
      writeLine(functions, in + i * in_step_, out + i * out_step_, columns, rows);
    }
  }

  // Exponentials are taken a second time where 16 bits could not hold them.
  void writeLine(const RowReductionsOf<T>& functions, const Stored* in, Stored* out, int64_t columns,
                 Rows& rows) const {
    T* to = nullptr;
    if constexpr (kIsWidened) {
      to = rows.wide.data();
    } else {
      to = out;
    }
    if (log_) {
      functions.shiftTwice(line(in, columns, rows.wide), rows.greatest.data(), rows.sums.data(), to, columns);
    } else {
      if constexpr (kIsWidened) {
        functions.exponentialsEach(line(in, columns, rows.wide), rows.greatest.data(), to, rows.partial.data(),
                                   columns);
      }
      functions.scaleEach(to, rows.sums.data(), rows.zeros.data(), to, columns);
    }
    if constexpr (kIsWidened) {
      halves_.narrow(to, out, columns);
    }
  }

  static constexpr bool kIsWidened = !std::is_same_v<T, Stored>;

  HalfRows halves_;
  bool log_;
  int64_t size_, in_step_, out_step_;
  int64_t columns_;  // of a block
  LoopNest kept_;
};

template <typename T, typename Stored>
std::unique_ptr<Prepared> choose(const Config& config, const ShapeSet& shapes) {
  const TensorDesc& in = shapes.inputs[0];
  if (in.dims.empty() || in.dims[config.axis] == 0) {
    return nullptr;
  }
  if (in.strides[config.axis] == 1 && shapes.outputs[0].strides[config.axis] == 1) {
    return std::make_unique<SoftmaxOfRows<T, Stored>>(config, shapes);
  }
  using Columns = SoftmaxOfColumns<T, Stored>;
  return Columns::accepts(config, shapes) ? std::make_unique<Columns>(config, shapes) : nullptr;
}

}  // namespace

CreateResult createVectors(const Problem& problem) {
  const DType dtype = problem.outputs.at(0).dtype;
  const Config config = {static_cast<size_t>(problem.attributes->getInt("axis")),
                         problem.attributes->getBool("log", false), isHalf(dtype) ? halfRows(dtype) : HalfRows{}};
  return createStored(problem, [&](auto type, auto stored) {
    return makeKernelWithFallback<Config>(config, choose<decltype(type), decltype(stored)>,
                                          createSoftmaxReference(problem));
  });
}

}  // namespace torchtrt::kernels::softmax
