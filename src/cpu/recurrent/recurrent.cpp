#include <algorithm>
#include <cmath>
#include <memory>

#include "base/align.h"
#include "base/check.h"
#include "cpu/gemm/packed_gemm.h"
#include "cpu/loops/fallback.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/recurrent/gates.h"
#include "cpu/recurrent/recurrent.h"
#include "cpu/simd/row_reductions.h"
#include "cpu/storage/dense.h"

namespace torchtrt::kernels {
namespace {

enum class Op : uint8_t { kLstm, kGru, kTanh, kRelu };

struct RecurrentConfig {
  Op op = Op::kLstm;
  bool reverse = false;
  bool vectorized = false;                       // float32 only
  gemm::RowOrder order = gemm::RowOrder::kFast;  // of the packed product
  std::shared_ptr<const gemm::PackedB> packed;   // of constant weights, where vectorized
};

template <typename T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

// Memory handed out piece by piece.
class Arena {
 public:
  explicit Arena(void* memory) : next_(static_cast<std::byte*>(memory)) {}
  void* take(size_t bytes) {
    void* result = next_;
    next_ += alignUp(bytes);
    return result;
  }

 private:
  std::byte* next_;
};

class RecurrentPrepared final : public Prepared {
 public:
  RecurrentPrepared(const RecurrentConfig& config, const ShapeSet& shapes) : config_(config), outputs_(shapes.outputs) {
    for (const TensorDesc& input : shapes.inputs) {
      operands_.emplace_back(input);
    }
    const std::vector<int64_t>& dims = shapes.inputs.at(0).dims;
    steps_ = dims.at(0);
    batch_ = dims.at(1);
    gates_ = dims.at(2);
    hidden_ = shapes.inputs.at(1).dims.at(1);
    element_ = computeSize(shapes.inputs[0].dtype);
    if (config_.packed && batch_ > 0) {
      blocking_ = gemm::chooseBlocking(*config_.packed, batch_, shapes.threads);
    }
  }

  size_t scratchBytes() const override {
    size_t bytes = 0;
    for (const DenseOperand& operand : operands_) {
      bytes += operand.scratchBytes();
    }
    return bytes + 2 * alignUp(stateBytes()) + alignUp(gateBytes());
  }

  void run(const RunArgs& args) const override {
    if (outputs_.at(0).dtype == DType::kFloat64) {
      runAs<double>(args);
    } else {
      runAs<float>(args);
    }
  }

 private:
  size_t stateBytes() const {
    return static_cast<size_t>(batch_ * hidden_) * element_;
  }
  size_t gateBytes() const {
    return static_cast<size_t>(batch_ * gates_) * element_;
  }

  template <typename T>
  const T* dense(const RunArgs& args, size_t operand, Arena& arena) const {
    if (operand >= operands_.size() || !args.inputs[operand]) {
      return nullptr;
    }
    void* scratch = arena.take(operands_[operand].scratchBytes());
    return operands_[operand].dense<T>(args.threads, args.inputs[operand], scratch);
  }

  template <typename T>
  struct State {
    const T *input, *weights, *bias;
    T *hidden, *cell, *gates;
  };

  template <typename T>
  void runAs(const RunArgs& args) const {
    Arena arena(args.scratch);
    State<T> state;
    state.input = dense<T>(args, 0, arena);
    state.weights = dense<T>(args, 1, arena);
    state.bias = dense<T>(args, 2, arena);
    const T* hidden = dense<T>(args, 3, arena);
    const T* cell = dense<T>(args, 4, arena);
    state.hidden = static_cast<T*>(arena.take(stateBytes()));
    state.cell = static_cast<T*>(arena.take(stateBytes()));
    state.gates = static_cast<T*>(arena.take(gateBytes()));
    std::copy_n(hidden, batch_ * hidden_, state.hidden);
    if (cell) {
      std::copy_n(cell, batch_ * hidden_, state.cell);
    }
    for (int64_t step = 0; step < steps_; ++step) {
      const int64_t t = config_.reverse ? steps_ - 1 - step : step;
      multiply(args.threads, state);
      updateAll(args.threads, state, t);
      write(args.outputs[0], outputs_[0], t * outputs_[0].strides[0], 1, state.hidden);
    }
    write(args.outputs[1], outputs_[1], 0, 0, state.hidden);
    if (outputs_.size() > 2) {
      write(args.outputs[2], outputs_[2], 0, 0, state.cell);
    }
  }

