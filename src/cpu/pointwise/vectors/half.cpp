// Activation, unary, elementwise and parametric_relu layers whose operands are all float16 or all bfloat16: each block
// is widened, computed by the functions of float32 and rounded once while it is in the first-level cache.
#include <algorithm>
#include <array>
#include <cstdint>

#include "cpu/loops/simple_kernel.h"
#include "cpu/pointwise/fast.h"
#include "cpu/pointwise/rows/rows.h"
#include "cpu/pointwise/vectors/over_blocks.h"
#include "cpu/storage/convert.h"
#include "cpu/storage/half_rows.h"

namespace torchtrt::kernels::pointwise {
namespace {

constexpr int64_t kBlock = 1024;  // elements

struct HalfConfig {
  HalfRows rows;
  BinaryRowFunction binary = nullptr;  // null for layers of one operand
  ActivationRows unary;                // of the one operand, or of what `binary` gives; may be empty there
};

class HalfPrepared final : public OverBlocks<HalfPrepared, kBlock> {
 public:
  HalfPrepared(const HalfConfig& config, const ShapeSet& shapes)
      : OverBlocks(shapes, operandsOf(config)), config_(config), operands_(operandsOf(config)) {}

  static Arithmetic what() {
    return {};
  }

  void runBlock(const RunArgs& args, const LoopNest::Block& block) const {
    alignas(64) Wide wide;
    alignas(64) std::array<uint16_t, kBlock> narrow;
    if (isOneRun(block)) {
      runRows(args, block, wide);
      return;
    }
    for (int64_t row = 0; row < block.rows; ++row) {
      std::array<int64_t, 2> steps{};
      for (size_t i = 0; i < operands_; ++i) {
        const auto* from =
            static_cast<const uint16_t*>(args.inputs[i]) + block.offsets[i + 1] + row * block.row_strides[i + 1];
        steps[i] = read(from, block.steps[i + 1], block.length, wide[i].data(), narrow.data());
      }
      compute(wide, steps, block.length);
      auto* to = static_cast<uint16_t*>(args.outputs[0]) + block.offsets[0] + row * block.row_strides[0];
      write(wide[0].data(), block.length, to, block.steps[0], narrow.data());
    }
  }

 private:
  using Wide = std::array<std::array<float, kBlock>, 2>;

  // True if the rows of results lie side by side, and those of an operand, too, or there is one for all.
  bool isOneRun(const LoopNest::Block& block) const {
    bool fits = block.steps[0] == 1 && block.row_strides[0] == block.length;
    for (size_t i = 1; i <= operands_; ++i) {
      const bool is_same = block.row_strides[i] == 0 && (block.steps[i] == 1 || operands_ == 2);
      fits = fits && (is_same || (block.row_strides[i] == block.length && block.steps[i] == 1)) && block.steps[i] <= 1;
    }
    return fits && block.rows > 1;
  }

  // All rows of such a block at once: short ones would cost a call of each function.
  void runRows(const RunArgs& args, const LoopNest::Block& block, Wide& wide) const {
    const int64_t count = block.rows * block.length;
    std::array<int64_t, 2> steps{};
    for (size_t i = 0; i < operands_; ++i) {
      const auto* from = static_cast<const uint16_t*>(args.inputs[i]) + block.offsets[i + 1];
      const bool is_same = block.row_strides[i + 1] == 0;
      steps[i] = block.steps[i + 1];
      config_.rows.widen(from, wide[i].data(), steps[i] == 0 ? 1 : is_same ? block.length : count);
      for (int64_t row = 1; row < block.rows && is_same && steps[i] == 1; ++row) {
        std::copy_n(wide[i].data(), block.length, wide[i].data() + row * block.length);
      }
    }
    compute(wide, steps, count);
    config_.rows.narrow(wide[0].data(), static_cast<uint16_t*>(args.outputs[0]) + block.offsets[0], count);
  }

  void compute(Wide& wide, const std::array<int64_t, 2>& steps, int64_t count) const {
    if (config_.binary != nullptr) {
      config_.binary(wide[0].data(), steps[0], wide[1].data(), steps[1], wide[0].data(), count);
    }
    if (config_.unary) {
      config_.unary(wide[0].data(), wide[0].data(), count);
    }
  }

  static size_t operandsOf(const HalfConfig& config) {
    return config.binary == nullptr ? 1 : 2;
  }

  // The step with which the values lie in `wide` then: one of two operands may be a single value.
  int64_t read(const uint16_t* from, int64_t step, int64_t count, float* wide, uint16_t* gathered) const {
    if (step == 0 && operands_ == 2) {
      config_.rows.widen(from, wide, 1);
      return 0;
    }
    if (step != 1) {
      copyRun(sizeof(uint16_t), reinterpret_cast<const std::byte*>(from), step, reinterpret_cast<std::byte*>(gathered),
              1, count);
      from = gathered;
    }
    config_.rows.widen(from, wide, count);
    return 1;
  }

  void write(const float* values, int64_t count, uint16_t* to, int64_t step, uint16_t* scattered) const {
    config_.rows.narrow(values, step == 1 ? to : scattered, count);
    if (step != 1) {
      copyRun(sizeof(uint16_t), reinterpret_cast<const std::byte*>(scattered), 1, reinterpret_cast<std::byte*>(to),
              step, count);
    }
  }

  HalfConfig config_;
  size_t operands_;
};

CreateResult createHalf(const Problem& problem, const BinaryRowFunction& binary, const ActivationRows& unary) {
  const DType dtype = problem.outputs[0].dtype;
  bool same = isHalf(dtype);
  for (const Operand& operand : problem.inputs) {
    same = same && operand.dtype == dtype;
  }
  if (!same) {
    return Refusal{"dtype", "computes float16 to float16 or bfloat16 to bfloat16 only"};
  }
  if (binary == nullptr && !unary) {
    return Refusal{"op", "has no vector form of " + problem.attributes->getString("op")};
  }
  return makeKernel<HalfPrepared>(HalfConfig{halfRows(dtype), binary, unary});
}

}  // namespace

CreateResult createActivationHalf(const Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  return createHalf(
      problem, nullptr,
      activationRows(attributes.getString("op"), attributes.getDouble("alpha", 0), attributes.getDouble("beta", 0)));
}

CreateResult createUnaryHalf(const Problem& problem) {
  ActivationRows rows;
  rows.function = findUnaryRow(problem.attributes->getString("op"));
  return createHalf(problem, nullptr, rows);
}

CreateResult createElementwiseHalf(const Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  const BinaryRowFunction binary = findBinaryRow(attributes.getString("op"));
  if (binary == nullptr) {
    return Refusal{"op", "has no vector form of " + attributes.getString("op")};
  }
  return createHalf(problem, binary,
                    activationRows(attributes.getString("activation", ""), attributes.getDouble("activation_alpha", 0),
                                   attributes.getDouble("activation_beta", 0)));
}

CreateResult createParametricReluHalf(const Problem& problem) {
  return createHalf(problem, findBinaryRow("parametric_relu"), {});
}

}  // namespace torchtrt::kernels::pointwise
