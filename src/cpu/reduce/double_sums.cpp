// Products, norms and logarithms of sums of exponentials of float32 or float64, or of 16-bit numbers in float32, where
// either what is reduced or what is kept lies next to each other in memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "cpu/loops/fallback.h"
#include "cpu/reduce/axes.h"
#include "cpu/reduce/fast.h"
#include "cpu/reduce/reduce.h"
#include "cpu/reduce/wide_rows.h"
#include "cpu/simd/row_reductions.h"
#include "kernels/fusion.h"

namespace torchtrt::kernels::reduce {
namespace {

constexpr int64_t kColumns = 256;  // outputs next to each other that are taken together
constexpr int64_t kGrain = 16384;  // terms worth a thread

template <typename T>
struct Wide {
  const ReduceAxes& axes;
  WideOp op;
  WideRows<T> functions;

  T finish(double total) const {
    return static_cast<T>(op == WideOp::kNorm2 ? std::sqrt(total) : total);
  }
  double start() const {
    return op == WideOp::kProduct ? 1.0 : 0.0;
  }
  void join(double& total, double part) const {
    total = op == WideOp::kProduct ? total * part : total + part;
  }
  template <typename Stored>
  double fold(const Stored* terms, int64_t count) const {
    double total = start();
    axes.forWide<T>(terms, count, [&](const T* values, int64_t n) { join(total, functions.ofRow(values, n)); });
    return total;
  }
  template <typename Stored>
  T row(const Stored* from) const {
    double total = start();
    axes.forParts(from, [&](const Stored* terms, int64_t count) { join(total, fold(terms, count)); });
    return finish(total);
  }
  template <typename Stored>
  void columns(const Stored* from, T* to, int64_t count) const {
    alignas(64) std::array<double, kColumns> totals;
    totals.fill(start());
    axes.forTerms<T>(from, count, [&](const T* values) { functions.fold(values, totals.data(), count); });
    std::transform(totals.data(), totals.data() + count, to, [this](double total) { return finish(total); });
  }
};

template <typename T>
struct LogSumExp {
  const ReduceAxes& axes;
  const RowReductionsOf<T>& functions;

  // The greatest is taken off before; an infinite one would leave NaN.
  static T shiftOf(T greatest) {
    return std::isinf(greatest) ? T(0) : greatest;
  }
  template <typename Stored>
  T row(const Stored* from) const {
    T greatest = -std::numeric_limits<T>::infinity();
    axes.forRows<T>(from, [&](const T* values, int64_t n) {
      const T value = functions.max(values, n);
      greatest = value > greatest || std::isnan(value) ? value : greatest;
    });
    const T shift = shiftOf(greatest);
    double sum = 0;
    axes.forRows<T>(from, [&](const T* values, int64_t n) {
      sum += static_cast<double>(functions.exponentials(values, shift, nullptr, n));
    });
    return static_cast<T>(std::log(sum) + static_cast<double>(shift));
  }
  template <typename Stored>
  void columns(const Stored* from, T* to, int64_t count) const {
    constexpr int64_t kPartial = 32;  // terms that are added before they go into the total
    alignas(64) std::array<T, kColumns> shifts, sums, partial;
    shifts.fill(-std::numeric_limits<T>::infinity());
    sums.fill(0);
    partial.fill(0);
    axes.forTerms<T>(from, count, [&](const T* values) { functions.raise(values, shifts.data(), count); });
    std::transform(shifts.begin(), shifts.end(), shifts.begin(), shiftOf);
    int64_t terms = 0;
    axes.forTerms<T>(from, count, [&](const T* values) {
      functions.exponentialsEach(values, shifts.data(), nullptr, partial.data(), count);
      if (++terms % kPartial == 0) {
        functions.add(partial.data(), sums.data(), count);
        partial.fill(0);
      }
    });
    functions.add(partial.data(), sums.data(), count);
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      to[i] = static_cast<T>(std::log(static_cast<double>(sums[i])) + static_cast<double>(shifts[i]));
    }
  }
};

struct Config {
  std::optional<WideOp> op;  // none: logarithm of the sum of exponentials
  std::vector<int64_t> axes;
  bool batch_invariant = false;  // the number of outputs may not change the order of a sum
};

// T is what terms are reduced in, Stored the type of input and output.
template <typename T, typename Stored>
class WideReduce final : public Prepared, public RunsPieces, public FoldsParts {
 public:
  static bool accepts(const Config& config, const ShapeSet& shapes) {
    const ReduceAxes axes(config.axes, shapes);
    return config.batch_invariant ? axes.areFastInAnyNumber() : axes.areFast();
  }

  WideReduce(const Config& config, const ShapeSet& shapes) : op_(config.op), axes_(config.axes, shapes) {}

  void run(const RunArgs& args) const override {
    if (scratchBytes() != 0) {
      axes_.runParts<Stored>(args, kGrain, *this);
      return;
    }
    withReducer([&](const auto& reducer) {
      axes_.run<T, kColumns, Stored>(
          args, kGrain, [&](const Stored* from) { return reducer.row(from); },
          [&](const Stored* from, T* to, int64_t count) { reducer.columns(from, to, count); });
    });
  }

  void runPiece(const RunArgs& args, int64_t begin, int64_t end) const override {
    withReducer([&](const auto& reducer) {
      axes_.runPiece<T, Stored>(args, begin, end, [&](const Stored* from) { return reducer.row(from); });
    });
  }
  bool hasDenseOutput() const override {
    return axes_.areDenseRows();
  }
  int64_t reducedTerms() const override {
    return axes_.reduced.count();
  }

  size_t scratchBytes() const override {
    return folds() && axes_.areFewAndLong() ? axes_.foldedBytes() : 0;
  }
  bool folds() const override {
    return op_.has_value();
  }
  double fold(const void* terms, int64_t count) const override {
    return wide().fold(static_cast<const Stored*>(terms), count);
  }
  void finish(const RunArgs& args, int64_t output, const double* folded, int64_t parts) const override {
    const Wide<T> reducer = wide();
    double total = reducer.start();
    std::for_each(folded, folded + parts, [&](double part) { reducer.join(total, part); });
    axes_.write<T, Stored>(args, output, reducer.finish(total));
  }

 private:
  Wide<T> wide() const {
    return {axes_, *op_, wideRows<T>(*op_)};
  }
  template <typename Body>
  void withReducer(Body&& body) const {
    if (op_) {
      body(wide());
    } else {
      body(LogSumExp<T>{axes_, rowReductions<T>()});
    }
  }

  std::optional<WideOp> op_;
  ReduceAxes axes_;
};

}  // namespace

CreateResult createDoubleSums(const Problem& problem) {
  const std::string& op = problem.attributes->getString("op");
  Config config = {std::nullopt, problem.attributes->getInts("axes"), problem.batch_invariant};
  if (op == "prod") {
    config.op = WideOp::kProduct;
  } else if (op == "norm1") {
    config.op = WideOp::kNorm1;
  } else if (op == "norm2") {
    config.op = WideOp::kNorm2;
  } else if (op != "logsumexp") {
    return Refusal{"op", "has no wide form of " + op};
  }
  return createStored(problem, [&](auto type, auto stored) {
    using Chosen = WideReduce<decltype(type), decltype(stored)>;
    return makeKernelWithFallback<Chosen>(config, createReduceReference(problem));
  });
}

}  // namespace torchtrt::kernels::reduce
