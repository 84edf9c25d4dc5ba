#include "cuda/matmul/tile.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "base/align.h"
#include "cuda/launch/layout.h"

namespace torchtrt::cuda {

namespace {

// Tiles among which the model below chooses well: with it, 66 products and convolutions of image and language models
// took 4 % longer on an H200 than by the best of 577 tiles.
constexpr Tile kTiles[] = {{16, 32, 16, 32, 4, 64, 4, 1}, {32, 32, 16, 32, 2, 32, 4, 1}, {32, 32, 32, 32, 4, 32, 4, 1},
                           {32, 32, 32, 32, 4, 64, 3, 1}, {32, 64, 32, 32, 2, 32, 4, 1}, {64, 32, 32, 32, 2, 32, 6, 1},
                           {64, 64, 32, 32, 1, 64, 4, 1}, {32, 32, 32, 32, 4, 32, 4, 2}, {32, 32, 32, 32, 4, 64, 3, 2},
                           {32, 32, 32, 32, 4, 32, 6, 4}};

// For many results of bytes, and for many that become something else: among the fastest of 126 for every layer of a
// ResNet-50 with batch 32 (decision 0026).
constexpr Tile kByteTiles[] = {{64, 128, 64, 32, 1, 64, 2, 1, 3, true},
                               {128, 64, 64, 32, 1, 64, 2, 1, 3, true},
                               {64, 64, 32, 32, 1, 64, 4, 1, 3, true}};
constexpr Tile kLargeTiles[] = {{128, 128, 64, 64, 1, 64, 3, 1, 2}, {128, 64, 64, 32, 1, 64, 2, 1, 3}};

int64_t blocksOf(const Tile& tile, const TiledProduct& product) {
  return ceilDiv(product.rows, tile.rows) * ceilDiv(product.columns, tile.columns) * tile.cluster;
}

}  // namespace

bool hasTiles(const CudaDevice& device) {
  constexpr int kOldestCapability = 80;  // the first with asynchronous copies, and with these products in bfloat16
  return device.capability() >= kOldestCapability;
}

int64_t Tile::stagesOf(int64_t all_depth) const {
  return ceilDiv(ceilDiv(all_depth, depth()), cluster);
}

int64_t Tile::sharedBytes() const {
  const int64_t sums = rows * (columns + 4) * 4;
  const int64_t staged = stages * (rows + columns) * depth() * 2;
  if (in_place) {
    return staged + rows * (columns + 16) + columns * 8;
  }
  return std::max(staged, split * sums) + (cluster > 1 ? sums : 0);
}

// A least-squares fit to measurements on an H200, off by 12 % in the root mean square. Its multiprocessors stand for
// those of every GPU, so that a file with machine code has the kernels for all GPUs of an architecture. Beyond the
// results of these measurements, the slope is that of decision 0020.
double expectedTime(const Tile& tile, const TiledProduct& product) {
  constexpr int64_t kProcessors = 132, kShared = int64_t{227} << 10, kMostWarps = 64, kMostBlocks = 3;
  constexpr int64_t kReserved = int64_t{1} << 10;  // of the shared memory, for each block
  constexpr double kMostMeasured = 1.6e6;
  const int64_t at_once =
      std::min({kShared / (tile.sharedBytes() + kReserved), kMostWarps / tile.warps(), kMostBlocks});
  const int64_t blocks = blocksOf(tile, product), stages = tile.stagesOf(product.depth);
  const auto of_processor = static_cast<double>(ceilDiv(blocks, kProcessors));
  const auto rounds = static_cast<double>(ceilDiv(blocks, kProcessors * at_once));
  const auto staged = static_cast<double>((tile.rows + tile.columns) * stages * tile.depth() * 2);  // bytes of a block
  const auto instructions =  // of the tensor cores, of a block
      static_cast<double>(stages * (tile.rows / 16) * (tile.columns / 8) * (tile.depth() / 16));
  const auto results = static_cast<double>(product.rows * product.columns);
  const auto weights = static_cast<double>(product.columns * product.depth * 2);
  return 1.14 + of_processor * (staged * (product.has_windows ? 8.8e-6 : 2.3e-6) + instructions * 1.67e-3) +
         rounds * (0.115 * static_cast<double>(stages) + (tile.cluster > 1 ? 0.53 : 0)) + (rounds - 1) * 1.5 +
         6.5e-7 * results + 1.75e-6 * std::max(0.0, results - kMostMeasured) + 1e-7 * weights;
}

const Tile& tileFor(const CudaDevice& device, const TiledProduct& product) {
  const auto time = [&](const Tile& tile) {
    return tile.cluster > 1 && !device.hasClusters() ? HUGE_VAL : expectedTime(tile, product);
  };
  return *std::min_element(std::begin(kTiles), std::end(kTiles),
                           [&](const Tile& a, const Tile& b) { return time(a) < time(b); });
}

const Tile& tileForBytes(const CudaDevice& device, const TiledProduct& product, bool to_bytes) {
  constexpr int64_t kManyBlocks = 100, kChunk = 16;
  const std::span<const Tile> tiles = to_bytes && product.columns % kChunk == 0 ? std::span<const Tile>(kByteTiles)
                                                                                : std::span<const Tile>(kLargeTiles);
  const auto found = std::find_if(tiles.begin(), tiles.end(), [&](const Tile& tile) {
    return product.columns % tile.columns == 0 && blocksOf(tile, product) >= kManyBlocks;
  });
  return found == tiles.end() ? tileFor(device, product) : *found;
}

void addStagingText(Source& source, const Tile& tile, const std::optional<Windows>& windows) {
  source.define("ROWS", tile.rows).define("COLUMNS", tile.columns);
  source.define("WARP_ROWS", tile.warp_rows).define("WARP_COLUMNS", tile.warp_columns);
  source.define("SPLIT", tile.split).define("SLICE", tile.slice).define("STAGES", tile.stages);
  source.define("SHARED_BYTES", tile.sharedBytes()).define("CLUSTER", tile.cluster).define("BLOCKS", tile.blocks);
  source.define("ARGUMENT_OF_A", windows ? "Windows" : "long long");
  source.define("LINES_OF_A", windows ? "WindowLines" : "DenseLines");
  source.include("text/chunks.cuh").include("text/inputs.cuh").include("text/staging.cuh");
  source.include("text/block_memory.cuh").include("text/clusters.cuh");
  source.include("matmul/tiles.cuh").include("matmul/dense_lines.cuh");
  if (windows) {
    source.define("HAS_PADDING", int64_t{windows->padding != 0}).include("convolution/windows.cuh");
  }
}

void addTileText(Source& source, const Tile& tile, const std::optional<Windows>& windows) {
  addStagingText(source, tile, windows);
  source.include("matmul/met_sums.cuh").include("matmul/tile_product.cuh");
}

void addRows(Arguments& arguments, const std::optional<Windows>& windows, int64_t step) {
  windows ? arguments.value(*windows) : arguments.value(step);
}

Geometry geometryOf(const Tile& tile, const TiledProduct& product) {
  Geometry geometry;
  geometry.grid[0] = static_cast<unsigned>(blocksOf(tile, product));
  geometry.block[0] = static_cast<unsigned>(tile.warps() * 32);
  geometry.shared_bytes = static_cast<unsigned>(tile.sharedBytes());
  return geometry;
}

}  // namespace torchtrt::cuda
