// Quantized 3x3 convolution with stride 1 by Winograd's F(2x2, 3x3) and F(4x4, 3x3): 16 multiplications for 4 outputs,
// or 36 for 16, where the plain sum takes 36 and 144. Integers make it exact: transformed steps and kernels fit int16,
// and sums may wrap as long as results, times what they are divided by in the end, do not
// (docs/decisions/0010-integer-products.md).
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "cpu/convolution/geometry.h"
#include "cpu/convolution/winograd/tile_grid.h"
#include "cpu/quantized/fast.h"
#include "cpu/quantized/products/product.h"
#include "cpu/quantized/products/winograd_tile.h"

namespace torchtrt::kernels::quantized {
namespace {

using convolution::Geometry;
using convolution::Image;
using convolution::Spatial;
using convolution::TileGrid;
using convolution::TilePlace;

constexpr int64_t kTaps = 9;
// Transformed steps of a unit stay in the second-level cache.
constexpr int64_t kPatchBytes = 192 * 1024;
constexpr int64_t kLeastTiles = 12;  // of a unit
constexpr int64_t kManyTiles = 72;   // beyond, kernels are read no less often for it

struct Packed {
  Geometry geometry;
  SquareSizes sizes;
  SquareFunctions functions;
  IntegerGemm gemm;
  Requantizer requantizer;
  int zero_point;
  std::vector<PackedIntegers> products;  // [channels, outputs] each
};

class WinogradProduct final : public Prepared {
 public:
  WinogradProduct(std::shared_ptr<const Packed> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)),
        input_(convolution::imageOf(shapes.inputs[kInput])),
        output_(convolution::imageOf(shapes.outputs[0])),
        residual_(packed_->geometry.has_residual ? convolution::imageOf(shapes.inputs[kResidual]) : output_) {
    const Geometry& g = packed_->geometry;
    const SquareSizes& sizes = packed_->sizes;
    grid_ = TileGrid(output_, sizes.tile);
    tiles_ = grid_.count();
    threads_ = std::clamp<int64_t>(2 * tiles_ * sizes.products() * g.channels * g.outputs / gemm::kMinChunkFlops, 1,
                                   std::min<int64_t>(shapes.threads, Slot::kMost));
    const int64_t tile_bytes = sizes.products() * g.channels * static_cast<int64_t>(sizeof(int16_t));
    const int64_t most = std::clamp(kPatchBytes / tile_bytes, kLeastTiles, kManyTiles);
    const Cut cut = cutProduct(packed_->products[0], 1, tiles_, kLeastTiles, most, threads_);
    tile_blocks_ = cut.row_blocks;
    panel_blocks_ = cut.panel_blocks;
    most_tiles_ = ceilDiv(tiles_, tile_blocks_);
  }

  size_t scratchBytes() const override {
    return slotBytes() * static_cast<size_t>(threads_);
  }

  void run(const RunArgs& args) const override {
    if (tiles_ == 0) {
      return;
    }
    runUnits(args, tile_blocks_ * panel_blocks_, threads_, slotBytes(),
             [&](std::byte* memory, int64_t unit) { runUnit(args, memory, unit); });
  }

 private:
  // Not a multiple of a page: the same value of all products would fall into the few lines of one set of the cache.
  int64_t patchStep() const {
    return most_tiles_ * packed_->geometry.channels + kWidestVector;
  }
  int64_t productStep() const {
    return most_tiles_ * kWidestPanel + kWidestVector;
  }
  int64_t pixelsOfTile() const {
    return packed_->sizes.tile * packed_->sizes.tile;
  }
  size_t slotBytes() const {
    const auto products = static_cast<size_t>(packed_->sizes.products());
    const auto pixels = static_cast<size_t>(most_tiles_ * pixelsOfTile());
    return alignUp(products * static_cast<size_t>(patchStep()) * sizeof(int16_t)) +
           alignUp(products * static_cast<size_t>(productStep()) * sizeof(int32_t)) +
           alignUp(pixels * kWidestPanel * sizeof(int32_t)) + 2 * alignUp(pixels * sizeof(int64_t)) +
           alignUp(static_cast<size_t>(most_tiles_) * kMostOutputs * sizeof(int32_t));
  }

