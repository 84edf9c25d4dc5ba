// Floating matrices times constant integer weights. Few rows are bound by reading the weights, which become float32 in
// registers. For many, each block of weights becomes float32 in the cache, for the product of float32.
#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "cpu/matmul/config.h"
#include "cpu/quantized/fast.h"
#include "cpu/quantized/products/product.h"
#include "cpu/quantized/weights/operands.h"
#include "cpu/quantized/weights/weight_product.h"
#include "cpu/threads/parallel.h"
#include "kernels/restores.h"

namespace torchtrt::kernels::quantized {
namespace {

// Up to here rows are multiplied by the weights in registers.
constexpr int64_t kFewRows = 12;
// The depth of a block: short enough for exact sums, and for a block of two vectors to stay in the first-level cache.
constexpr int64_t kBlockDepth = 256;
// Rows that are worth a widened block of their own, if there are fewer panels than threads want.
constexpr int64_t kLeastRows = 64;

struct Packed {
  WeightPanels weights;
  WeightProduct product;
  gemm::Functions functions;
  gemm::Epilogue epilogue;
  gemm::Epilogue none;
  bool has_bias;
  bool has_residual;
};

int64_t rowsOf(const ShapeSet& shapes) {
  const std::vector<int64_t>& dims = shapes.outputs[0].dims;
  return std::accumulate(dims.begin(), dims.end() - 1, int64_t{1}, std::multiplies<>());
}

struct Operands {
  const float* a;
  const float* bias;
  const float* residual;
  float* out;
};

Operands operandsOf(const Packed& packed, const RunArgs& args) {
  return {static_cast<const float*>(args.inputs[0]),
          packed.has_bias ? static_cast<const float*>(args.inputs[kWeightBias]) : nullptr,
          packed.has_residual ? static_cast<const float*>(args.inputs[kWeightResidual]) : nullptr,
          static_cast<float*>(args.outputs[0])};
}

class FewRows final : public Prepared {
 public:
  FewRows(std::shared_ptr<const Packed> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)), rows_(rowsOf(shapes)) {}

  size_t scratchBytes() const override {
    const auto sums = static_cast<size_t>(rows_ * packed_->weights.groups());
    return packed_->weights.hasOffset() ? sums * sizeof(float) : 0;
  }

  void run(const RunArgs& args) const override {
    const WeightPanels& weights = packed_->weights;
    const Operands operands = operandsOf(*packed_, args);
    auto* const sums = static_cast<float*>(args.scratch);
    for (int64_t row = 0; weights.hasOffset() && row < rows_; ++row) {
      packed_->product.sum_groups(operands.a + row * weights.depth(), weights.groupSize(), weights.groups(),
                                  sums + row * weights.groups());
    }
    const auto panels = static_cast<int64_t>(weights.panels().size());
    const int64_t flops = 2 * rows_ * weights.depth() * weights.columns() / panels;  // of a panel
    const int64_t grain = std::max<int64_t>(1, gemm::kMinChunkFlops / std::max<int64_t>(1, flops));
    parallelFor(args.threads, 0, panels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        multiply(operands, sums, weights.panels()[static_cast<size_t>(p)]);
      }
    });
  }

 private:
  void multiply(const Operands& operands, const float* sums, const WeightPanel& panel) const {
    const WeightPanels& weights = packed_->weights;
    const int64_t tiles = ceilDiv(rows_, kDirectRows);  // of even shares: 5 rows are 3 + 2, not 4 + 1
    DirectProduct product{};
    product.weights = &weights;
    product.panel = &panel;
    product.a_stride = weights.depth();
    product.out_stride = weights.columns();
    product.bias = operands.bias;
    product.epilogue = &packed_->epilogue;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t row = rows_ * tile / tiles;
      const int64_t at = row * weights.columns();
      product.rows = rows_ * (tile + 1) / tiles - row;
      product.a = operands.a + row * weights.depth();
      product.group_sums = sums == nullptr ? nullptr : sums + row * weights.groups();
      product.out = operands.out + at;
      product.residual = operands.residual == nullptr ? nullptr : operands.residual + at;
      packed_->product.multiply(product);
    }
  }

  std::shared_ptr<const Packed> packed_;
  int64_t rows_;
};

