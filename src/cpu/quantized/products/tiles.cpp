// Quantized convolution by the tiles of AMX, channels-last: exact sums, and the bits of the reference behind them.
#include <cstdint>
#include <memory>
#include <utility>

#include "cpu/convolution/gemm/tile_product.h"
#include "cpu/convolution/geometry.h"
#include "cpu/quantized/fast.h"
#include "cpu/quantized/requantization.h"
#include "cpu/quantized/requantize_rows.h"
#include "device/constants.h"

namespace torchtrt::kernels::quantized {
namespace {

using convolution::Geometry;
using convolution::PackedTiles;
using convolution::TileSums;

struct Packed {
  PackedTiles tiles;
  Requantizer requantizer;
};

class Tiles final : public Prepared {
 public:
  Tiles(std::shared_ptr<const Packed> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)),
        product_(std::shared_ptr<const PackedTiles>(packed_, &packed_->tiles), shapes.inputs[kInput], shapes.outputs[0],
                 convolution::targetsOf(packed_->tiles.geometry, shapes, kResidual), shapes.threads) {}

  size_t scratchBytes() const override {
    return product_.scratchBytes();
  }
  void run(const RunArgs& args) const override {
    product_.run(args, [&](const TileSums& sums) {
      RequantizedRows rows{};
      rows.sums = sums.sums;
      rows.sums_stride = TileSums::kStride;
      rows.rows = sums.rows;
      rows.columns = sums.columns;
      rows.out_offsets = sums.out_offsets;
      rows.residual_offsets = sums.residual_offsets;
      packed_->requantizer.run(args, sums.column, rows);
    });
  }

 private:
  std::shared_ptr<const Packed> packed_;
  convolution::TileProduct product_;
};

// Padding is the zero point, too, so each output subtracts the zero point times all weights of its column. Sums wrap.
std::shared_ptr<int32_t> beginsOf(const int8_t* weights, const Geometry& g, uint32_t zero_point, int64_t columns) {
  const auto bytes = static_cast<size_t>(columns) * sizeof(int32_t);
  auto begins = std::static_pointer_cast<int32_t>(device::allocateConstant(bytes, "packing weights"));
  const int64_t depth = g.channels * g.taps();
  for (int64_t n = 0; n < columns; ++n) {
    uint32_t sum = 0;
    for (int64_t k = 0; n < g.outputs && k < depth; ++k) {
      sum += static_cast<uint32_t>(weights[n * depth + k]);
    }
    begins.get()[n] = static_cast<int32_t>(0U - zero_point * sum);
  }
  return begins;
}

}  // namespace

CreateResult createConvolutionTiles(const Problem& problem) {
  if (std::optional<Refusal> refusal = gemm::refuseTiles()) {
    return *refusal;
  }
  std::variant<Geometry, Refusal> described = convolution::describeQuantized(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const Geometry& g = std::get<Geometry>(described);
  if (std::optional<Refusal> refusal = convolution::refuseTileLayout(problem, g, kResidual)) {
    return *refusal;
  }
  const auto* weights = static_cast<const int8_t*>(problem.inputs[kKernel].constant);
  const auto zero_point = static_cast<int32_t>(problem.attributes->getInt("zero_point", 0));
  PackedTiles tiles{};
  tiles.geometry = g;
  tiles.depth = convolution::depthOf(g, sizeof(int8_t));
  tiles.panels = convolution::packTiles(g, tiles.depth, weights);
  tiles.padding = static_cast<std::byte>(zero_point);
  if (zero_point != 0) {
    tiles.begins = beginsOf(weights, g, static_cast<uint32_t>(zero_point), tiles.panels.count() * gemm::kTileBlock);
  }
  tiles.multiply = gemm::tileMultiply(problem.inputs[kInput].dtype);
  return std::make_unique<convolution::TilesKernel<Packed, Tiles>>(
      std::make_shared<const Packed>(Packed{std::move(tiles), Requantizer(problem)}));
}

}  // namespace torchtrt::kernels::quantized
