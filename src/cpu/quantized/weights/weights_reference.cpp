// Integer weights by their definition: they become a float32 matrix, and the reference of the product multiplies it.
#include <cstdint>
#include <memory>
#include <utility>

#include "base/align.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/matmul/matmul.h"
#include "cpu/quantized/quantized.h"
#include "cpu/quantized/weights/operands.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels {
namespace {

using quantized::kWeightBias;
using quantized::kWeightOffset;
using quantized::kWeightResidual;
using quantized::kWeights;
using quantized::kWeightScale;

constexpr int64_t kCost = 8;  // of a weight, relative to an addition

struct WeightConfig {
  std::shared_ptr<const Kernel> product;  // of floating matrices, the second transposed
  int64_t bits = 8;
  int64_t group_size = 1;
  bool has_offset = false;
};

template <typename T>
T elementOf(const void* data, const TensorDesc& desc, int64_t row, int64_t column) {
  return static_cast<const T*>(data)[row * desc.strides[0] + column * desc.strides[1]];
}

TensorDesc orNone(const ShapeSet& shapes, size_t operand) {
  return operand < shapes.inputs.size() ? shapes.inputs[operand] : TensorDesc();
}

class IntegerWeightPrepared final : public Prepared {
 public:
  IntegerWeightPrepared(const WeightConfig& config, const ShapeSet& shapes)
      : config_(config),
        weights_(shapes.inputs.at(kWeights)),
        scale_(shapes.inputs.at(kWeightScale)),
        offset_(orNone(shapes, kWeightOffset)),
        operands_(shapes.inputs.size()),
        matrix_{DType::kFloat32, {weights_.dims[0], weights_.dims[1] * 8 / config.bits}, {}} {
    matrix_.strides = denseStrides(matrix_.dims);
    ShapeSet floating;
    floating.inputs = {shapes.inputs[0], matrix_, orNone(shapes, kWeightBias), orNone(shapes, kWeightResidual)};
    floating.outputs = shapes.outputs;
    floating.threads = shapes.threads;
    product_ = config.product->prepare(floating);
  }

  size_t scratchBytes() const override {
    return matrixBytes() + product_->scratchBytes();
  }

  void run(const RunArgs& args) const override {
    auto* matrix = static_cast<float*>(args.scratch);
    parallelFor(args.threads, 0, matrix_.dims[0], grainFor(kCost * matrix_.dims[1]), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        for (int64_t k = 0; k < matrix_.dims[1]; ++k) {
          matrix[row * matrix_.dims[1] + k] = valueOf(args, row, k);
        }
      }
    });
    const auto given = [&](size_t operand) { return operand < operands_ ? args.inputs[operand] : nullptr; };
    const void* const floating[] = {args.inputs[0], matrix, given(kWeightBias), given(kWeightResidual)};
    RunArgs of_product = args;
    of_product.inputs = floating;
    of_product.scratch = static_cast<std::byte*>(args.scratch) + matrixBytes();
    product_->run(of_product);
  }

 private:
  size_t matrixBytes() const {
    return alignUp(static_cast<size_t>(countOf(matrix_.dims)) * sizeof(float));
  }

  float valueOf(const RunArgs& args, int64_t row, int64_t k) const {
    const int64_t group = k / config_.group_size;
    const float scaled = static_cast<float>(integerOf(args.inputs[kWeights], row, k)) *
                         elementOf<float>(args.inputs[kWeightScale], scale_, row, group);
    return config_.has_offset ? scaled + elementOf<float>(args.inputs[kWeightOffset], offset_, row, group) : scaled;
  }

  int integerOf(const void* data, int64_t row, int64_t k) const {
    if (config_.bits == 8) {
      return elementOf<int8_t>(data, weights_, row, k);
    }
    const uint8_t both = elementOf<uint8_t>(data, weights_, row, k / 2);
    const int half = k % 2 == 0 ? both & 15 : both >> 4;
    return half < 8 ? half : half - 16;
  }

  WeightConfig config_;
  TensorDesc weights_, scale_, offset_;
  size_t operands_;
  TensorDesc matrix_;
  std::unique_ptr<Prepared> product_;
};

}  // namespace

CreateResult createIntegerWeightMatrixMultiplyReference(const Problem& problem) {
  const auto given = [&](size_t operand) {
    return operand < problem.inputs.size() ? problem.inputs[operand] : Operand();
  };
  Attributes attributes = *problem.attributes;
  const int64_t bits = attributes.getInt("bits");
  attributes.set("transpose_b", true);
  Operand matrix = given(kWeights);
  matrix.dtype = DType::kFloat32;
  matrix.constant = nullptr;
  Problem floating = problem;
  floating.family = "matrix_multiply";
  floating.attributes = &attributes;
  floating.inputs = {problem.inputs.at(0), matrix, given(kWeightBias), given(kWeightResidual)};
  CreateResult product = createMatrixMultiplyReference(floating);
  if (auto* refusal = std::get_if<Refusal>(&product)) {
    return std::move(*refusal);
  }
  return makeKernel<IntegerWeightPrepared>(WeightConfig{std::move(std::get<std::unique_ptr<Kernel>>(product)), bits,
                                                        attributes.getInt("group_size"), given(kWeightOffset).present});
}

}  // namespace torchtrt::kernels
