// A deconvolution of bfloat16 whose windows lie side by side (kernel = stride, no padding), by the tiles of AMX,
// channels-last: each pixel of the input times all taps is a row of one matrix product.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/convolution/fast.h"
#include "cpu/convolution/gemm/brain_rows.h"
#include "cpu/convolution/gemm/tile_product.h"
#include "cpu/convolution/geometry.h"
#include "cpu/storage/half_rows.h"

namespace torchtrt::kernels::convolution {
namespace {

constexpr size_t kBias = 2;

struct Packed {
  PackedTiles tiles;  // of a 1x1 convolution with the outputs of each tap, padded to whole blocks, one behind the other
  Geometry geometry;  // of the deconvolution
  gemm::Epilogue activation;
  FinishBrainRows finish;

  int64_t columnsOfTap() const {
    return roundUp(geometry.outputs, gemm::kTileBlock);
  }
};

// The top left pixels of the boxes that the pixels of the input spread over.
Image boxesOf(const Geometry& g, const TensorDesc& input, const TensorDesc& output) {
  Image boxes = imageOf(output);
  boxes.size = imageOf(input).size;
  for (size_t i = 0; i < boxes.stride.size(); ++i) {
    boxes.stride[i] *= g.stride[i];
  }
  return boxes;
}

class TilesSpread final : public Prepared {
 public:
  TilesSpread(std::shared_ptr<const Packed> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)),
        product_(std::shared_ptr<const PackedTiles>(packed_, &packed_->tiles), shapes.inputs[0], shapes.inputs[0],
                 targets(packed_->geometry, shapes), shapes.threads),
        bias_bytes_(alignUp(static_cast<size_t>(packed_->geometry.outputs) * sizeof(float))) {
    const Geometry& g = packed_->geometry;
    const Image output = imageOf(shapes.outputs[0]);
    for (int64_t tap = 0; tap < g.taps(); ++tap) {
      const int64_t line = tap / g.kernel[2];
      const Pixel pixel = {0, line / g.kernel[1], line % g.kernel[1], tap % g.kernel[2]};
      tap_offsets_.push_back(output.offsetOf(pixel));
    }
  }

  size_t scratchBytes() const override {
    return bias_bytes_ + product_.scratchBytes();
  }

  void run(const RunArgs& args) const override {
    const Geometry& g = packed_->geometry;
    auto* const bias = static_cast<float*>(args.scratch);
    if (g.has_bias) {
      halfRows(g.dtype).widen(args.inputs[kBias], bias, g.outputs);
    }
    auto* const out = static_cast<uint16_t*>(args.outputs[0]);
    RunArgs rest = args;
    rest.scratch = static_cast<std::byte*>(args.scratch) + bias_bytes_;
    product_.run(rest, [&](const TileSums& sums) {
      const int64_t column = sums.column % packed_->columnsOfTap();
      const auto tap = static_cast<size_t>(sums.column / packed_->columnsOfTap());
      packed_->finish({reinterpret_cast<const float*>(sums.sums), TileSums::kStride, sums.rows,
                       std::min(sums.columns, g.outputs - column), nullptr, g.has_bias ? bias + column : nullptr,
                       nullptr, out + tap_offsets_[tap] + column, sums.out_offsets, nullptr, &packed_->activation});
    });
  }

 private:
  static TileTargets targets(const Geometry& g, const ShapeSet& shapes) {
    const Image boxes = boxesOf(g, shapes.inputs[0], shapes.outputs[0]);
    return {boxes, boxes};
  }

  std::shared_ptr<const Packed> packed_;
  TileProduct product_;
  size_t bias_bytes_;
  std::vector<int64_t> tap_offsets_;  // in the output, in elements
};

}  // namespace

CreateResult createTilesSpread(const Problem& problem) {
  if (std::optional<Refusal> refusal = gemm::refuseTiles()) {
    return *refusal;
  }
  std::variant<Geometry, Refusal> described = describeTransposed(problem, Weights::kConstant, DType::kBFloat16);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const Geometry& g = std::get<Geometry>(described);
  if (std::optional<Refusal> refusal = refuseTileLayout(problem, g, 0)) {
    return *refusal;
  }
  if (!spreads(g)) {
    return Refusal{"windows", "needs windows side by side without padding"};
  }
  auto packed = std::make_shared<Packed>();
  packed->geometry = g;
  const int64_t columns = packed->columnsOfTap();
  const int64_t taps = g.taps();
  PackedTiles& tiles = packed->tiles;
  tiles.geometry.spatial_rank = g.spatial_rank;
  tiles.geometry.channels = g.channels;
  tiles.geometry.outputs = taps * columns;
  const auto* weights = static_cast<const uint16_t*>(problem.inputs[1].constant);
  tiles.panels = gemm::TilePanels::pack<uint16_t>(g.channels, taps * columns, [&](int64_t k, int64_t n) {
    const int64_t output = n % columns;
    return output < g.outputs ? weights[(k * g.outputs + output) * taps + n / columns] : uint16_t{0};
  });
  tiles.multiply = gemm::tileMultiply(DType::kBFloat16);
  packed->activation = gemm::makeEpilogue(g.activation, g.alpha, g.beta);
  packed->finish = finishBrainRows();
  return std::make_unique<TilesKernel<Packed, TilesSpread>>(std::move(packed));
}

}  // namespace torchtrt::kernels::convolution
