// Quantized matrix multiplication with a constant b that is packed once.
#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "cpu/matmul/config.h"
#include "cpu/quantized/fast.h"
#include "cpu/quantized/products/product.h"
#include "cpu/quantized/products/widen.h"

namespace torchtrt::kernels::quantized {
namespace {

struct Packed {
  PackedProduct product;
  WidenFunction widen;
  int zero_point;
};

// Rows that lie one behind the other.
class DenseRows final : public Rows {
 public:
  DenseRows(const Packed& packed)
      : widen_(packed.widen),
        zero_point_(packed.zero_point),
        depth_(packed.product.groups[0].depth()),
        columns_(packed.product.groups[0].columns()) {}

  void widen(const void* input, int64_t, int64_t first, int64_t count, int64_t begin, int64_t end, int16_t* to,
             int64_t stride) const override {
    const bool whole = end - begin == depth_ && stride == depth_;
    int64_t offset = first * depth_ + begin;
    WidenedRuns run = {input, &offset, 1, whole ? count * depth_ : end - begin, zero_point_, to};
    if (whole) {
      widen_(run);
      return;
    }
    for (int64_t r = 0; r < count; ++r, offset += depth_, run.to += stride) {
      widen_(run);
      if (run.length % 2 != 0) {
        run.to[run.length] = 0;
      }
    }
  }
  void find(int64_t first, int64_t count, int64_t* out, int64_t* residual) const override {
    for (int64_t r = 0; r < count; ++r) {
      out[r] = residual[r] = (first + r) * columns_;
    }
  }

 private:
  WidenFunction widen_;
  int zero_point_;
  int64_t depth_;
  int64_t columns_;
};

class MatmulKernel final : public Kernel {
 public:
  explicit MatmulKernel(std::shared_ptr<const Packed> packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    const std::vector<int64_t>& dims = shapes.outputs[0].dims;
    const int64_t rows = std::accumulate(dims.begin(), dims.end() - 1, int64_t{1}, std::multiplies<>());
    return std::make_unique<PreparedProduct>(std::shared_ptr<const PackedProduct>(packed_, &packed_->product),
                                             std::make_unique<DenseRows>(*packed_), rows, shapes.threads);
  }
  bool needsConstant(int input) const override {
    return input != kKernel;
  }
  size_t packedBytes() const override {
    return packed_->product.bytes();
  }

 private:
  std::shared_ptr<const Packed> packed_;
};

}  // namespace

CreateResult createMatmulIntegerGemm(const Problem& problem) {
  if (std::optional<Refusal> refusal = matmul::refuseOtherOrders(problem)) {
    return *refusal;
  }
  const Operand& b = problem.inputs[kKernel];
  if (b.constant == nullptr) {
    return Refusal{"dynamic-weights", "packs b when it is loaded and needs it constant"};
  }
  const int64_t depth = b.dims[0];
  const int64_t columns = b.dims[1];
  if (depth == 0 || columns == 0) {
    return Refusal{"empty", "has nothing to pack"};
  }
  const auto* weights = static_cast<const int8_t*>(b.constant);
  std::vector<PackedIntegers> groups;
  const std::function<const int8_t*(int64_t)> row = [&](int64_t k) { return weights + k * columns; };
  groups.emplace_back(depth, columns, 1, row, problem.threads);
  return std::make_unique<MatmulKernel>(std::make_shared<const Packed>(
      Packed{PackedProduct(problem, std::move(groups)), widenFunction(problem.inputs[kInput].dtype),
             static_cast<int>(problem.attributes->getInt("zero_point", 0))}));
}

}  // namespace torchtrt::kernels::quantized