class ManyRows final : public Prepared {
 public:
  ManyRows(std::shared_ptr<const Packed> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)), rows_(rowsOf(shapes)) {
    constexpr int64_t kUnitsOfThread = 4;
    threads_ = std::clamp<int64_t>(shapes.threads, 1, Slot::kMost);
    const auto panels = static_cast<int64_t>(packed_->weights.panels().size());
    const int64_t wanted = threads_ == 1 ? 1 : ceilDiv(kUnitsOfThread * threads_, panels);
    row_blocks_ = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, rows_ / kLeastRows));
  }

  size_t scratchBytes() const override {
    return slotBytes() * static_cast<size_t>(threads_);
  }

  void run(const RunArgs& args) const override {
    const Operands operands = operandsOf(*packed_, args);
    const std::vector<WeightPanel>& panels = packed_->weights.panels();
    const int64_t units = row_blocks_ * static_cast<int64_t>(panels.size());
    runUnits(args, units, threads_, slotBytes(), [&](std::byte* memory, int64_t unit) {
      const int64_t block = unit % row_blocks_;
      const int64_t row = rows_ * block / row_blocks_;
      multiply(operands, panels[static_cast<size_t>(unit / row_blocks_)], row, rows_ * (block + 1) / row_blocks_ - row,
               reinterpret_cast<float*>(memory));
    });
  }

 private:
  // Vectors of a panel that the product of float32 takes at once.
  static int64_t mostVectors() {
    return gemm::panelShape<float>().max_vectors;
  }
  size_t slotBytes() const {
    return alignUp(static_cast<size_t>(kBlockDepth * mostVectors() * packed_->product.lanes) * sizeof(float));
  }

  void multiply(const Operands& operands, const WeightPanel& panel, int64_t row, int64_t rows, float* widened) const {
    const int64_t parts = ceilDiv(panel.vectors, mostVectors());
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t first = panel.vectors * part / parts;
      multiplyVectors(operands, panel, first, panel.vectors * (part + 1) / parts - first, row, rows, widened);
    }
  }

  // The sums of a block of the depth are the residual of the next.
  void multiplyVectors(const Operands& operands, const WeightPanel& panel, int64_t first, int64_t vectors, int64_t row,
                       int64_t rows, float* widened) const {
    const WeightPanels& weights = packed_->weights;
    const int64_t column = first * packed_->product.lanes;
    gemm::PackedB::Panel block{};
    block.data = widened;
    block.vectors = static_cast<int32_t>(vectors);
    block.column = static_cast<int32_t>(panel.column + column);
    block.valid = static_cast<int32_t>(std::min(vectors * packed_->product.lanes, panel.valid - column));
    gemm::Slab slab{};
    slab.panels = {&block, 1};
    slab.rows = rows;
    slab.a_stride = weights.depth();
    slab.out = operands.out + row * weights.columns();
    slab.out_stride = weights.columns();
    slab.residual = operands.residual == nullptr ? nullptr : operands.residual + row * weights.columns();
    slab.bias = operands.bias;
    for (int64_t begin = 0; begin < weights.depth(); begin += kBlockDepth) {
      const int64_t end = std::min(begin + kBlockDepth, weights.depth());
      packed_->product.widen({&weights, &panel, first, vectors, begin, end, widened});
      slab.a = operands.a + row * weights.depth() + begin;
      slab.run = end - begin;
      slab.epilogue = end == weights.depth() ? &packed_->epilogue : &packed_->none;
      packed_->functions.slab(slab);
      slab.bias = nullptr;
      slab.residual = slab.out;
    }
  }

  std::shared_ptr<const Packed> packed_;
  int64_t rows_;
  int64_t threads_ = 1;
  int64_t row_blocks_ = 1;
};

class PanelsKernel final : public Kernel, public RestoresConstants {
 public:
  // With `batch_invariant` a row has the same bits among any number of rows: all are multiplied in registers.
  PanelsKernel(std::shared_ptr<const Packed> packed, bool batch_invariant)
      : packed_(std::move(packed)), batch_invariant_(batch_invariant) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    if (batch_invariant_ || rowsOf(shapes) <= kFewRows) {
      return std::make_unique<FewRows>(packed_, shapes);
    }
    return std::make_unique<ManyRows>(packed_, shapes);
  }
  bool needsConstant(int input) const override {
    return !restores(input);
  }
  size_t packedBytes() const override {
    return packed_->weights.bytes();
  }
  bool restores(int input) const override {
    return input == kWeights || input == kWeightScale || input == kWeightOffset;
  }
  void restore(int input, void* to, int threads) const override {
    if (input == kWeights) {
      packed_->weights.restoreWeights(to, threads);
    } else if (input == kWeightScale) {
      packed_->weights.restoreScale(static_cast<float*>(to));
    } else {
      packed_->weights.restoreOffset(static_cast<float*>(to));
    }
  }

 private:
  std::shared_ptr<const Packed> packed_;
  bool batch_invariant_;
};

}  // namespace

CreateResult createIntegerWeightPanels(const Problem& problem) {
  if (problem.outputs[0].dtype != DType::kFloat32) {
    return Refusal{"dtype", std::string("computes float32 only, not ") + toString(problem.outputs[0].dtype)};
  }
  if (std::optional<Refusal> refusal = matmul::refuseOtherOrders(problem)) {
    return *refusal;
  }
  const auto has = [&](size_t input) { return problem.inputs.size() > input && problem.inputs[input].present; };
  for (const size_t input : {kWeights, kWeightScale, kWeightOffset}) {
    if (has(input) && problem.inputs[input].constant == nullptr) {
      return Refusal{"dynamic-weights", "packs weights when it is loaded and needs them constant"};
    }
  }
  const Attributes& attributes = *problem.attributes;
  const Operand& weights = problem.inputs[kWeights];
  IntegerWeights source{};
  source.bits = attributes.getInt("bits");
  source.group_size = attributes.getInt("group_size");
  source.columns = weights.dims[0];
  source.depth = weights.dims[1] * 8 / source.bits;
  if (source.depth == 0 || source.columns == 0) {
    return Refusal{"empty", "has nothing to pack"};
  }
  if (source.group_size % weightsOfLine(source.bits) != 0) {
    return Refusal{"group-size", "takes groups of a multiple of 8 weights of 4 bits"};
  }
  source.weights = weights.constant;
  source.scale = static_cast<const float*>(problem.inputs[kWeightScale].constant);
  source.offset = has(kWeightOffset) ? static_cast<const float*>(problem.inputs[kWeightOffset].constant) : nullptr;
  const auto packed = std::make_shared<const Packed>(Packed{
      WeightPanels(source, problem.threads), weightProduct(), gemm::functions<float>(),
      gemm::makeEpilogue<float>(attributes.getString("activation", ""), attributes.getDouble("activation_alpha", 0),
                                attributes.getDouble("activation_beta", 0)),
      gemm::Epilogue(), has(kWeightBias), has(kWeightResidual)});
  return std::make_unique<PanelsKernel>(packed, problem.batch_invariant);
}

}  // namespace torchtrt::kernels::quantized
