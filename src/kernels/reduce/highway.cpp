// Sum, average, maximum and minimum in float32 or float64, the former of 16-bit numbers, too, where either what is
// reduced or what is kept lies next to each other in memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "kernels/common/fallback.h"
#include "kernels/common/row_reductions.h"
#include "kernels/joins.h"
#include "kernels/reduce/axes.h"
#include "kernels/reduce/fast.h"
#include "kernels/reduce/reduce.h"

namespace torchtrt::kernels::reduce {
namespace {

enum class Op : uint8_t { kSum, kAverage, kMax, kMin };

struct Config {
  Op op = Op::kSum;
  std::vector<int64_t> axes;

  bool isSum() const {
    return op == Op::kSum || op == Op::kAverage;
  }
};

// T is what terms are reduced in, Stored the type of input and output.
template <typename T, typename Stored>
class HighwayReduce final : public Prepared, public RunsPieces, public FoldsParts {
 public:
  static bool accepts(const Config& config, const ShapeSet& shapes) {
    return ReduceAxes(config.axes, shapes).areFast();
  }

  HighwayReduce(const Config& config, const ShapeSet& shapes) : config_(config), axes_(config.axes, shapes) {}

  void run(const RunArgs& args) const override {
    if (axes_.areFewAndLong()) {
      axes_.runParts<Stored>(args, kGrain, *this);
      return;
    }
    axes_.run<T, kColumns, Stored>(
        args, kGrain, [this](const Stored* from) { return reduceRows(from); },
        [this](const Stored* from, T* to, int64_t columns) { reduceColumns(from, to, columns); });
  }

  void runPiece(const RunArgs& args, int64_t begin, int64_t end) const override {
    axes_.runPiece<T, Stored>(args, begin, end, [this](const Stored* from) { return reduceRows(from); });
  }
  bool hasDenseOutput() const override {
    return axes_.areDenseRows();
  }
  int64_t reducedTerms() const override {
    return axes_.reduced.count();
  }

  size_t scratchBytes() const override {
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

  // `columns` outputs next to each other, whose terms lie next to each other too.
  void reduceColumns(const Stored* from, T* to, int64_t columns) const {
    const RowReductionsOf<T>& functions = rowReductions<T>();
    alignas(64) std::array<T, kColumns> totals;
    alignas(64) std::array<T, kColumns> partial;
    const auto update = config_.isSum() ? functions.add : config_.op == Op::kMax ? functions.raise : functions.lower;
    const T start = static_cast<T>(startOfTotal());
    totals.fill(start);
    partial.fill(start);
    int64_t terms = 0;
    axes_.forTerms<T>(from, columns, [&](const T* values) {
      update(values, partial.data(), columns);
      if (++terms == kPartial) {
        update(partial.data(), totals.data(), columns);
        partial.fill(start);
        terms = 0;
      }
    });
    update(partial.data(), totals.data(), columns);
    for (int64_t i = 0; i < columns; ++i) {
      to[i] = config_.isSum() ? finish(static_cast<double>(totals[static_cast<size_t>(i)]))
                              : totals[static_cast<size_t>(i)];
    }
  }

  Config config_;
  ReduceAxes axes_;
};

}  // namespace

CreateResult createHighway(const Problem& problem) {
  const std::string& op = problem.attributes->getString("op");
  Config config;
  config.axes = problem.attributes->getInts("axes");
  if (op == "sum") {
    config.op = Op::kSum;
  } else if (op == "avg") {
    config.op = Op::kAverage;
  } else if (op == "max") {
    config.op = Op::kMax;
  } else if (op == "min") {
    config.op = Op::kMin;
  } else {
    return Refusal{"op", "has no vector form of " + op};
  }
  return createStored(problem, [&](auto type, auto stored) {
    using Chosen = HighwayReduce<decltype(type), decltype(stored)>;
    return makeKernelWithFallback<Chosen>(config, createReduceReference(problem));
  });
}

}  // namespace torchtrt::kernels::reduce
