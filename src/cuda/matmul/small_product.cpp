#include "cuda/matmul/small_product.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "cuda/launch/activation.h"
#include "cuda/launch/types.h"

namespace torchtrt::cuda {

namespace {

constexpr int kOldestCapability = 80;  // the first with asynchronous copies, and with these products in bfloat16

// Shared memory of at most 99 KiB, which every such GPU has. Then two blocks fit into an H100's multiprocessor, so that
// the next kernel can read its weights beside the one in front.
struct Tile {
  int64_t rows, columns, warp_rows, warp_columns, split, slice, stages;
  int64_t cluster;  // blocks that share the depth

  int64_t warps() const {
    return (rows / warp_rows) * (columns / warp_columns) * split;
  }
  int64_t depth() const {  // of a stage
    return split * slice;
  }
  int64_t stagesOf(int64_t all_depth) const {  // of a block
    return inParts(inParts(all_depth, depth()), cluster);
  }
  int64_t sharedBytes() const {
    const int64_t sums = rows * (columns + 4) * 4;
    const int64_t staged = stages * (rows + columns) * depth() * 2;
    return std::max(staged, split * sums) + (cluster > 1 ? sums : 0);
  }
};

// Tiles among which the model below chooses well: with it, 66 products and convolutions of image and language models
// took 4 % longer on an H200 than by the best of 577 tiles.
constexpr Tile kTiles[] = {{16, 32, 16, 32, 4, 64, 4, 1}, {32, 32, 16, 32, 2, 32, 4, 1}, {32, 32, 32, 32, 4, 32, 4, 1},
                           {32, 32, 32, 32, 4, 64, 3, 1}, {32, 64, 32, 32, 2, 32, 4, 1}, {64, 32, 32, 32, 2, 32, 6, 1},
                           {64, 64, 32, 32, 1, 64, 4, 1}, {32, 32, 32, 32, 4, 32, 4, 2}, {32, 32, 32, 32, 4, 64, 3, 2},
                           {32, 32, 32, 32, 4, 32, 6, 4}};

int64_t blocksOf(const Tile& tile, const SmallProduct& product) {
  return inParts(product.rows, tile.rows) * inParts(product.columns, tile.columns) * tile.cluster;
}

// Microseconds in a chain of such kernels: a least-squares fit to measurements on an H200, off by 12 % in the root mean
// square. Its multiprocessors stand for those of every GPU, so that a file with machine code has the kernels for all
// GPUs of an architecture. Beyond the results of these measurements, the slope is that of decision 0020.
double expectedTime(const Tile& tile, const SmallProduct& product) {
  constexpr int64_t kProcessors = 132, kShared = int64_t{227} << 10, kMostWarps = 64, kMostBlocks = 3;
  constexpr int64_t kReserved = int64_t{1} << 10;  // of the shared memory, for each block
  constexpr double kMostMeasured = 1.6e6;
  const int64_t at_once =
      std::min({kShared / (tile.sharedBytes() + kReserved), kMostWarps / tile.warps(), kMostBlocks});
  const int64_t blocks = blocksOf(tile, product), stages = tile.stagesOf(product.depth);
  const auto of_processor = static_cast<double>(inParts(blocks, kProcessors));
  const auto rounds = static_cast<double>(inParts(blocks, kProcessors * at_once));
  const auto staged = static_cast<double>((tile.rows + tile.columns) * stages * tile.depth() * 2);  // bytes of a block
  const auto instructions =  // of the tensor cores, of a block
      static_cast<double>(stages * (tile.rows / 16) * (tile.columns / 8) * (tile.depth() / 16));
  const auto results = static_cast<double>(product.rows * product.columns);
  const auto weights = static_cast<double>(product.columns * product.depth * 2);
  return 1.14 + of_processor * (staged * (product.windows ? 8.8e-6 : 2.3e-6) + instructions * 1.67e-3) +
         rounds * (0.115 * static_cast<double>(stages) + (tile.cluster > 1 ? 0.53 : 0)) + (rounds - 1) * 1.5 +
         6.5e-7 * results + 1.75e-6 * std::max(0.0, results - kMostMeasured) + 1e-7 * weights;
}

// The same for cuBLASLt with a launch behind it for the activation, and for cuDNN. Kernels beside them do not overlap.
double expectedOfLibrary(const SmallProduct& product, bool has_activation) {
  const auto results = static_cast<double>(product.rows * product.columns);
  const auto weights = static_cast<double>(product.columns * product.depth * 2);
  if (product.windows) {
    return 5.2 + 1.2e-3 * static_cast<double>(product.depth) + 1.2e-6 * results;
  }
  const double alone = 3.1 + 1.6e-3 * static_cast<double>(product.depth) + 1.2e-6 * results + 1e-7 * weights;
  return has_activation ? alone + 1.8 + 1e-6 * results : alone;
}

// A tile's shape decides the order of its sums: if the product asks for it, its rows do not decide the tile.
const Tile& tileFor(const CudaDevice& device, SmallProduct product) {
  constexpr int64_t kUsualRows = 64;
  product.rows = product.batch_invariant ? kUsualRows : product.rows;
  const auto time = [&](const Tile& tile) {
    return tile.cluster > 1 && !device.hasClusters() ? HUGE_VAL : expectedTime(tile, product);
  };
  return *std::min_element(std::begin(kTiles), std::end(kTiles),
                           [&](const Tile& a, const Tile& b) { return time(a) < time(b); });
}

bool liesInChunks(const Strided& matrix, int64_t lines) {
  constexpr int64_t kChunk = 8;
  return matrix.place.kind == Place::Kind::kAbsent ||
         (matrix.strides[1] == 1 && (lines == 1 || (matrix.strides[0] % kChunk == 0 && matrix.strides[0] > 0)));
}

bool isPossible(const CudaDevice& device, const SmallProduct& product) {
  const int64_t lines = product.batch_invariant ? 2 : product.rows;  // a single row may lie anyhow
  constexpr int64_t kChunk = 8, kMost = int64_t{1} << 24;
  return hasSmallProducts(device, product.dtype) && product.rows > 0 && product.columns > 0 && product.depth > 0 &&
         product.columns % kChunk == 0 && product.depth % kChunk == 0 && product.rows < kMost &&
         product.columns < kMost && product.depth < kMost && liesInChunks(product.a, product.windows ? 1 : lines) &&
         liesInChunks(product.b, product.columns) && liesInChunks(product.residual, lines) &&
         liesInChunks(product.out, lines) &&
         (product.bias.place.kind == Place::Kind::kAbsent || product.bias.strides[0] == 1);
}

void addLaunch(Launches& launches, const Layer& layer, const SmallProduct& product) {
  const Tile& tile = tileFor(layer.device, product);
  Source source;
  source.define("STORED", storedType(product.dtype)).define("A", computedType(product.dtype));
  source.define("ROWS", tile.rows).define("COLUMNS", tile.columns);
  source.define("WARP_ROWS", tile.warp_rows).define("WARP_COLUMNS", tile.warp_columns);
  source.define("SPLIT", tile.split).define("SLICE", tile.slice).define("STAGES", tile.stages);
  source.define("SHARED_BYTES", tile.sharedBytes()).define("CLUSTER", tile.cluster);
  source.define("ARGUMENT_OF_A", product.windows ? "Windows" : "long long");
  source.define("LINES_OF_A", product.windows ? "WindowLines" : "DenseLines");
  source.define("B_IS_CONSTANT", int64_t{product.b_is_constant});
  defineFusedActivation(source, layer.attributes, product.dtype);
  source.include("text/storage.cuh")
      .include("text/functions.cuh")
      .include("text/chunks.cuh")
      .include("text/inputs.cuh");
  source.include("text/mma.cuh").include("text/staging.cuh").include("text/block_memory.cuh");
  source.include("text/clusters.cuh").include("matmul/tiles.cuh").include("matmul/dense_lines.cuh");
  if (product.windows) {
    source.include("convolution/windows.cuh");
  }
  source.include("matmul/met_sums.cuh").include("matmul/small_product.cuh");
  Arguments arguments;
  arguments.value(static_cast<int>(product.rows)).value(static_cast<int>(product.columns));
  arguments.value(static_cast<int>(product.depth));
  product.windows ? arguments.value(*product.windows) : arguments.value(product.a.strides[0]);
  product.a.place.addTo(arguments);
  product.b.place.addTo(arguments.value(product.b.strides[0]));
  product.bias.place.addTo(arguments);
  product.residual.place.addTo(arguments.value(product.residual.strides[0]));
  product.out.place.addTo(arguments.value(product.out.strides[0]));
  addFusedActivation(arguments, layer.attributes);
  Geometry geometry;
  geometry.grid[0] = static_cast<unsigned>(blocksOf(tile, product));
  geometry.block[0] = static_cast<unsigned>(tile.warps() * 32);
  geometry.shared_bytes = static_cast<unsigned>(tile.sharedBytes());
  launches.add(source, "product", geometry, std::move(arguments));
}

// Copies an operand of the call to scratch memory, which is aligned.
void copyIn(Launches& launches, DType dtype, const Ints& dims, Strided& operand) {
  if (operand.place.kind != Place::Kind::kInput) {
    return;
  }
  const Strided copy = {Place::reserve(launches, countOf(dims), dtype), kernels::denseStrides(dims)};
  addCopy(launches, dtype, dims, operand, copy);
  operand = copy;
}

}  // namespace

bool hasSmallProducts(const CudaDevice& device, DType dtype) {
  return device.capability() >= kOldestCapability && sizeOf(dtype) == 2 && isFloating(dtype);
}

bool isSmall(const CudaDevice& device, const SmallProduct& product, bool has_activation) {
  constexpr int64_t kFewRows = 4;  // matmul/few_rows.h is faster
  if (product.batch_invariant) {
    return isPossible(device, product);
  }
  return product.rows > kFewRows && isPossible(device, product) &&
         expectedTime(tileFor(device, product), product) < expectedOfLibrary(product, has_activation);
}

bool addSmallProduct(Launches& launches, const Layer& layer, const SmallProduct& product, bool copies) {
  if (!isPossible(layer.device, product)) {
    return false;
  }
  if (!copies) {
    addLaunch(launches, layer, product);
    return true;
  }
  SmallProduct aligned = product;
  if (!product.windows) {
    copyIn(launches, product.dtype, {product.rows, product.depth}, aligned.a);
  }
  if (!product.b_is_constant) {  // memory of the engine is aligned
    copyIn(launches, product.dtype, {product.columns, product.depth}, aligned.b);
    copyIn(launches, product.dtype, {product.columns}, aligned.bias);
  }
  copyIn(launches, product.dtype, {product.rows, product.columns}, aligned.residual);
  const Ints dims = {product.rows, product.columns};
  aligned.out = {Place::reserve(launches, countOf(dims), product.dtype), kernels::denseStrides(dims)};
  addLaunch(launches, layer, aligned);
  addCopy(launches, product.dtype, dims, aligned.out, product.out);
  return true;
}

}  // namespace torchtrt::cuda
