#include "cuda/matmul/warpgroup_product.h"

#include <algorithm>
#include <span>
#include <string>

#include "base/align.h"
#include "base/check.h"
#include "cuda/launch/layout.h"

namespace torchtrt::cuda {

namespace {

constexpr int64_t kChunkBytes = 16, kMostLine = 128, kGroupThreads = 128;
// Of an H200. They stand for those of every GPU of the architecture, so that one file with machine code serves all.
constexpr int64_t kProcessors = 132;

// With the model below these took 2 % longer than the best of 12 tiles, over all layers of a ResNet-50 in int8 at batch
// 32 on an H200.
constexpr WarpgroupTile kTilesOfBytes[] = {
    {1, 128, 128, 3, 3}, {2, 64, 64, 6, 3}, {2, 64, 128, 4, 2}, {2, 128, 64, 6, 2}, {2, 128, 128, 3, 2}};
// 192 x 192 fills the GPU with the 6304 rows of a ViT-B/16 at batch 32, and reads the least from shared memory.
constexpr WarpgroupTile kTilesOf16Bits[] = {
    {1, 128, 128, 3, 3}, {2, 64, 128, 4, 2}, {2, 128, 128, 3, 2}, {3, 192, 128, 4, 1}};

int64_t chunksOf(const WarpgroupTile& tile, const WarpgroupProduct& product) {
  return product.taps * ceilDiv(product.depth, tile.chunk);
}

int64_t imagesOf(const WarpgroupProduct& product) {
  return product.rows / (int64_t{product.windows->out_height} * product.windows->out_width);
}

// The places of the output that are the rows of a tile.
struct Box {
  int64_t width, height, images;
};

// The number of boxes that cover all places.
int64_t boxesOf(const Box& box, const WarpgroupProduct& product) {
  return ceilDiv<int64_t>(product.windows->out_width, box.width) *
         ceilDiv<int64_t>(product.windows->out_height, box.height) * ceilDiv(imagesOf(product), box.images);
}

// The box that covers all places by the fewest.
Box boxOf(const WarpgroupTile& tile, const WarpgroupProduct& product) {
  constexpr int64_t kMostPlaces = 256;  // of a dim of tensor maps
  const Windows& windows = *product.windows;
  const auto least = [](int64_t size, int step, int64_t room) {  // parts of a dim
    return ceilDiv(size, std::min(room, (kMostPlaces - 1) / step + 1));
  };
  Box best = {1, 1, 1};
  for (int64_t parts = least(windows.out_width, windows.stride_x, tile.rows()); parts <= windows.out_width; ++parts) {
    Box box = {ceilDiv<int64_t>(windows.out_width, parts), 1, 1};
    const int64_t in_column = tile.rows() / box.width;
    box.height = ceilDiv<int64_t>(windows.out_height, least(windows.out_height, windows.stride_y, in_column));
    box.images = std::min(imagesOf(product), tile.rows() / (box.width * box.height));
    if (boxesOf(box, product) < boxesOf(best, product)) {
      best = box;
    }
  }
  return best;
}

int64_t tilesOf(const WarpgroupTile& tile, const WarpgroupProduct& product) {
  const int64_t above = product.windows ? boxesOf(boxOf(tile, product), product) : ceilDiv(product.rows, tile.rows());
  return above * ceilDiv(product.columns, tile.columns);
}

int64_t stageBytes(const WarpgroupTile& tile) {
  return (tile.rows() + tile.columns) * tile.chunk;
}

int64_t bytesOf(const WarpgroupProduct& product, int64_t elements) {
  return elements * static_cast<int64_t>(sizeOf(product.dtype));
}

int64_t resultLine(const WarpgroupTile& tile, const WarpgroupProduct& product) {
  constexpr int64_t kLine = 128;
  return bytesOf(product, tile.columns) % kLine == 0 ? kLine : kLine / 2;
}

int64_t sharedBytes(const WarpgroupTile& tile, int64_t value_bytes) {
  constexpr int64_t kBarriers = 2 * 8;  // of a stage
  return tile.stages * (stageBytes(tile) + kBarriers) + tile.columns * value_bytes;
}

// A chunk that is longer than a tap copies and multiplies zeros.
bool suits(const WarpgroupTile& tile, const WarpgroupProduct& product) {
  return tile.chunk == 64 || product.depth > tile.chunk / 2;
}

bool isPossible(const WarpgroupProduct& product) {
  constexpr int64_t kMost = int64_t{1} << 30;
  constexpr int kMostStep = 8;  // of tensor maps
  const auto isWhole = [](int64_t bytes) { return bytes % kChunkBytes == 0; };
  const bool has_lines = product.rows > 0 && product.columns > 0 && product.depth > 0 &&
                         std::max({product.rows, product.columns, product.depth * product.taps}) < kMost &&
                         isWhole(product.depth) && isWhole(bytesOf(product, product.columns));
  if (!has_lines || !product.windows) {
    return has_lines;
  }
  const Windows& windows = *product.windows;
  const auto isStride = [isWhole](int64_t stride) { return stride > 0 && isWhole(stride); };
  return std::max(windows.stride_x, windows.stride_y) <= kMostStep && isStride(windows.x) && isStride(windows.y) &&
         isStride(windows.image);
}

// Of lines that lie dense.
TensorMap linesOf(int64_t length, int64_t lines, int64_t line_bytes, int64_t box_lines) {
  TensorMap map;
  map.dims = {static_cast<uint64_t>(length), static_cast<uint64_t>(lines)};
  map.strides = {static_cast<uint64_t>(length)};
  map.box = {static_cast<uint32_t>(line_bytes), static_cast<uint32_t>(box_lines)};
  return map;
}

// Of the image: the places of a box of windows under one tap.
TensorMap mapOfImage(const WarpgroupTile& tile, const WarpgroupProduct& product) {
  const Windows& windows = *product.windows;
  const Box box = boxOf(tile, product);
  const auto size = [](int64_t value) { return static_cast<uint64_t>(value); };
  const auto extent = [](int64_t count, int step) { return static_cast<uint32_t>((count - 1) * step + 1); };
  TensorMap map;
  map.dims = {size(product.depth), size(windows.width), size(windows.height), size(imagesOf(product))};
  map.strides = {size(windows.x), size(windows.y), size(windows.image)};
  map.box = {static_cast<uint32_t>(tile.chunk), extent(box.width, windows.stride_x),
             extent(box.height, windows.stride_y), static_cast<uint32_t>(box.images)};
  map.steps = {1, static_cast<uint32_t>(windows.stride_x), static_cast<uint32_t>(windows.stride_y), 1};
  return map;
}

// Of results and residual.
TensorMap mapOfResults(const WarpgroupTile& tile, const WarpgroupProduct& product) {
  const int64_t line = resultLine(tile, product);
  if (!product.windows) {
    return linesOf(bytesOf(product, product.columns), product.rows, line, tile.rows());
  }
  const Box box = boxOf(tile, product);
  const auto size = [](int64_t value) { return static_cast<uint64_t>(value); };
  const int64_t pixel = bytesOf(product, product.columns);
  const int64_t width = product.windows->out_width, height = product.windows->out_height;
  TensorMap map;
  map.dims = {size(pixel), size(width), size(height), size(imagesOf(product))};
  map.strides = {size(pixel), size(pixel * width), size(pixel * width * height)};
  map.box = {static_cast<uint32_t>(line), static_cast<uint32_t>(box.width), static_cast<uint32_t>(box.height),
             static_cast<uint32_t>(box.images)};
  return map;
}

struct ProductArgument {  // WarpgroupProduct of matmul/warpgroup_product.cuh
  int columns, tiles, taps, chunks, lines;
  int kernel_w = 1, stride_y = 1, stride_x = 1, padding_y = 0, padding_x = 0, dilation_y = 1, dilation_x = 1;
  int tiles_x = 1, tiles_y = 1, tile_width = 1, tile_height = 1, tile_images = 1;
};

std::string operandsOfSums(int64_t registers) {
  std::string all;
  for (int64_t i = 0; i < registers; ++i) {
    all += (i == 0 ? "%" : ", %") + std::to_string(i);
  }
  return all;
}

std::string registersOfSums(int64_t registers, const std::string& kind) {
  std::string all;
  for (int64_t i = 0; i < registers; ++i) {
    all += (i == 0 ? "\"+" : ", \"+") + kind + "\"(sums[" + std::to_string(i) + "])";
  }
  return all;
}

// The parts in which the instructions of dtypes differ.
struct Instruction {
  const char *depth, *dtypes;  // as its name has them
  const char* immediates;      // of 16 bits: factors of 1, and neither operand is transposed
  const char* sum;
  const char* registers;  // their kind
  const char *a, *b;      // types of text/storage.cuh
};

Instruction instructionFor(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return {"16", "f32.f16.f16", ", 1, 1, 0, 0", "float", "f", "Half", "Half"};
    case DType::kBFloat16:
      return {"16", "f32.bf16.bf16", ", 1, 1, 0, 0", "float", "f", "BFloat", "BFloat"};
    case DType::kUInt8:
      return {"32", "s32.u8.s8", "", "int", "r", "unsigned char", "signed char"};
    default:
      TORCHTRT_CHECK(dtype == DType::kInt8, "a product of " << toString(dtype) << " by warpgroups");
      return {"32", "s32.s8.s8", "", "int", "r", "signed char", "signed char"};
  }
}

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}

