// Sum, average, maximum and minimum in float32 or float64, the former of 16-bit numbers, too, where either what is
// reduced or what is kept lies next to each other in memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "cpu/loops/fallback.h"
#include "cpu/movement/transpose.h"
#include "cpu/pointwise/rows/rows.h"
#include "cpu/reduce/axes.h"
#include "cpu/reduce/fast.h"
#include "cpu/reduce/reduce.h"
#include "cpu/simd/row_reductions.h"
#include "cpu/threads/parallel.h"
#include "kernels/fusion.h"

namespace torchtrt::kernels::reduce {
namespace {

enum class Op : uint8_t { kSum, kAverage, kMax, kMin };

template <typename T>
struct Config {
  Op op = Op::kSum;
  std::vector<int64_t> axes;
  bool batch_invariant = false;  // the number of outputs, and how they lie, may not change the order of a sum
  pointwise::BinaryRowFunctionOf<T> divide = pointwise::findBinaryRow<T>("div");

  bool isSum() const {
    return op == Op::kSum || op == Op::kAverage;
  }
};

// T is what terms are reduced in, Stored the type of input and output.
template <typename T, typename Stored>
class VectorReduce final : public Prepared, public RunsPieces, public FoldsParts {
 public:
  static bool accepts(const Config<T>& config, const ShapeSet& shapes) {
    const ReduceAxes axes(config.axes, shapes);
    return config.batch_invariant ? axes.areFastInAnyNumber() : axes.areFast() || hasFewTerms(axes);
  }

  VectorReduce(const Config<T>& config, const ShapeSet& shapes) : config_(config), axes_(config.axes, shapes) {
    if (config_.batch_invariant) {
      return;
    }
    const int64_t lines = std::max(kFewestLines, kGrain / axes_.kept.count());
    lines_of_part_ = axes_.areDenseLines() && lines < axes_.reduced.count() ? lines : 0;
    const int64_t terms = axes_.reduced.count();
    if (axes_.areDenseRows() && terms > 1 && terms <= kShort) {
      turned_ = Transpose::find(sizeof(Stored), {kRowsAtOnce, terms}, {1, kColumnStride}, {terms, 1});
    }
    if (hasFewTerms(axes_)) {
      axes_.reduced.run(0, terms, terms, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          offsets_.push_back(offsets[0] + i * steps[0]);
        }
      });
    }
  }

  void run(const RunArgs& args) const override {
    if (axes_.areFewAndLong()) {
      axes_.runParts<Stored>(args, kGrain, *this);
      return;
    }
    if (lines_of_part_ != 0) {
      runLines(args);
      return;
    }
    if (turned_) {
      parallelFor(args.threads, 0, axes_.kept.count(), std::max<int64_t>(1, kGrain / axes_.reduced.count()),
                  [&](int64_t begin, int64_t end) { reduceShortRows(args, begin, end); });
      return;
    }
    axes_.run<T, kColumns, Stored>(
        args, kGrain, [this](const Stored* from) { return reduceRows(from); },
        [this](const Stored* from, T* to, int64_t columns) { reduceColumns(from, to, columns); });
  }

  void runPiece(const RunArgs& args, int64_t begin, int64_t end) const override {
    if (turned_) {
      reduceShortRows(args, begin, end);
      return;
    }
    axes_.runPiece<T, Stored>(args, begin, end, [this](const Stored* from) { return reduceRows(from); });
  }
  bool hasDenseOutput() const override {
    return axes_.areDenseRows();
  }
  int64_t reducedTerms() const override {
    return axes_.reduced.count();
  }

  size_t scratchBytes() const override {
    if (lines_of_part_ != 0) {
      return static_cast<size_t>(partsOfLines() * axes_.kept.count()) * sizeof(T);
    }
    return axes_.areFewAndLong() ? axes_.foldedBytes() : 0;
  }
  bool folds() const override {
    return true;
  }
  double fold(const void* terms, int64_t count) const override {
    const RowReductionsOf<T>& functions = rowReductions<T>();
    const auto function = config_.isSum() ? functions.sum : config_.op == Op::kMax ? functions.max : functions.min;
    double total = startOfTotal();
    axes_.forWide<T>(static_cast<const Stored*>(terms), count,
                     [&](const T* values, int64_t n) { join(total, static_cast<double>(function(values, n))); });
    return total;
  }
  void finish(const RunArgs& args, int64_t output, const double* folded, int64_t parts) const override {
    double total = startOfTotal();
    std::for_each(folded, folded + parts, [&](double part) { join(total, part); });
    axes_.write<T, Stored>(args, output, finish(total));
  }

