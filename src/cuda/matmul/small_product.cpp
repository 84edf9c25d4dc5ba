#include "cuda/matmul/small_product.h"

#include <algorithm>
#include <utility>

#include "cuda/launch/activation.h"
#include "cuda/launch/types.h"
#include "cuda/matmul/product.h"

namespace torchtrt::cuda {

namespace {

// Microseconds of cuBLASLt with a launch behind it for the activation, and of cuDNN. Kernels beside them do not
// overlap.
double expectedOfLibrary(const SmallProduct& product, bool has_activation) {
  const auto results = static_cast<double>(product.rows * product.columns);
  const auto weights = static_cast<double>(product.columns * product.depth * 2);
  if (product.windows) {
    return 5.2 + 1.2e-3 * static_cast<double>(product.depth) + 1.2e-6 * results;
  }
  const double alone = 3.1 + 1.6e-3 * static_cast<double>(product.depth) + 1.2e-6 * results + 1e-7 * weights;
  return has_activation ? alone + 1.8 + 1e-6 * results : alone;
}

TiledProduct tiledOf(const SmallProduct& product) {
  return {product.rows, product.columns, product.depth, product.windows.has_value()};
}

// A tile's shape decides the order of its sums: if the product asks for it, its rows do not decide the tile.
const Tile& tileOf(const CudaDevice& device, const SmallProduct& product) {
  constexpr int64_t kUsualRows = 64;
  TiledProduct tiled = tiledOf(product);
  tiled.rows = product.batch_invariant ? kUsualRows : tiled.rows;
  return tileFor(device, tiled);
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

bool hasScale(const SmallProduct& product) {
  return product.scale.place.kind != Place::Kind::kAbsent;
}

void addLaunch(Launches& launches, const Layer& layer, const SmallProduct& product) {
  const TiledProduct tiled = tiledOf(product);
  const Tile& tile = tileOf(layer.device, product);
  Source source;
  source.define("STORED", storedType(product.dtype)).define("A", computedType(product.dtype)).define("SUM", "float");
  source.define("B_IS_CONSTANT", int64_t{product.b_is_constant});
  defineScale(source, hasScale(product), product.dtype);
  defineFusedActivation(source, layer.attributes, product.dtype);
  source.include("text/storage.cuh").include("text/functions.cuh").include("text/mma.cuh");
  addTileText(source, tile, product.windows);
  source.include("matmul/small_product.cuh");
  Arguments arguments;
  arguments.value(static_cast<int>(product.rows)).value(static_cast<int>(product.columns));
  arguments.value(static_cast<int>(product.depth));
  addRows(arguments, product.windows, product.a.strides.at(0));
  product.a.place.addTo(arguments);
  product.b.place.addTo(arguments.value(product.b.strides[0]));
  product.scale.place.addTo(arguments);
  product.bias.place.addTo(arguments);
  product.residual.place.addTo(arguments.value(product.residual.strides[0]));
  product.out.place.addTo(arguments.value(product.out.strides[0]));
  addFusedActivation(arguments, layer.attributes);
  launches.add(source, "product", geometryOf(tile, tiled), std::move(arguments));
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

std::optional<SmallProduct> singleProductOf(const Layer& layer, const kernels::ShapeSet& shapes) {
  const Product whole = productOf(layer, shapes);
  const Product product = whole.isEmpty() ? whole : folded(whole);
  const auto& [a, b, bias, residual, out] = product.parts;
  if (product.isEmpty() || !product.batch.empty() || (product.rows > 1 && bias.row != 0)) {
    return std::nullopt;
  }
  SmallProduct single;
  single.dtype = shapes.outputs.at(0).dtype;
  single.rows = product.rows;
  single.columns = product.columns;
  single.depth = product.depth;
  single.a = {Place::input(layer, Product::kA), {a.row, a.column}};
  single.b = {Place::input(layer, Product::kB), {b.column, b.row}};
  single.bias = {Place::input(layer, Product::kBias), {bias.column}};
  single.residual = {Place::input(layer, Product::kResidual), {residual.row, residual.column}};
  single.out = {Place::output(), {out.row, out.column}};
  single.b_is_constant = layer.isConstant(Product::kB) && layer.isConstant(Product::kBias);
  single.batch_invariant = layer.batch_invariant;
  return single;
}

SmallProduct withCopies(Launches& launches, const SmallProduct& product) {
  SmallProduct aligned = product;
  if (!product.windows) {
    copyIn(launches, product.dtype, {product.rows, product.depth}, aligned.a);
  }
  if (!product.b_is_constant) {  // memory of the engine is aligned
    copyIn(launches, product.dtype, {product.columns, product.depth}, aligned.b);
    copyIn(launches, hasScale(product) ? DType::kFloat32 : product.dtype, {product.columns}, aligned.bias);
    copyIn(launches, DType::kFloat32, {product.columns}, aligned.scale);
  }
  copyIn(launches, product.dtype, {product.rows, product.columns}, aligned.residual);
  const Ints dims = {product.rows, product.columns};
  aligned.out = {Place::reserve(launches, countOf(dims), product.dtype), kernels::denseStrides(dims)};
  return aligned;
}

bool hasSmallProducts(const CudaDevice& device, DType dtype) {
  return hasTiles(device) && sizeOf(dtype) == 2 && isFloating(dtype);
}

bool isSmall(const CudaDevice& device, const SmallProduct& product, bool has_activation) {
  constexpr int64_t kFewRows = 4;  // matmul/few_rows.h is faster
  if (product.batch_invariant) {
    return isPossible(device, product);
  }
  return product.rows > kFewRows && isPossible(device, product) &&
         expectedTime(tileOf(device, product), tiledOf(product)) < expectedOfLibrary(product, has_activation);
}

bool addSmallProduct(Launches& launches, const Layer& layer, const SmallProduct& product, bool copies) {
  if (!isPossible(layer.device, product)) {
    return false;
  }
  if (!copies) {
    addLaunch(launches, layer, product);
    return true;
  }
  const SmallProduct aligned = withCopies(launches, product);
  addLaunch(launches, layer, aligned);
  addCopy(launches, product.dtype, {product.rows, product.columns}, aligned.out, product.out);
  return true;
}

}  // namespace torchtrt::cuda