// Adds stages until two blocks do not fit into a multiprocessor. Otherwise blocks that begin while the kernel in front
// ends may take two places of one multiprocessor, and leave another idle.
void takeProcessorAlone(WarpgroupTile& tile) {
  constexpr int64_t kHalf = int64_t{114} << 10;
  while (tile.stages * stageBytes(tile) <= kHalf) {
    ++tile.stages;
  }
}

}  // namespace

void WarpgroupProduct::setWindows(const Windows& of, int64_t all_taps) {
  windows = of;
  taps = all_taps;
  depth = of.channels;
  const int64_t line = int64_t{of.kernel_w} * of.channels;
  const bool lie_side_by_side = of.x == of.channels && of.dilation_x == 1 && of.padding_x == 0;
  if (lie_side_by_side && line <= kMostLine) {
    taps /= of.kernel_w;
    depth = line;
    windows->width -= of.kernel_w - 1;
    windows->kernel_w = 1;
  }
}

// A least-squares fit to 249 measurements of convolutions in int8 on an H200, off by 16 % in the root mean square.
// Copies and ends have become faster since, which changes the choice among tiles little.
double expectedTime(const WarpgroupTile& tile, const WarpgroupProduct& product) {
  const int64_t tiles = tilesOf(tile, product);
  const auto of_processor = static_cast<double>(ceilDiv(tiles, kProcessors));
  const auto rounds = static_cast<double>(ceilDiv(tiles, kProcessors * tile.blocks));
  const auto chunks = static_cast<double>(chunksOf(tile, product));
  const auto staged = static_cast<double>(stageBytes(tile));
  const auto multiplied = static_cast<double>(tile.rows() * tile.columns * tile.chunk);
  const auto results = static_cast<double>(tile.rows() * tile.columns);
  const double with_residual = product.residual.kind == Place::Kind::kAbsent ? 1 : 1.23;
  return 1.14 + of_processor * (chunks * (9.4e-6 * staged + 2.25e-8 * multiplied) + 9.9e-5 * results * with_residual) +
         0.059 * rounds * chunks;
}