  void runUnit(const RunArgs& args, std::byte* memory, int64_t unit) const {
    const int64_t block = unit % tile_blocks_;
    const int64_t first = tiles_ * block / tile_blocks_;
    const int64_t count = tiles_ * (block + 1) / tile_blocks_ - first;
    const auto products = static_cast<size_t>(packed_->sizes.products());
    const auto most_pixels = static_cast<size_t>(most_tiles_ * pixelsOfTile());
    auto* patches = takePiece<int16_t>(memory, products * static_cast<size_t>(patchStep()));
    auto* sums = takePiece<int32_t>(memory, products * static_cast<size_t>(productStep()));
    auto* results = takePiece<int32_t>(memory, most_pixels * kWidestPanel);
    auto* out_offsets = takePiece<int64_t>(memory, most_pixels);
    auto* residual_offsets = takePiece<int64_t>(memory, most_pixels);
    auto* pixels = takePiece<int32_t>(memory, static_cast<size_t>(most_tiles_) * kMostOutputs);
    for (int64_t t = 0; t < count; ++t) {
      transformSteps(args, grid_.at(first + t), patches + t * packed_->geometry.channels);
    }
    RequantizedRows rows{};
    rows.sums = results;
    rows.out_offsets = out_offsets;
    rows.residual_offsets = residual_offsets;
    rows.rows = findPixels(first, count, pixels, out_offsets, residual_offsets);
    const auto panels = static_cast<int64_t>(packed_->products[0].panels().size());
    const int64_t panel_block = unit / tile_blocks_;
    const int64_t end = panels * (panel_block + 1) / panel_blocks_;
    for (int64_t p = panels * panel_block / panel_blocks_; p < end; ++p) {
      const PackedIntegers::Panel& panel = packed_->products[0].panels()[static_cast<size_t>(p)];
      multiply(patches, count, p, p + 1 < end, sums);
      for (int64_t t = 0; t < count; ++t) {
        finishTile(sums + t * panel.width, panel.width, pixels + t * kMostOutputs, results);
      }
      rows.sums_stride = panel.width;
      rows.columns = panel.valid;
      packed_->requantizer.run(args, panel.column, rows);
    }
  }

  void transformSteps(const RunArgs& args, const TilePlace& place, int16_t* to) const {
    const Geometry& g = packed_->geometry;
    SquareInput tile{};
    size_t i = 0;
    for (int64_t y = 0; y < packed_->sizes.side; ++y) {
      for (int64_t x = 0; x < packed_->sizes.side; ++x) {
        tile.pixels[i++] = convolution::pixelUnder<std::byte>(place, g, input_, args.inputs[kInput], y, x);
      }
    }
    tile.channels = g.channels;
    tile.zero_point = packed_->zero_point;
    tile.to = to;
    tile.step = patchStep();
    packed_->functions.input(tile);
  }

  // Numbers the output pixels of some tiles: pixels[t * kMostOutputs + i], -1 outside of the image. Returns their
  // count.
  int64_t findPixels(int64_t first, int64_t count, int32_t* pixels, int64_t* out, int64_t* residual) const {
    int32_t next = 0;
    for (int64_t t = 0; t < count; ++t, pixels += kMostOutputs) {
      const TilePlace place = grid_.at(first + t);
      for (int64_t i = 0; i < pixelsOfTile(); ++i) {
        const int64_t y = place.y + i / packed_->sizes.tile;
        const int64_t x = place.x + i % packed_->sizes.tile;
        pixels[i] = -1;
        if (y < output_.size[1] && x < output_.size[2]) {
          out[next] = place.image * output_.batch_stride + y * output_.stride[1] + x * output_.stride[2];
          residual[next] = place.image * residual_.batch_stride + y * residual_.stride[1] + x * residual_.stride[2];
          pixels[i] = next++;
        }
      }
    }
    return next;
  }

  // A panel of all products.
  void multiply(const int16_t* patches, int64_t count, int64_t panel_index, bool more, int32_t* sums) const {
    const auto at = static_cast<size_t>(panel_index);
    PanelProduct product{};
    product.a_stride = packed_->geometry.channels;
    product.rows = count;
    product.pairs = packed_->geometry.channels / 2;
    for (size_t i = 0; i < packed_->products.size(); ++i) {
      const PackedIntegers::Panel& panel = packed_->products[i].panels()[at];
      product.a = patches + static_cast<int64_t>(i) * patchStep();
      product.b = panel.data;
      product.width = panel.width;
      product.sums = sums + static_cast<int64_t>(i) * productStep();
      const bool last = i + 1 == packed_->products.size();
      product.ahead = !last  ? packed_->products[i + 1].panels()[at].data
                      : more ? packed_->products[0].panels()[at + 1].data
                             : panel.data;
      packed_->gemm.multiply(product);
    }
  }

  void finishTile(const int32_t* sums, int64_t width, const int32_t* pixels, int32_t* results) const {
    SquareOutput tile{};
    tile.from = sums;
    tile.step = productStep();
    tile.columns = width;
    for (size_t i = 0; i < static_cast<size_t>(pixelsOfTile()); ++i) {
      tile.to[i] = pixels[i] < 0 ? nullptr : results + pixels[i] * width;
    }
    packed_->functions.output(tile);
  }