  // gates = hidden x weights transposed + bias
  template <typename T>
  void multiply(int threads, const State<T>& state) const {
    if constexpr (std::is_same_v<T, float>) {
      if (config_.vectorized) {
        multiplyVectorized(threads, state);
        return;
      }
    }
    parallelFor(threads, 0, batch_ * gates_, grainFor(hidden_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* row = state.hidden + i / gates_ * hidden_;
        const T* weights = state.weights + i % gates_ * hidden_;
        double sum = state.bias ? static_cast<double>(state.bias[i % gates_]) : 0;
        for (int64_t k = 0; k < hidden_; ++k) {
          sum += static_cast<double>(row[k]) * static_cast<double>(weights[k]);
        }
        state.gates[i] = static_cast<T>(sum);
      }
    });
  }

  void multiplyPacked(int threads, const State<float>& state) const {
    const gemm::Functions functions = gemm::functions(config_.order);
    static const gemm::Epilogue none;
    gemm::Slab slab{};
    slab.rows = batch_;
    slab.run = hidden_;
    slab.a = state.hidden;
    slab.a_stride = hidden_;
    slab.out = state.gates;
    slab.out_stride = gates_;
    slab.bias = state.bias;
    slab.epilogue = &none;
    parallelFor(threads, 0, blocking_.units(), blocking_.grain, [&](int64_t begin, int64_t end) {
      gemm::runUnits(*config_.packed, blocking_, functions, slab, begin, end);
    });
  }

  // A row of weights serves the whole batch while it is at hand.
  void multiplyVectorized(int threads, const State<float>& state) const {
    if (config_.packed) {
      multiplyPacked(threads, state);
      return;
    }
    const auto dot = rowReductions().dot;
    parallelFor(threads, 0, gates_, grainFor(hidden_ * batch_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t n = 0; n < batch_; ++n) {
          state.gates[n * gates_ + i] = dot(state.hidden + n * hidden_, state.weights + i * hidden_, hidden_) +
                                        (state.bias ? state.bias[i] : 0.0F);
        }
      }
    });
  }

  template <typename T>
  void updateAll(int threads, const State<T>& state, int64_t t) const {
    if constexpr (std::is_same_v<T, float>) {
      if (config_.vectorized) {
        updateVectorized(threads, state, t);
        return;
      }
    }
    parallelFor(threads, 0, batch_ * hidden_, grainFor(64), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        update(state, t, i / hidden_, i % hidden_);
      }
    });
  }

  void updateVectorized(int threads, const State<float>& state, int64_t t) const {
    const GateRows& rows = gateRows();
    const GateFunction functions[] = {rows.lstm, rows.gru, rows.tanh, rows.relu};
    const GateFunction function = functions[static_cast<size_t>(config_.op)];
    parallelFor(threads, 0, batch_, grainFor(8 * hidden_), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        float* cell = config_.op == Op::kLstm ? state.cell + n * hidden_ : nullptr;
        function(state.input + (t * batch_ + n) * gates_, state.gates + n * gates_, hidden_, state.hidden + n * hidden_,
                 cell);
      }
    });
  }

  // One element of the state.
  template <typename T>
  void update(const State<T>& state, int64_t t, int64_t n, int64_t j) const {
    const T* x = state.input + (t * batch_ + n) * gates_ + j;
    const T* h = state.gates + n * gates_ + j;
    T& hidden = state.hidden[n * hidden_ + j];
    switch (config_.op) {
      case Op::kLstm: {
        const auto gate = [&](int64_t g) { return x[g * hidden_] + h[g * hidden_]; };
        T& cell = state.cell[n * hidden_ + j];
        cell = sigmoid(gate(1)) * cell + sigmoid(gate(0)) * std::tanh(gate(2));
        hidden = sigmoid(gate(3)) * std::tanh(cell);
        return;
      }
      case Op::kGru: {
        const T reset = sigmoid(x[0] + h[0]);
        const T kept = sigmoid(x[hidden_] + h[hidden_]);
        const T fresh = std::tanh(x[2 * hidden_] + reset * h[2 * hidden_]);
        hidden = (hidden - fresh) * kept + fresh;
        return;
      }
      case Op::kTanh:
        hidden = std::tanh(x[0] + h[0]);
        return;
      case Op::kRelu:
        hidden = x[0] + h[0] < 0 ? T(0) : x[0] + h[0];
        return;
    }
  }

  // [N,H] into an output whose batch axis is `axis`.
  template <typename T>
  void write(void* out, const TensorDesc& desc, int64_t offset, size_t axis, const T* state) const {
    const Writer<T> writer(desc.dtype);
    for (int64_t n = 0; n < batch_; ++n) {
      writer.write(state + n * hidden_, hidden_, out, offset + n * desc.strides[axis], desc.strides[axis + 1]);
    }
  }

  RecurrentConfig config_;
  std::vector<TensorDesc> outputs_;
  std::vector<DenseOperand> operands_;
  gemm::Blocking blocking_;
  int64_t steps_ = 0, batch_ = 0, gates_ = 0, hidden_ = 0;
  size_t element_ = 0;
};

