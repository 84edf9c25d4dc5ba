#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "cpu/loops/accumulate.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/reduce/reduce.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels {
namespace {

enum class Op : uint8_t { kSum, kProd, kMax, kMin, kAvg, kAny, kAll, kVar, kStd, kNorm1, kNorm2, kLogSumExp };

std::optional<Op> parseOp(std::string_view text) {
  static constexpr std::string_view kNames[] = {"sum", "prod", "max", "min",   "avg",   "any",
                                                "all", "var",  "std", "norm1", "norm2", "logsumexp"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), text);
  return found == std::end(kNames) ? std::nullopt : std::optional(static_cast<Op>(found - std::begin(kNames)));
}

bool isForIntegers(Op op) {
  return op == Op::kSum || op == Op::kProd || op == Op::kMax || op == Op::kMin || op == Op::kAny || op == Op::kAll;
}

struct ReduceConfig {
  Op op = Op::kSum;
  std::vector<int64_t> axes;
  double correction = 1;
};

constexpr int64_t kOutputs = 64;  // outputs that are reduced together

// Outputs whose inputs start `step` elements apart.
struct Block {
  const void* data;
  int64_t offset, step, count;
};

class ReducePrepared final : public Prepared {
 public:
  ReducePrepared(const ReduceConfig& config, const ShapeSet& shapes)
      : op_(config.op),
        correction_(config.correction),
        in_dtype_(shapes.inputs.at(0).dtype),
        out_dtype_(shapes.outputs.at(0).dtype),
        kept_(keptLoop(config, shapes)),
        reduced_(reducedLoop(config, shapes.inputs[0])) {
    if ((op_ == Op::kMax || op_ == Op::kMin) && reduced_.count() == 0 && kept_.count() != 0) {
      throw EngineError(ErrorCode::kShapeArithmetic,
                        "reduce met an empty axis, whose maximum or minimum does not exist", {},
                        "reduce axes that have elements");
    }
  }

