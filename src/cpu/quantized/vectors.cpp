// Quantize and dequantize by vector functions over rows, in whatever order the tensors lie.
#include <array>
#include <cstddef>

#include "cpu/loops/loop_nest.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/quantized/fast.h"
#include "cpu/quantized/step_rows.h"
#include "cpu/storage/convert.h"

namespace torchtrt::kernels::quantized {
namespace {

constexpr int64_t kBlock = 4096;   // elements of a block: those of both tensors stay in the first-level cache
constexpr int64_t kGrain = 32768;  // elements worth a thread

// Rows of From to rows of To by `function(operation, from, to, count)`.
template <typename Operation, typename From, typename To, auto Function>
class RowsPrepared final : public Prepared {
 public:
  RowsPrepared(const Operation& operation, const ShapeSet& shapes)
      : operation_(operation),
        rows_(stepRows(shapes.inputs.at(0).dtype == DType::kFloat32 ? shapes.outputs.at(0).dtype
                                                                    : shapes.inputs[0].dtype)),
        nest_(shapes.outputs.at(0).dims, {shapes.outputs[0].strides, shapes.inputs[0].strides}) {}

  void run(const RunArgs& args) const override {
    const auto* in = static_cast<const From*>(args.inputs[0]);
    auto* out = static_cast<To*>(args.outputs[0]);
    nest_.run(args.threads, kBlock, kGrain, [&](const LoopNest::Block& block) {
      for (int64_t row = 0; row < block.rows; ++row) {
        const From* from = in + block.offsets[1] + row * block.row_strides[1];
        To* to = out + block.offsets[0] + row * block.row_strides[0];
        if (block.steps[0] == 1 && block.steps[1] == 1) {
          (rows_.*Function)(operation_, from, to, block.length);
        } else {
          runGathered(block, from, to);
        }
      }
    });
  }

 private:
  void runGathered(const LoopNest::Block& block, const From* from, To* to) const {
    alignas(64) std::array<From, kBlock> inputs;
    alignas(64) std::array<To, kBlock> results;
    copyRun(sizeof(From), reinterpret_cast<const std::byte*>(from), block.steps[1],
            reinterpret_cast<std::byte*>(inputs.data()), 1, block.length);
    (rows_.*Function)(operation_, inputs.data(), results.data(), block.length);
    copyRun(sizeof(To), reinterpret_cast<const std::byte*>(results.data()), 1, reinterpret_cast<std::byte*>(to),
            block.steps[0], block.length);
  }

  Operation operation_;
  StepRows rows_;
  LoopNest nest_;
};

}  // namespace

// Steps are bytes here: StepRows knows whether they have signs.
CreateResult createQuantizeVectors(const Problem& problem) {
  using QuantizePrepared = RowsPrepared<Quantizer, float, uint8_t, &StepRows::quantize>;
  return makeKernel<QuantizePrepared>(quantizerOf(*problem.attributes));
}

CreateResult createDequantizeVectors(const Problem& problem) {
  using DequantizePrepared = RowsPrepared<Dequantizer, uint8_t, float, &StepRows::dequantize>;
  return makeKernel<DequantizePrepared>(dequantizerOf(*problem.attributes));
}

}  // namespace torchtrt::kernels::quantized