Op parseOp(const std::string& text) {
  static constexpr const char* kNames[] = {"lstm", "gru", "rnn_tanh", "rnn_relu"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), text);
  TORCHTRT_CHECK(found != std::end(kNames), "recurrent has no op \"" << text << "\"");
  return static_cast<Op>(found - std::begin(kNames));
}

RecurrentConfig configOf(const Problem& problem) {
  RecurrentConfig config;
  config.op = parseOp(problem.attributes->getString("op"));
  config.reverse = problem.attributes->getBool("reverse", false);
  return config;
}

// Holds constant weights packed.
class PackedRecurrentKernel final : public Kernel {
 public:
  explicit PackedRecurrentKernel(RecurrentConfig config) : config_(std::move(config)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<RecurrentPrepared>(config_, shapes);
  }
  bool needsConstant(int input) const override {
    return input != 1;
  }
  size_t packedBytes() const override {
    return config_.packed->bytes();
  }
  bool acceptsStrides(int, const TensorDesc&) const override {
    return true;
  }

 private:
  RecurrentConfig config_;
};

}  // namespace

CreateResult createRecurrentVectors(const Problem& problem) {
  if (const char* dtype = otherThanFloat32(problem)) {
    return float32Only(dtype);
  }
  RecurrentConfig config = configOf(problem);
  config.vectorized = true;
  config.order = gemm::rowOrder(problem.batch_invariant);
  const Operand& weights = problem.inputs[1];
  if (weights.constant == nullptr || weights.dims[0] == 0 || weights.dims[1] == 0) {
    return makeKernel<RecurrentPrepared>(config);
  }
  const auto* values = static_cast<const float*>(weights.constant);
  const int64_t gates = weights.dims[0], hidden = weights.dims[1];
  config.packed = std::make_shared<gemm::PackedB>(
      hidden, gates, hidden, [values](int64_t k) { return values + k; }, problem.threads);
  return CreateResult(std::make_unique<PackedRecurrentKernel>(std::move(config)));
}

CreateResult createRecurrentReference(const Problem& problem) {
  return makeKernel<RecurrentPrepared>(configOf(problem));
}

}  // namespace torchtrt::kernels