 private:
  static constexpr int64_t kColumns = 256;
  static constexpr int64_t kGrain = 32768;
  static constexpr int64_t kPartial = 32;  // terms that are added before they go into the total

  static constexpr int64_t kNarrow = 8;  // columns
  static constexpr int64_t kFewestLines = 64;
  static constexpr int64_t kShort = 128 / sizeof(T);          // terms of a row
  static constexpr int64_t kRowsAtOnce = 128;                 // short ones
  static constexpr int64_t kColumnStride = kRowsAtOnce + 16;  // no power of two: these share places in the cache

  int64_t partsOfLines() const {
    return (axes_.reduced.count() + lines_of_part_ - 1) / lines_of_part_;
  }

  T finish(double total) const {
    return static_cast<T>(config_.op == Op::kAverage ? total / static_cast<double>(axes_.reduced.count()) : total);
  }

  double startOfTotal() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return config_.isSum() ? 0 : config_.op == Op::kMax ? -kInfinity : kInfinity;
  }
  void join(double& total, double part) const {
    if (config_.isSum()) {
      total += part;
    } else if ((config_.op == Op::kMax ? part > total : part < total) || std::isnan(part)) {
      total = part;
    }
  }

  // One output, whose terms lie in rows.
  T reduceRows(const Stored* from) const {
    double total = startOfTotal();
    axes_.forParts(from, [&](const Stored* terms, int64_t count) { join(total, fold(terms, count)); });
    return finish(total);
  }

  // Outputs [begin, end) of dense rows that are short: rows are turned into columns, so that vectors reduce many at
  // once.
  void reduceShortRows(const RunArgs& args, int64_t begin, int64_t end) const {
    const int64_t terms = axes_.reduced.count();
    const auto update = updating();
    alignas(64) std::array<Stored, kShort * kColumnStride> columns;
    for (int64_t i = begin; i < end; i += kRowsAtOnce) {
      const Stored* from = static_cast<const Stored*>(args.inputs[0]) + i * terms;
      const int64_t rows = std::min(kRowsAtOnce, end - i);
      turnRows(from, rows, columns.data());
      axes_.writeColumns<T, kRowsAtOnce>(static_cast<Stored*>(args.outputs[0]) + i, rows, [&](T* to) {
        std::fill_n(to, rows, static_cast<T>(startOfTotal()));
        for (int64_t k = 0; k < terms; ++k) {
          axes_.forWide<T>(columns.data() + k * kColumnStride, rows,
                           [&](const T* values, int64_t n) { update(values, to, n); });
        }
        average(to, rows);
      });
    }
  }

  void turnRows(const Stored* from, int64_t rows, Stored* columns) const {
    if (rows == kRowsAtOnce) {
      turned_->run(1, reinterpret_cast<const std::byte*>(from), reinterpret_cast<std::byte*>(columns));
      return;
    }
    const int64_t terms = axes_.reduced.count();
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t k = 0; k < terms; ++k) {
        columns[k * kColumnStride + row] = from[row * terms + k];
      }
    }
  }

  // Dense lines by parts, which threads share: their totals lie in the scratch memory.
  void runLines(const RunArgs& args) const {
    const int64_t columns = axes_.kept.count(), parts = partsOfLines();
    const auto* in = static_cast<const Stored*>(args.inputs[0]);
    auto* const totals = static_cast<T*>(args.scratch);
    parallelFor(args.threads, 0, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i * lines_of_part_;
        const int64_t lines = std::min(lines_of_part_, axes_.reduced.count() - first);
        for (int64_t column = 0; column < columns; column += kColumns) {
          reduceLines(in + first * columns + column, lines, std::min(kColumns, columns - column),
                      totals + i * columns + column);
        }
      }
    });
    for (int64_t column = 0; column < columns; column += kColumns) {
      const int64_t count = std::min(kColumns, columns - column);
      axes_.writeColumns<T, kColumns>(static_cast<Stored*>(args.outputs[0]) + column, count, [&](T* to) {
        Columns gathered(*this, count);
        for (int64_t i = 0; i < parts; ++i) {
          gathered.add(totals + i * columns + column, count);
        }
        std::copy_n(gathered.totals(), count, to);
        average(to, count);
      });
    }
  }

  // The totals of some columns of dense lines. Several short lines are taken as one.
  void reduceLines(const Stored* from, int64_t lines, int64_t columns, T* to) const {
    const int64_t length = axes_.kept.count();
    const int64_t at_once = columns < length ? 1 : std::max<int64_t>(1, kColumns / length);
    Columns gathered(*this, columns * at_once);
    for (int64_t line = 0; line < lines; line += at_once) {
      const int64_t count = columns * std::min(at_once, lines - line);
      axes_.forWide<T>(from + line * length, count, [&](const T* values, int64_t n) { gathered.add(values, n); });
    }
    T* const totals = gathered.totals();
    for (int64_t i = 1; i < at_once; ++i) {
      updating()(totals + i * columns, totals, columns);
    }
    std::copy_n(totals, columns, to);
  }

  // `columns` outputs next to each other, whose terms lie next to each other too.
  void reduceColumns(const Stored* from, T* to, int64_t columns) const {
    if constexpr (std::is_same_v<T, Stored>) {
      if (columns < kNarrow && !offsets_.empty()) {
        reduceNarrow(from, to, columns);
        return;
      }
    }
    if (axes_.reduced.count() <= kPartial) {
      const auto update = updating();
      std::fill_n(to, columns, static_cast<T>(startOfTotal()));
      axes_.forTerms<T>(from, columns, [&](const T* values) { update(values, to, columns); });
    } else {
      Columns gathered(*this, columns);
      axes_.forTerms<T>(from, columns, [&](const T* values) { gathered.add(values, columns); });
      std::copy_n(gathered.totals(), columns, to);
    }
    average(to, columns);
  }

  // True if reduceNarrow() may serve: neighbours in memory belong to outputs that are neighbours.
  static bool hasFewTerms(const ReduceAxes& axes) {
    return std::is_same_v<T, Stored> && !axes.by_rows && axes.kept.count() != 0 && axes.reduced.count() != 0 &&
           axes.reduced.count() <= kPartial && axes.kept.steps()[0] == 1 && axes.kept.steps()[1] == 1;
  }

  // Few terms of few columns, one by one: preparing vectors would take longer.
  void reduceNarrow(const T* from, T* to, int64_t columns) const {
    for (int64_t column = 0; column < columns; ++column) {
      double total = startOfTotal();
      for (const int64_t offset : offsets_) {
        join(total, static_cast<double>(from[offset + column]));
      }
      to[column] = finish(total);
    }
  }

  // Divides sums by the number of terms if averages are asked for.
  void average(T* values, int64_t count) const {
    if (config_.op == Op::kAverage) {
      const auto terms = static_cast<T>(axes_.reduced.count());
      config_.divide(values, 1, &terms, 0, values, count);
    }
  }

  // Totals of up to kColumns columns.
  class Columns {
   public:
    Columns(const VectorReduce& reduce, int64_t count)
        : update_(reduce.updating()), start_(static_cast<T>(reduce.startOfTotal())), count_(count) {
      std::fill_n(totals_.begin(), count, start_);
      std::fill_n(partial_.begin(), count, start_);
    }
    // One more term for each of the first n.
    void add(const T* values, int64_t n) {
      update_(values, partial_.data(), n);
      if (++terms_ == kPartial) {
        close();
      }
    }
    T* totals() {
      close();
      return totals_.data();
    }

   private:
    void close() {
      update_(partial_.data(), totals_.data(), count_);
      std::fill_n(partial_.begin(), count_, start_);
      terms_ = 0;
    }

    void (*update_)(const T* values, T* totals, int64_t count);
    T start_;
    int64_t count_, terms_ = 0;
    alignas(64) std::array<T, kColumns> totals_;
    alignas(64) std::array<T, kColumns> partial_;
  };

  auto updating() const {
    const RowReductionsOf<T>& functions = rowReductions<T>();
    return config_.isSum() ? functions.add : config_.op == Op::kMax ? functions.raise : functions.lower;
  }

  Config<T> config_;
  ReduceAxes axes_;
  std::vector<int64_t> offsets_;     // of the terms of an output, where they are few and need no widening
  int64_t lines_of_part_ = 0;        // 0: dense lines are not cut
  std::optional<Transpose> turned_;  // kRowsAtOnce rows, where they are dense and short
};

}  // namespace

CreateResult createVectors(const Problem& problem) {
  const std::string& op = problem.attributes->getString("op");
  Op chosen = Op::kSum;
  if (op == "avg") {
    chosen = Op::kAverage;
  } else if (op == "max") {
    chosen = Op::kMax;
  } else if (op == "min") {
    chosen = Op::kMin;
  } else if (op != "sum") {
    return Refusal{"op", "has no vector form of " + op};
  }
  return createStored(problem, [&](auto type, auto stored) {
    using T = decltype(type);
    return makeKernelWithFallback<VectorReduce<T, decltype(stored)>>(
        Config<T>{chosen, problem.attributes->getInts("axes"), problem.batch_invariant},
        createReduceReference(problem));
  });
}

}  // namespace torchtrt::kernels::reduce