  void run(const RunArgs& args) const override {
    visitComputeType(in_dtype_, [&](auto type) {
      using T = typename decltype(type)::type;
      parallelFor(args.threads, 0, kept_.count(), grainFor(2 * reduced_.count() + 1), [&](int64_t begin, int64_t end) {
        const Writer<T> writer(out_dtype_);
        kept_.run(begin, end, kOutputs, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
          alignas(64) std::array<T, kOutputs> results;
          reduceBlock({args.inputs[0], offsets[1], steps[1], n}, results.data());
          writer.write(results.data(), n, args.outputs[0], offsets[0], steps[0]);
        });
      });
    });
  }

 private:
  static bool isReduced(const ReduceConfig& config, size_t axis) {
    return std::find(config.axes.begin(), config.axes.end(), static_cast<int64_t>(axis)) != config.axes.end();
  }

  static StridedLoop keptLoop(const ReduceConfig& config, const ShapeSet& shapes) {
    const TensorDesc& in = shapes.inputs[0];
    const TensorDesc& out = shapes.outputs[0];
    const bool keeps_dims = in.dims.size() == out.dims.size();
    std::vector<int64_t> dims, in_strides, out_strides;
    size_t out_axis = 0;
    for (size_t axis = 0; axis < in.dims.size(); ++axis) {
      if (!isReduced(config, axis)) {
        dims.push_back(in.dims[axis]);
        in_strides.push_back(in.strides[axis]);
        out_strides.push_back(out.strides.at(out_axis));
      }
      out_axis += !isReduced(config, axis) || keeps_dims ? 1 : 0;
    }
    return {dims, {out_strides, in_strides}};
  }

  static StridedLoop reducedLoop(const ReduceConfig& config, const TensorDesc& in) {
    std::vector<int64_t> dims, strides;
    for (size_t axis = 0; axis < in.dims.size(); ++axis) {
      if (isReduced(config, axis)) {
        dims.push_back(in.dims[axis]);
        strides.push_back(in.strides[axis]);
      }
    }
    return {dims, {strides}};
  }

  // step(sums[j], value) for every value behind output j, in one order whatever the block.
  template <typename T, typename Sum, typename Step>
  void accumulate(const Block& block, Sum* sums, Step&& step) const {
    const Reader<T> reader(in_dtype_);
    alignas(64) std::array<T, kRun> buffer;
    reduced_.run(0, reduced_.count(), kRun, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
      if (block.count > 1 && std::abs(block.step) < std::abs(steps[0])) {
        // Neighbouring outputs lie closer than neighbouring terms: read across the outputs.
        for (int64_t i = 0; i < n; ++i) {
          const T* values =
              reader.view(block.data, block.offset + offsets[0] + i * steps[0], block.step, block.count, buffer.data());
          for (int64_t j = 0; j < block.count; ++j) {
            step(sums[j], values[j], j);
          }
        }
        return;
      }
      for (int64_t j = 0; j < block.count; ++j) {
        const T* values =
            reader.view(block.data, block.offset + j * block.step + offsets[0], steps[0], n, buffer.data());
        for (int64_t i = 0; i < n; ++i) {
          step(sums[j], values[i], j);
        }
      }
    });
  }

  template <typename T, typename Sum, typename Step>
  void fold(const Block& block, T* results, Sum initial, Step&& step) const {
    std::array<Sum, kOutputs> sums;
    sums.fill(initial);
    accumulate<T>(block, sums.data(), [&](Sum& sum, T value, int64_t) { sum = step(sum, value); });
    for (int64_t j = 0; j < block.count; ++j) {
      results[j] = static_cast<T>(sums[static_cast<size_t>(j)]);
    }
  }

  template <typename T>
  void reduceBlock(const Block& block, T* results) const {
    using Sum = Accumulator<T>;
    switch (op_) {
      case Op::kSum:
        return fold<T>(block, results, Sum(0), [](Sum sum, T value) { return sum + static_cast<Sum>(value); });
      case Op::kProd:
        return fold<T>(block, results, Sum(1), [](Sum sum, T value) { return sum * static_cast<Sum>(value); });
      case Op::kMax:
        return fold<T>(block, results, lowest<T>(),
                       [](T best, T value) { return value > best || value != value ? value : best; });
      case Op::kMin:
        return fold<T>(block, results, highest<T>(),
                       [](T best, T value) { return value < best || value != value ? value : best; });
      case Op::kAny:
        return fold<T>(block, results, false, [](bool any, T value) { return any || value != 0; });
      case Op::kAll:
        return fold<T>(block, results, true, [](bool all, T value) { return all && value != 0; });
      default:
        if constexpr (std::is_floating_point_v<T>) {
          reduceFloating(block, results);
        }
    }
  }

  template <typename T>
  void reduceFloating(const Block& block, T* results) const {
    switch (op_) {
      case Op::kAvg: {
        const auto count = static_cast<double>(reduced_.count());
        std::array<double, kOutputs> sums{};
        accumulate<T>(block, sums.data(), [](double& sum, T value, int64_t) { sum += static_cast<double>(value); });
        return finish(block, sums, results, [count](double sum, size_t) { return sum / count; });
      }
      case Op::kNorm1:
        return fold<T>(block, results, 0.0,
                       [](double sum, T value) { return sum + std::abs(static_cast<double>(value)); });
      case Op::kNorm2: {
        std::array<double, kOutputs> sums{};
        accumulate<T>(block, sums.data(),
                      [](double& sum, T value, int64_t) { sum += static_cast<double>(value) * value; });
        return finish(block, sums, results, [](double sum, size_t) { return std::sqrt(sum); });
      }
      case Op::kLogSumExp:
        return logSumExp(block, results);
      default:
        return variance(block, results);
    }
  }

  template <typename T>
  void variance(const Block& block, T* results) const {
    const auto count = static_cast<double>(reduced_.count());
    std::array<double, kOutputs> means{}, squares{};
    accumulate<T>(block, means.data(), [](double& sum, T value, int64_t) { sum += static_cast<double>(value); });
    for (double& mean : means) {
      mean /= count;
    }
    accumulate<T>(block, squares.data(), [&](double& sum, T value, int64_t j) {
      const double difference = static_cast<double>(value) - means[static_cast<size_t>(j)];
      sum += difference * difference;
    });
    const double divisor = std::max(0.0, count - correction_);
    const bool root = op_ == Op::kStd;
    finish(block, squares, results,
           [=](double sum, size_t) { return root ? std::sqrt(sum / divisor) : sum / divisor; });
  }

  template <typename T>
  void logSumExp(const Block& block, T* results) const {
    std::array<T, kOutputs> greatest;
    fold<T>(block, greatest.data(), lowest<T>(),
            [](T best, T value) { return value > best || value != value ? value : best; });
    for (T& value : greatest) {
      value = std::isinf(value) ? T(0) : value;  // inf - inf would be NaN
    }
    std::array<double, kOutputs> sums{};
    accumulate<T>(block, sums.data(), [&](double& sum, T value, int64_t j) {
      sum += static_cast<double>(std::exp(value - greatest[static_cast<size_t>(j)]));
    });
    finish(block, sums, results,
           [&](double sum, size_t j) { return std::log(sum) + static_cast<double>(greatest[j]); });
  }

  template <typename T, typename Function>
  static void finish(const Block& block, const std::array<double, kOutputs>& sums, T* results, Function&& function) {
    for (size_t j = 0; j < static_cast<size_t>(block.count); ++j) {
      results[j] = static_cast<T>(function(sums[j], j));
    }
  }

  template <typename T>
  static T lowest() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::min();
  }
  template <typename T>
  static T highest() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }

  Op op_;
  double correction_;
  DType in_dtype_, out_dtype_;
  StridedLoop kept_;     // output and input
  StridedLoop reduced_;  // input
};

}  // namespace

CreateResult createReduceReference(const Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  const std::string& name = attributes.getString("op");
  const std::optional<Op> op = parseOp(name);
  const DType dtype = problem.inputs.at(0).dtype;
  if (!op || (!isFloating(dtype) && !isForIntegers(*op))) {
    return Refusal{"dtype", "reduce '" + name + "' is not defined for " + toString(dtype)};
  }
  return makeKernel<ReducePrepared>(
      ReduceConfig{*op, attributes.getInts("axes"), attributes.getDouble("correction", 1)});
}

}  // namespace torchtrt::kernels