  std::shared_ptr<const Packed> packed_;
  Image input_;
  Image output_;
  Image residual_;
  TileGrid grid_;
  int64_t tiles_ = 0;  // of the whole batch
  int64_t tile_blocks_ = 1;
  int64_t most_tiles_ = 0;
  int64_t panel_blocks_ = 1;
  int64_t threads_ = 1;  // worth using
};

class WinogradKernel final : public Kernel {
 public:
  explicit WinogradKernel(std::shared_ptr<const Packed> packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<WinogradProduct>(packed_, shapes);
  }
  bool needsConstant(int input) const override {
    return input != kKernel;
  }
  size_t packedBytes() const override {
    size_t bytes = 0;
    for (const PackedIntegers& product : packed_->products) {
      bytes += product.bytes();
    }
    return bytes;
  }
  bool acceptsStrides(int input, const TensorDesc& desc) const override {
    return input == kInput && desc.strides[1] == 1;
  }

 private:
  std::shared_ptr<const Packed> packed_;
};

// True if every sum, times the power of two that the form divides by, fits int32, whatever the quantized values are.
bool fits(SquareForm form, const Geometry& g, const int8_t* weights, int64_t largest_step) {
  const int64_t factor = sizesOf(form).factor;
  const int64_t power = factor & -factor;
  for (int64_t k = 0; k < g.outputs; ++k) {
    int64_t sum = 0;
    for (int64_t i = 0; i < g.channels * kTaps; ++i) {
      sum += std::abs(static_cast<int64_t>(weights[k * g.channels * kTaps + i]));
    }
    if (sum * largest_step * power > std::numeric_limits<int32_t>::max()) {
      return false;
    }
  }
  return true;
}

// Tiles of this height and width that cover all output images of this size.
int64_t tilesOf(int64_t tile, const std::vector<int64_t>& size) {
  return size[0] * ceilDiv(size[2], tile) * ceilDiv(size[3], tile);
}

// Large tiles multiply less and have more kernels to read, which few tiles do not make up for.
SquareForm preferredForm(const std::vector<int64_t>& size) {
  constexpr int64_t kEnoughTiles = 36;
  return tilesOf(4, size) >= kEnoughTiles ? SquareForm::kLarge : SquareForm::kSmall;
}

std::vector<PackedIntegers> packProducts(SquareForm form, const Geometry& g, const int8_t* weights, int threads) {
  const int64_t step = g.channels * g.outputs;
  const int64_t products = sizesOf(form).products();
  std::vector<int16_t> transformed(static_cast<size_t>(products * step));
  for (int64_t i = 0; i < step; ++i) {  // [outputs, channels]
    transformKernel(form, weights + i * kTaps, transformed.data() + i, step);
  }
  std::vector<PackedIntegers> packed;
  for (int64_t p = 0; p < products; ++p) {
    const std::function<const int16_t*(int64_t)> row = [&](int64_t c) { return transformed.data() + p * step + c; };
    packed.emplace_back(g.channels, g.outputs, g.channels, row, threads);
  }
  return packed;
}

}  // namespace

CreateResult createConvolutionWinograd(const Problem& problem) {
  std::variant<Geometry, Refusal> described = convolution::describeQuantized(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const Geometry& g = std::get<Geometry>(described);
  if (g.spatial_rank != 2 || g.kernel != Spatial{1, 3, 3} || g.dilation != Spatial{1, 1, 1} || g.groups != 1 ||
      g.stride != Spatial{1, 1, 1}) {
    return Refusal{"kernel", "computes undilated 3x3 kernels with stride 1 and one group only"};
  }
  if (g.channels % kWidestVector != 0) {
    return Refusal{"channels", "takes multiples of 32 channels only"};
  }
  for (const size_t input : {size_t{kInput}, size_t{kResidual}}) {
    if (input < problem.inputs.size() && problem.inputs[input].present &&
        !convolution::isChannelsLast(problem.inputs[input])) {
      return Refusal{"memory-order", "reads and writes channels-last only"};
    }
  }
  if (!convolution::isChannelsLast(problem.outputs[0])) {
    return Refusal{"memory-order", "reads and writes channels-last only"};
  }
  const auto* weights = static_cast<const int8_t*>(problem.inputs[kKernel].constant);
  const DType dtype = problem.inputs[kInput].dtype;
  const int64_t zero_point = problem.attributes->getInt("zero_point", 0);
  const int64_t largest_step =
      dtype == DType::kInt8 ? std::max(zero_point + 128, 127 - zero_point) : std::max(zero_point, 255 - zero_point);
  SquareForm form = preferredForm(problem.outputs[0].opt_dims);
  if (!fits(form, g, weights, largest_step)) {
    form = SquareForm::kSmall;
    if (!fits(form, g, weights, largest_step)) {
      return Refusal{"large-sums", "would wrap sums as large as these weights can make them"};
    }
  }
  return std::make_unique<WinogradKernel>(std::make_shared<const Packed>(
      Packed{g, sizesOf(form), squareFunctions(form, dtype), integerGemm(), Requantizer(problem),
             static_cast<int>(zero_point), packProducts(form, g, weights, problem.threads)}));
}

}  // namespace torchtrt::kernels::quantized
