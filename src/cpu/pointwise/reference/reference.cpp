#include <algorithm>
#include <array>

#include "cpu/loops/activation.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/pointwise/pointwise.h"
#include "cpu/pointwise/reference/functions.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"
#include "kernels/scalar/integer_math.h"

namespace torchtrt::kernels {
namespace {

// Cost of an element relative to an addition: most functions here are transcendental or dispatched per run.
constexpr int64_t kCost = 8;

Refusal undefined(const Problem& problem, const std::string& op) {
  return {"dtype",
          std::string(problem.family) + " '" + op + "' is not defined for " + toString(problem.inputs.at(0).dtype)};
}

// The output and `operands` inputs, broadcast to the output's shape.
StridedLoop broadcastLoop(const ShapeSet& shapes, size_t operands) {
  const std::vector<int64_t>& dims = shapes.outputs.at(0).dims;
  std::vector<std::vector<int64_t>> strides = {shapes.outputs[0].strides};
  for (size_t i = 0; i < operands; ++i) {
    strides.push_back(broadcastStrides(shapes.inputs.at(i), dims));
  }
  return {dims, strides};
}

class PointwisePrepared : public Prepared {
 protected:
  PointwisePrepared(const ShapeSet& shapes, size_t operands)
      : loop_(broadcastLoop(shapes, operands)),
        in_dtype_(operands == 0 ? shapes.outputs[0].dtype : shapes.inputs[operands - 1].dtype),
        out_dtype_(shapes.outputs[0].dtype) {}

  // body(offsets, steps, n) over all elements, in parallel, in runs of at most kRun.
  template <typename Body>
  void forRuns(const RunArgs& args, Body&& body) const {
    parallelFor(args.threads, 0, loop_.count(), grainFor(kCost),
                [&](int64_t begin, int64_t end) { loop_.run(begin, end, kRun, body); });
  }

  // out = function(in), where function(values, n) works in place on compute-type values.
  template <typename T, typename Function>
  void mapOne(const RunArgs& args, Function&& function) const {
    const Reader<T> reader(in_dtype_);
    const Writer<T> writer(out_dtype_);
    forRuns(args, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
      alignas(64) std::array<T, kRun> values;
      reader.read(args.inputs[0], offsets[1], steps[1], n, values.data());
      function(values.data(), n);
      writer.write(values.data(), n, args.outputs[0], offsets[0], steps[0]);
    });
  }

  // out = function(a, b), where function(a, b, n) leaves its result in a.
  template <typename T, typename Function>
  void mapTwo(const RunArgs& args, Function&& function) const {
    const Reader<T> reader(in_dtype_);
    const Writer<T> writer(out_dtype_);
    forRuns(args, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
      alignas(64) std::array<T, kRun> a, b;
      reader.read(args.inputs[0], offsets[1], steps[1], n, a.data());
      reader.read(args.inputs[1], offsets[2], steps[2], n, b.data());
      function(a.data(), b.data(), n);
      writer.write(a.data(), n, args.outputs[0], offsets[0], steps[0]);
    });
  }

  StridedLoop loop_;
  DType in_dtype_, out_dtype_;
};

class ActivationPrepared final : public PointwisePrepared {
 public:
  ActivationPrepared(const ActivationSpec& spec, const ShapeSet& shapes) : PointwisePrepared(shapes, 1), spec_(spec) {}

  void run(const RunArgs& args) const override {
    visitComputeType(in_dtype_, [&](auto type) {
      using T = typename decltype(type)::type;
      const Activation<T> activation(spec_, in_dtype_);
      mapOne<T>(args, [&](T* values, int64_t n) { activation.apply(values, n); });
    });
  }

 private:
  ActivationSpec spec_;
};

class UnaryPrepared final : public PointwisePrepared {
 public:
  UnaryPrepared(const std::string& op, const ShapeSet& shapes) : PointwisePrepared(shapes, 1), op_(op) {}

  void run(const RunArgs& args) const override {
    visitComputeType(in_dtype_, [&](auto type) {
      using T = typename decltype(type)::type;
      mapOne<T>(args, findUnary<T>(op_, in_dtype_ == DType::kBool));
    });
  }

 private:
  std::string op_;
};

class CastPrepared final : public PointwisePrepared {
 public:
  CastPrepared(NoConfig, const ShapeSet& shapes) : PointwisePrepared(shapes, 1) {}

  void run(const RunArgs& args) const override {
    visitComputeType(in_dtype_, [&](auto type) {
      using T = typename decltype(type)::type;
      mapOne<T>(args, [](T*, int64_t) {});
    });
  }
};

struct ElementwiseConfig {
  std::string op;
  ActivationSpec activation;
};

class ElementwisePrepared final : public PointwisePrepared {
 public:
  ElementwisePrepared(const ElementwiseConfig& config, const ShapeSet& shapes)
      : PointwisePrepared(shapes, 2), config_(config) {}

  void run(const RunArgs& args) const override {
    visitComputeType(in_dtype_, [&](auto type) {
      using T = typename decltype(type)::type;
      const BinaryOp<T> op = findBinary<T>(config_.op);
      const Activation<T> activation(config_.activation, in_dtype_);
      mapTwo<T>(args, [&](T* a, const T* b, int64_t n) {
        op(a, b, n);
        activation.apply(a, n);
      });
    });
  }

 private:
  ElementwiseConfig config_;
};

class ParametricReluPrepared final : public PointwisePrepared {
 public:
  ParametricReluPrepared(NoConfig, const ShapeSet& shapes) : PointwisePrepared(shapes, 2) {}

