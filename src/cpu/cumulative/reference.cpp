#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "cpu/cumulative/cumulative.h"
#include "cpu/loops/accumulate.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels {
namespace {

enum class Op : uint8_t { kSum, kProd, kMax, kMin, kLogSumExp };

struct CumulativeConfig {
  Op op = Op::kSum;
  size_t axis = 0;
};

// The lines along the axis, and the step from one element of a line to the next in each tensor.
struct Lines {
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> strides;
  std::vector<int64_t> steps;
  int64_t length = 1;

  Lines(const ShapeSet& shapes, size_t axis) : dims(shapes.inputs.at(0).dims) {
    const auto at = static_cast<std::ptrdiff_t>(axis);
    std::vector<TensorDesc> tensors = shapes.outputs;
    tensors.insert(tensors.begin(), shapes.inputs[0]);
    for (TensorDesc& tensor : tensors) {
      steps.push_back(dims.empty() ? 0 : tensor.strides.at(axis));
      if (!dims.empty()) {
        tensor.strides.erase(tensor.strides.begin() + at);
      }
      strides.push_back(tensor.strides);
    }
    if (!dims.empty()) {
      length = dims.at(axis);
      dims.erase(dims.begin() + at);
    }
  }
  int64_t offset(size_t tensor, int64_t line) const {
    return offsetAt(line, dims, strides[tensor], dims.size());
  }
};

double logAddExp(double a, double b) {
  if (a == b && std::isinf(a)) {
    return a;
  }
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

// The state that is carried along one line.
template <typename T>
struct Carry {
  explicit Carry(Op op)
      : value(op == Op::kProd        ? Accumulator<T>(1)
              : op == Op::kLogSumExp ? Accumulator<T>(-std::numeric_limits<double>::infinity())
                                     : Accumulator<T>(0)) {}

  T fold(Op op, T element, int64_t position) {
    if (op == Op::kMax || op == Op::kMin) {
      const bool wins = op == Op::kMax ? element >= extreme : element <= extreme;
      if (position == 0 || element != element || (extreme == extreme && wins)) {
        extreme = element;
        place = position;
      }
      return extreme;
    }
    const auto x = static_cast<Accumulator<T>>(element);
    if constexpr (std::is_floating_point_v<T>) {
      if (op == Op::kLogSumExp) {
        value = element != element || value != value ? std::numeric_limits<double>::quiet_NaN() : logAddExp(value, x);
        return static_cast<T>(value);
      }
    }
    value = op == Op::kSum ? value + x : value * x;
    return static_cast<T>(value);
  }

  Accumulator<T> value;
  T extreme = T(0);
  int64_t place = 0;
};

class CumulativePrepared final : public Prepared {
 public:
  CumulativePrepared(const CumulativeConfig& config, const ShapeSet& shapes)
      : op_(config.op),
        dtype_(shapes.inputs.at(0).dtype),
        lines_(shapes, config.axis),
        has_places_(shapes.outputs.size() > 1) {}

  void run(const RunArgs& args) const override {
    visitComputeType(dtype_, [&](auto type) { runAs<typename decltype(type)::type>(args); });
  }

 private:
  template <typename T>
  void runAs(const RunArgs& args) const {
    parallelFor(args.threads, 0, countOf(lines_.dims), grainFor(4 * lines_.length), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        runLine<T>(args, line);
      }
    });
  }

  template <typename T>
  void runLine(const RunArgs& args, int64_t line) const {
    const Reader<T> reader(dtype_);
    const Writer<T> writer(dtype_);
    const Writer<int64_t> place_writer(DType::kInt64);
    std::array<T, kRun> values;
    std::array<int64_t, kRun> places;
    Carry<T> carry(op_);
    for (int64_t start = 0; start < lines_.length; start += kRun) {
      const int64_t n = std::min(kRun, lines_.length - start);
      reader.read(args.inputs[0], lines_.offset(0, line) + start * lines_.steps[0], lines_.steps[0], n, values.data());
      for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(i);
        values[at] = carry.fold(op_, values[at], start + i);
        places[at] = carry.place;
      }
      writer.write(values.data(), n, args.outputs[0], lines_.offset(1, line) + start * lines_.steps[1],
                   lines_.steps[1]);
      if (has_places_) {
        place_writer.write(places.data(), n, args.outputs[1], lines_.offset(2, line) + start * lines_.steps[2],
                           lines_.steps[2]);
      }
    }
  }

  Op op_;
  DType dtype_;
  Lines lines_;
  bool has_places_;
};

Op parseOp(const std::string& text) {
  static constexpr const char* kNames[] = {"sum", "prod", "max", "min", "logsumexp"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), text);
  TORCHTRT_CHECK(found != std::end(kNames), "cumulative has no op \"" << text << "\"");
  return static_cast<Op>(found - std::begin(kNames));
}

}  // namespace

CreateResult createCumulativeReference(const Problem& problem) {
  return makeKernel<CumulativePrepared>(CumulativeConfig{parseOp(problem.attributes->getString("op")),
                                                         static_cast<size_t>(problem.attributes->getInt("axis"))});
}

}  // namespace torchtrt::kernels