std::optional<WarpgroupTile> warpgroupTileFor(const CudaDevice& device, const WarpgroupProduct& product) {
  constexpr int kCapability = 90;  // newer ones have other instructions
  if (device.capability() != kCapability || !isPossible(product)) {
    return std::nullopt;
  }
  std::optional<WarpgroupTile> best;
  const std::span<const WarpgroupTile> tiles = sizeOf(product.dtype) == 1
                                                   ? std::span<const WarpgroupTile>(kTilesOfBytes)
                                                   : std::span<const WarpgroupTile>(kTilesOf16Bits);
  for (const WarpgroupTile& tile : tiles) {
    if (suits(tile, product) && (!best || expectedTime(tile, product) < expectedTime(*best, product))) {
      best = tile;
    }
  }
  if (best && tilesOf(*best, product) <= kProcessors) {
    takeProcessorAlone(*best);
  }
  return best;
}

void addWarpgroupText(Source& source, const WarpgroupTile& tile, const WarpgroupProduct& product, int64_t value_bytes) {
  const int64_t registers = tile.columns / 2;
  const Instruction instruction = instructionFor(product.dtype);
  const std::string shape = "m64n" + std::to_string(tile.columns) + "k" + instruction.depth;
  source.define("GROUPS", tile.groups).define("COLUMNS", tile.columns).define("CHUNK", tile.chunk);
  source.define("STAGES", tile.stages).define("BLOCKS", tile.blocks);
  source.define("SHARED_BYTES", sharedBytes(tile, value_bytes)).define("SHARED_ALIGNMENT", int64_t{1024});
  source.define("SUM", instruction.sum).define("FACTOR_A", instruction.a).define("FACTOR_B", instruction.b);
  source.define("INSTRUCTION", quoted("wgmma.mma_async.sync.aligned." + shape + "." + instruction.dtypes));
  source.define("IMMEDIATES", quoted(instruction.immediates));
  source.define("OPERANDS_OF_SUMS", quoted(operandsOfSums(registers)));
  source.define("REGISTERS_OF_SUMS", registersOfSums(registers, instruction.registers));
  source.define("OPERANDS_OF_FACTORS", quoted("%" + std::to_string(registers) + ", %" + std::to_string(registers + 1)));
  source.define("OPERAND_ADDS", quoted("%" + std::to_string(registers + 2)));
  source.define("HAS_WINDOWS", int64_t{product.windows.has_value()});
  source.include("text/chunks.cuh").include("text/inputs.cuh").include("text/block_memory.cuh");
  source.include("text/barriers.cuh").include("text/tensor_maps.cuh").include("text/warpgroup.cuh");
  source.include("matmul/warpgroup_product.cuh");
}