  void run(const RunArgs& args) const override {
    visitComputeType(in_dtype_, [&](auto type) {
      using T = typename decltype(type)::type;
      mapTwo<T>(args, [](T* x, const T* slope, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          x[i] = x[i] > 0 ? x[i] : static_cast<T>(x[i] * slope[i]);
        }
      });
    });
  }
};

class SelectPrepared final : public PointwisePrepared {
 public:
  SelectPrepared(NoConfig, const ShapeSet& shapes)
      : PointwisePrepared(shapes, 3), size_(sizeOf(shapes.outputs[0].dtype)) {}

  void run(const RunArgs& args) const override {
    switch (size_) {
      case 1:
        return runAs<uint8_t>(args);
      case 2:
        return runAs<uint16_t>(args);
      case 4:
        return runAs<uint32_t>(args);
      default:
        return runAs<uint64_t>(args);
    }
  }

 private:
  // Elements are moved as they are; a byte of the condition that is not 0 is true.
  template <typename T>
  void runAs(const RunArgs& args) const {
    const auto* condition = static_cast<const uint8_t*>(args.inputs[0]);
    const auto* a = static_cast<const T*>(args.inputs[1]);
    const auto* b = static_cast<const T*>(args.inputs[2]);
    auto* out = static_cast<T*>(args.outputs[0]);
    forRuns(args, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
      const uint8_t* chosen = condition + offsets[1];
      const T* x = a + offsets[2];
      const T* y = b + offsets[3];
      T* to = out + offsets[0];
      const bool plain = steps[0] == 1 && steps[1] == 1;
      if (plain && steps[2] == 1 && steps[3] == 1) {
        for (int64_t i = 0; i < n; ++i) {
          to[i] = chosen[i] != 0 ? x[i] : y[i];
        }
      } else if (plain && steps[2] == 1 && steps[3] == 0) {
        for (int64_t i = 0; i < n; ++i) {
          to[i] = chosen[i] != 0 ? x[i] : *y;
        }
      } else {
        for (int64_t i = 0; i < n; ++i) {
          to[i * steps[0]] = chosen[i * steps[1]] != 0 ? x[i * steps[2]] : y[i * steps[3]];
        }
      }
    });
  }

  size_t size_;
};

struct FillConfig {
  bool is_range = false;
  double value = 0, step = 0;
  int64_t int_value = 0, int_step = 0;
};

class FillPrepared final : public PointwisePrepared {
 public:
  FillPrepared(const FillConfig& config, const ShapeSet& shapes) : PointwisePrepared(shapes, 0), config_(config) {}

  void run(const RunArgs& args) const override {
    const bool floating = isFloating(out_dtype_);
    parallelFor(args.threads, 0, loop_.count(), grainFor(1), [&](int64_t begin, int64_t end) {
      const Writer<double> floats(out_dtype_);
      const Writer<int64_t> integers(out_dtype_);
      int64_t position = begin;  // a range has one dimension, which the loop walks in order
      loop_.run(begin, end, kRun, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        alignas(64) std::array<double, kRun> doubles;
        alignas(64) std::array<int64_t, kRun> ints;
        for (int64_t i = 0; i < n; ++i) {
          const int64_t index = config_.is_range ? position + i : 0;
          doubles[i] = config_.value + static_cast<double>(index) * config_.step;
          ints[i] = wrapAdd(config_.int_value, wrapMul(index, config_.int_step));
        }
        floating ? floats.write(doubles.data(), n, args.outputs[0], offsets[0], steps[0])
                 : integers.write(ints.data(), n, args.outputs[0], offsets[0], steps[0]);
        position += n;
      });
    });
  }

 private:
  FillConfig config_;
};

}  // namespace

CreateResult createActivationReference(const Problem& problem) {
  ActivationSpec spec = {problem.attributes->getString("op"), problem.attributes->getDouble("alpha", 0),
                         problem.attributes->getDouble("beta", 0)};
  if (!isActivationDefined(spec, problem.inputs.at(0).dtype)) {
    return undefined(problem, spec.op);
  }
  return makeKernel<ActivationPrepared>(std::move(spec));
}

CreateResult createUnaryReference(const Problem& problem) {
  const std::string op = problem.attributes->getString("op");
  const DType dtype = problem.inputs.at(0).dtype;
  const bool defined = visitComputeType(
      dtype, [&](auto type) { return findUnary<typename decltype(type)::type>(op, dtype == DType::kBool) != nullptr; });
  if (!defined) {
    return undefined(problem, op);
  }
  return makeKernel<UnaryPrepared>(op);
}

CreateResult createElementwiseReference(const Problem& problem) {
  ElementwiseConfig config = {problem.attributes->getString("op"), fusedActivation(*problem.attributes)};
  const DType dtype = problem.inputs.at(0).dtype;
  const bool defined = visitComputeType(
      dtype, [&](auto type) { return findBinary<typename decltype(type)::type>(config.op) != nullptr; });
  if (!defined || !isActivationDefined(config.activation, dtype)) {
    return undefined(problem, defined ? config.activation.op : config.op);
  }
  return makeKernel<ElementwisePrepared>(std::move(config));
}

CreateResult createParametricReluReference(const Problem&) {
  return makeKernel<ParametricReluPrepared>(NoConfig{});
}

CreateResult createSelectReference(const Problem&) {
  return makeKernel<SelectPrepared>(NoConfig{});
}

CreateResult createCastReference(const Problem&) {
  return makeKernel<CastPrepared>(NoConfig{});
}

CreateResult createFillReference(const Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  return makeKernel<FillPrepared>(FillConfig{attributes.getString("op") == "arange", attributes.getDouble("value", 0),
                                             attributes.getDouble("step", 0), attributes.getInt("int_value", 0),
                                             attributes.getInt("int_step", 0)});
}

}  // namespace torchtrt::kernels
