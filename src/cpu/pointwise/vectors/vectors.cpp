// Activation, unary, elementwise and parametric_relu layers in float32 or float64 with vector functions over rows.
#include <array>
#include <memory>
#include <utility>

#include "cpu/loops/fallback.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/pointwise/fast.h"
#include "cpu/pointwise/rows/rows.h"
#include "cpu/pointwise/vectors/over_blocks.h"
#include "cpu/storage/convert.h"

namespace torchtrt::kernels::pointwise {
namespace {

constexpr int64_t kBlock = 2048;  // elements

// `count` values from anywhere, next to each other in `buffer`.
template <typename T>
const T* gather(const T* from, int64_t step, int64_t count, T* buffer) {
  copyRun(sizeof(T), reinterpret_cast<const std::byte*>(from), step, reinterpret_cast<std::byte*>(buffer), 1, count);
  return buffer;
}

template <typename T>
void scatter(const T* values, int64_t count, T* to, int64_t step) {
  copyRun(sizeof(T), reinterpret_cast<const std::byte*>(values), 1, reinterpret_cast<std::byte*>(to), step, count);
}

template <typename T>
struct UnaryConfig {
  ActivationRowsOf<T> rows;
  Arithmetic what;
};

template <typename T>
class UnaryPrepared final : public OverBlocks<UnaryPrepared<T>, kBlock> {
 public:
  UnaryPrepared(const UnaryConfig<T>& config, const ShapeSet& shapes)
      : OverBlocks<UnaryPrepared<T>, kBlock>(shapes, 1), rows_(config.rows), what_(config.what) {}

  const Arithmetic& what() const {
    return what_;
  }

  void runBlock(const RunArgs& args, const LoopNest::Block& block) const {
    const auto* in = static_cast<const T*>(args.inputs[0]);
    auto* out = static_cast<T*>(args.outputs[0]);
    for (int64_t row = 0; row < block.rows; ++row) {
      const T* from = in + block.offsets[1] + row * block.row_strides[1];
      T* to = out + block.offsets[0] + row * block.row_strides[0];
      if (block.steps[0] == 1 && block.steps[1] == 1) {
        rows_(from, to, block.length);
        continue;
      }
      alignas(64) std::array<T, kBlock> buffer;
      rows_(gather(from, block.steps[1], block.length, buffer.data()), buffer.data(), block.length);
      scatter(buffer.data(), block.length, to, block.steps[0]);
    }
  }

 private:
  ActivationRowsOf<T> rows_;
  Arithmetic what_;
};

template <typename T>
struct BinaryConfig {
  BinaryRowFunctionOf<T> function;
  ActivationRowsOf<T> activation;
  Arithmetic what;
};

template <typename T>
class BinaryPrepared final : public OverBlocks<BinaryPrepared<T>, kBlock> {
 public:
  BinaryPrepared(const BinaryConfig<T>& config, const ShapeSet& shapes)
      : OverBlocks<BinaryPrepared<T>, kBlock>(shapes, 2), config_(config) {}

  const Arithmetic& what() const {
    return config_.what;
  }

  void runBlock(const RunArgs& args, const LoopNest::Block& block) const {
    const bool plain = block.steps[0] == 1 && isPlain(block.steps[1]) && isPlain(block.steps[2]);
    const T* a = static_cast<const T*>(args.inputs[0]) + block.offsets[1];
    const T* b = static_cast<const T*>(args.inputs[1]) + block.offsets[2];
    T* out = static_cast<T*>(args.outputs[0]) + block.offsets[0];
    for (int64_t row = 0; row < block.rows; ++row) {
      if (plain) {
        config_.function(a, block.steps[1], b, block.steps[2], out, block.length);
      } else {
        runGathered(block, a, b, out);
      }
      a += block.row_strides[1];
      b += block.row_strides[2];
      out += block.row_strides[0];
    }
    if (config_.activation && plain) {
      activate(block, static_cast<T*>(args.outputs[0]) + block.offsets[0]);
    }
  }

 private:
  static bool isPlain(int64_t step) {
    return step == 0 || step == 1;
  }

  void runGathered(const LoopNest::Block& block, const T* a, const T* b, T* out) const {
    alignas(64) std::array<T, kBlock> a_buffer, b_buffer;
    gather(a, block.steps[1], block.length, a_buffer.data());
    gather(b, block.steps[2], block.length, b_buffer.data());
    config_.function(a_buffer.data(), 1, b_buffer.data(), 1, a_buffer.data(), block.length);
    if (config_.activation) {
      config_.activation(a_buffer.data(), a_buffer.data(), block.length);
    }
    scatter(a_buffer.data(), block.length, out, block.steps[0]);
  }

  void activate(const LoopNest::Block& block, T* out) const {
    if (block.row_strides[0] == block.length) {
      config_.activation(out, out, block.rows * block.length);
      return;
    }
    for (int64_t row = 0; row < block.rows; ++row) {
      config_.activation(out + row * block.row_strides[0], out + row * block.row_strides[0], block.length);
    }
  }

  BinaryConfig<T> config_;
};

}  // namespace

CreateResult createActivationVectors(const Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  const Arithmetic what{attributes.getString("op"), "", attributes.getDouble("alpha", 0),
                        attributes.getDouble("beta", 0), problem.outputs[0].dtype};
  return createFloating(problem, [&](auto type) -> CreateResult {
    using T = decltype(type);
    return makeKernel<UnaryPrepared<T>>(UnaryConfig<T>{activationRows<T>(what.op, what.alpha, what.beta), what});
  });
}

CreateResult createUnaryVectors(const Problem& problem) {
  const std::string& op = problem.attributes->getString("op");
  return createFloating(problem, [&](auto type) -> CreateResult {
    using T = decltype(type);
    UnaryConfig<T> config;
    config.rows.function = findUnaryRow<T>(op);
    if (!config.rows) {
      return Refusal{"op", "has no vector form of " + op};
    }
    config.what.op = op;
    config.what.dtype = problem.outputs[0].dtype;
    return makeKernel<UnaryPrepared<T>>(config);
  });
}

CreateResult createElementwiseVectors(const Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  const Arithmetic what{attributes.getString("op"), attributes.getString("activation", ""),
                        attributes.getDouble("activation_alpha", 0), attributes.getDouble("activation_beta", 0),
                        problem.outputs[0].dtype};
  return createFloating(problem, [&](auto type) -> CreateResult {
    using T = decltype(type);
    const BinaryRowFunctionOf<T> function = findBinaryRow<T>(what.op);
    if (function == nullptr) {
      return Refusal{"op", "has no vector form of " + what.op};
    }
    return makeKernel<BinaryPrepared<T>>(
        BinaryConfig<T>{function, activationRows<T>(what.activation, what.alpha, what.beta), what});
  });
}

CreateResult createParametricReluVectors(const Problem& problem) {
  return createFloating(problem, [](auto type) -> CreateResult {
    using T = decltype(type);
    return makeKernel<BinaryPrepared<T>>(BinaryConfig<T>{findBinaryRow<T>("parametric_relu"), {}, {}});
  });
}

}  // namespace torchtrt::kernels::pointwise