void addOperands(Arguments& arguments, const WarpgroupTile& tile, const WarpgroupProduct& product) {
  const auto size = [](int64_t value) { return static_cast<int>(value); };
  ProductArgument argument{size(product.columns), size(tilesOf(tile, product)), size(product.taps),
                           size(chunksOf(tile, product) / product.taps), size(tile.rows())};
  if (product.windows) {
    const Windows& windows = *product.windows;
    const Box box = boxOf(tile, product);
    argument.lines = size(box.width * box.height * box.images);
    argument.tiles_x = size(ceilDiv<int64_t>(windows.out_width, box.width));
    argument.tiles_y = size(ceilDiv<int64_t>(windows.out_height, box.height));
    argument.tile_width = size(box.width);
    argument.tile_height = size(box.height);
    argument.tile_images = size(box.images);
    argument.kernel_w = windows.kernel_w;
    argument.stride_y = windows.stride_y;
    argument.stride_x = windows.stride_x;
    argument.padding_y = windows.padding_y;
    argument.padding_x = windows.padding_x;
    argument.dilation_y = windows.dilation_y;
    argument.dilation_x = windows.dilation_x;
  }
  arguments.value(argument);
  product.a.addTo(arguments).through(product.windows ? mapOfImage(tile, product)
                                                     : linesOf(product.depth, product.rows, tile.chunk, tile.rows()));
  TensorMap of_b;
  of_b.dims = {static_cast<uint64_t>(product.depth), static_cast<uint64_t>(product.taps),
               static_cast<uint64_t>(product.columns)};
  of_b.strides = {static_cast<uint64_t>(product.depth), static_cast<uint64_t>(product.depth * product.taps)};
  of_b.box = {static_cast<uint32_t>(tile.chunk), 1, static_cast<uint32_t>(tile.columns)};
  product.b.addTo(arguments).through(of_b);
  const TensorMap of_results = mapOfResults(tile, product);
  const bool has_residual = product.residual.kind != Place::Kind::kAbsent;
  (has_residual ? product.residual : product.out).addTo(arguments).through(of_results);
  product.out.addTo(arguments).through(of_results);
}

Geometry geometryOf(const CudaDevice& device, const WarpgroupTile& tile, const WarpgroupProduct& product,
                    int64_t value_bytes) {
  constexpr int64_t kCopyThreads = 32;
  const int64_t at_once = int64_t{device.processors()} * tile.blocks;
  Geometry geometry;
  geometry.grid[0] = static_cast<unsigned>(std::min(tilesOf(tile, product), at_once));
  geometry.block[0] = static_cast<unsigned>(kGroupThreads * tile.groups + kCopyThreads);
  geometry.shared_bytes = static_cast<unsigned>(sharedBytes(tile, value_bytes));
  return geometry;
}

}  // namespace torchtrt::cuda
