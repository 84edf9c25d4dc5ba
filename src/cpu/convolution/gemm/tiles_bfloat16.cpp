// Convolution of bfloat16 by the tiles of AMX, channels-last. Scale, bias, residual and activation meet the sums in
// float32, and the result is rounded once.
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/convolution/fast.h"
#include "cpu/convolution/gemm/brain_rows.h"
#include "cpu/convolution/gemm/tile_product.h"
#include "cpu/convolution/geometry.h"
#include "cpu/storage/half_rows.h"
#include "kernels/scale.h"

namespace torchtrt::kernels::convolution {
namespace {

constexpr size_t kBias = 2, kResidual = 3;

struct Packed {
  PackedTiles tiles;
  gemm::Epilogue activation;
  FinishBrainRows finish;
};

class Tiles final : public Prepared {
 public:
  Tiles(std::shared_ptr<const Packed> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)),
        product_(std::shared_ptr<const PackedTiles>(packed_, &packed_->tiles), shapes.inputs[0], shapes.outputs[0],
                 targetsOf(packed_->tiles.geometry, shapes, kResidual), shapes.threads),
        bias_bytes_(widensBias() ? alignUp(static_cast<size_t>(packed_->tiles.geometry.outputs) * sizeof(float)) : 0) {}

  size_t scratchBytes() const override {
    return bias_bytes_ + product_.scratchBytes();
  }

  void run(const RunArgs& args) const override {
    const Geometry& g = packed_->tiles.geometry;
    const auto* bias = static_cast<const float*>(g.has_bias ? args.inputs[kBias] : nullptr);
    if (widensBias()) {
      auto* const wide = static_cast<float*>(args.scratch);
      halfRows(g.dtype).widen(args.inputs[kBias], wide, g.outputs);
      bias = wide;
    }
    const auto* scale = static_cast<const float*>(g.has_scale ? args.inputs[kScale] : nullptr);
    const auto* residual = static_cast<const uint16_t*>(g.has_residual ? args.inputs[kResidual] : nullptr);
    auto* const out = static_cast<uint16_t*>(args.outputs[0]);
    const auto at = [](auto* address, int64_t column) { return address == nullptr ? nullptr : address + column; };
    RunArgs rest = args;
    rest.scratch = static_cast<std::byte*>(args.scratch) + bias_bytes_;
    product_.run(rest, [&](const TileSums& sums) {
      packed_->finish({reinterpret_cast<const float*>(sums.sums), TileSums::kStride, sums.rows, sums.columns,
                       at(scale, sums.column), at(bias, sums.column), at(residual, sums.column), out + sums.column,
                       sums.out_offsets, sums.residual_offsets, &packed_->activation});
    });
  }

 private:
  bool widensBias() const {
    return packed_->tiles.geometry.addsBias();
  }

  std::shared_ptr<const Packed> packed_;
  TileProduct product_;
  size_t bias_bytes_;
};

}  // namespace

CreateResult createTilesBFloat16(const Problem& problem) {
  if (std::optional<Refusal> refusal = gemm::refuseTiles()) {
    return *refusal;
  }
  std::variant<Geometry, Refusal> described = describe(problem, DType::kBFloat16);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const Geometry& g = std::get<Geometry>(described);
  if (std::optional<Refusal> refusal = refuseTileLayout(problem, g, kResidual)) {
    return *refusal;
  }
  const auto* weights = static_cast<const uint16_t*>(problem.inputs[1].constant);
  auto packed = std::make_shared<Packed>();
  packed->tiles.geometry = g;
  packed->tiles.depth = depthOf(g, sizeof(uint16_t));
  packed->tiles.panels = packTiles(g, packed->tiles.depth, weights);
  packed->tiles.multiply = gemm::tileMultiply(DType::kBFloat16);
  packed->activation = gemm::makeEpilogue(g.activation, g.alpha, g.beta);
  packed->finish = finishBrainRows();
  return std::make_unique<TilesKernel<Packed, Tiles>>(std::move(packed));
}

}  // namespace torchtrt::kernels::convolution
