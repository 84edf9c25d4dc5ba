// Sums, products, maxima and minima of integers, where either what is reduced or what is kept lies next to each other
// in memory. Equal to the reference in every bit.
#include <algorithm>
#include <string>

#include "cpu/loops/fallback.h"
#include "cpu/reduce/axes.h"
#include "cpu/reduce/fast.h"
#include "cpu/reduce/integer_rows.h"
#include "cpu/reduce/reduce.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::reduce {
namespace {

template <typename T>
struct Config {
  IntegerFolds<T> folds;
  std::vector<int64_t> axes;
};

template <typename T>
class IntegerReduce final : public Prepared {
 public:
  static bool accepts(const Config<T>& config, const ShapeSet& shapes) {
    return ReduceAxes(config.axes, shapes).areFast();
  }

  IntegerReduce(const Config<T>& config, const ShapeSet& shapes) : folds_(config.folds), axes_(config.axes, shapes) {}

  void run(const RunArgs& args) const override {
    constexpr int64_t kColumns = 512;  // outputs that stay in the first-level cache
    if (axes_.areFewAndLong()) {
      runParts(args);
      return;
    }
    axes_.run<T, kColumns>(
        args, kGrain,
        [this](const T* from) {
          T total = folds_.start;
          axes_.forRows<T>(from, [&](const T* row, int64_t n) { total = folds_.row(row, n, total); });
          return total;
        },
        [this](const T* from, T* to, int64_t columns) {
          std::fill_n(to, columns, folds_.start);
          axes_.forTerms<T>(from, columns, [&](const T* terms) { folds_.columns(terms, to, columns); });
        });
  }

  size_t scratchBytes() const override {
    return axes_.areFewAndLong() ? static_cast<size_t>(axes_.kept.count() * partsOfRow()) * sizeof(T) : 0;
  }

 private:
  static constexpr int64_t kGrain = 32768;  // terms worth a thread, and those of a part of a long row

  int64_t partsOfRow() const {
    return (axes_.reduced.count() + kGrain - 1) / kGrain;
  }

  // Long dense rows, whose parts threads share: their totals lie in the scratch memory.
  void runParts(const RunArgs& args) const {
    const int64_t parts = partsOfRow(), terms = axes_.reduced.count();
    auto* const totals = static_cast<T*>(args.scratch);
    parallelFor(args.threads, 0, axes_.kept.count() * parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % parts * kGrain;
        const T* const from = static_cast<const T*>(args.inputs[0]) + i / parts * terms + first;
        totals[i] = folds_.row(from, std::min(kGrain, terms - first), folds_.start);
      }
    });
    for (int64_t i = 0; i < axes_.kept.count(); ++i) {
      axes_.write<T, T>(args, i, folds_.row(totals + i * parts, parts, folds_.start));
    }
  }

  IntegerFolds<T> folds_;
  ReduceAxes axes_;
};

template <typename T>
CreateResult createOf(const Problem& problem) {
  const std::string& op = problem.attributes->getString("op");
  const IntegerFolds<T> folds = integerFolds<T>(op);
  if (folds.row == nullptr) {
    return Refusal{"op", "has no fold of " + op};
  }
  return makeKernelWithFallback<IntegerReduce<T>>(Config<T>{folds, problem.attributes->getInts("axes")},
                                                  createReduceReference(problem));
}

}  // namespace

CreateResult createIntegers(const Problem& problem) {
  const DType dtype = problem.inputs.at(0).dtype;
  if (dtype == problem.outputs.at(0).dtype) {
    switch (dtype) {
      case DType::kInt64:
        return createOf<int64_t>(problem);
      case DType::kInt32:
        return createOf<int32_t>(problem);
      case DType::kInt16:
        return createOf<int16_t>(problem);
      case DType::kInt8:
        return createOf<int8_t>(problem);
      case DType::kUInt8:
        return createOf<uint8_t>(problem);
      default:
        break;
    }
  }
  return Refusal{"dtype", std::string("folds integers to their own dtype only, not ") + toString(dtype)};
}

}  // namespace torchtrt::kernels::reduce
