#include "cuda/matmul/few_rows.h"

#include <algorithm>

#include "cuda/launch/activation.h"
#include "cuda/launch/types.h"

namespace torchtrt::cuda {

namespace {

constexpr int64_t kRowsOfGroup = 4, kMostRows = 64;
constexpr int64_t kMostWeights = int64_t{4} << 20;
constexpr int64_t kMostReads = int64_t{1} << 20;  // of weights, by several groups of rows
constexpr int64_t kWarps = 4, kThreads = 32 * kWarps;

bool liesInChunks(const Strided& matrix, int64_t lines, int64_t chunk) {
  return matrix.strides[1] == 1 && (lines == 1 || matrix.strides[0] % chunk == 0);
}

int64_t groupsOf(const FewRows& product) {
  return (product.rows + kRowsOfGroup - 1) / kRowsOfGroup;
}

bool isPossible(const FewRows& product) {
  if (product.dtype == DType::kFloat64 || product.rows < 1 || product.rows > kMostRows || product.columns < 1 ||
      product.depth < 1 || product.columns > kMostWeights / product.depth) {
    return false;
  }
  const int64_t groups = groupsOf(product);
  return groups == 1 || groups * product.columns * product.depth <= kMostReads;
}

// Elements along the depth that a lane reads at once: 16 bytes where the depth and the lines allow it. 0 if they do not
// lie dense.
int64_t chunkFor(const FewRows& product) {
  int64_t chunk = inChunk(sizeOf(product.dtype));
  while (chunk > 0 && (product.depth % chunk != 0 || !liesInChunks(product.x, product.rows, chunk) ||
                       !liesInChunks(product.weights, product.columns, chunk))) {
    chunk /= 2;
  }
  return chunk;
}

}  // namespace

std::unique_ptr<kernels::Prepared> prepareFewRows(const Layer& layer, const FewRows& product) {
  const int64_t chunk = isPossible(product) ? chunkFor(product) : 0;
  if (chunk == 0) {
    return nullptr;
  }
  Source source;
  source.define("STORED", storedType(product.dtype)).define("A", computedType(product.dtype));
  source.define("ROWS", std::min(product.rows, kRowsOfGroup))
      .define("CHUNK", chunk)
      .define("ROUNDS_FIRST", int64_t{product.rounds_first});
  const bool are_constant =
      product.weights.place.kind == Place::Kind::kInput && layer.isConstant(product.weights.place.index);
  source.define("ARE_CONSTANT", int64_t{are_constant});
  defineFusedActivation(source, layer.attributes, product.dtype);
  source.include("text/storage.cuh").include("text/functions.cuh").include("text/reduction.cuh");
  source.include("text/chunks.cuh").include("text/inputs.cuh").include("matmul/few_rows.cuh");
  Arguments arguments;
  arguments.value(static_cast<int>(product.rows)).value(static_cast<int>(product.columns));
  arguments.value(static_cast<int>(product.depth / chunk));
  product.x.place.addTo(arguments.value(product.x.strides[0]));
  product.weights.place.addTo(arguments.value(product.weights.strides[0]));
  product.bias.place.addTo(arguments.value(product.bias.strides[0]));
  product.out.place.addTo(arguments.value(product.out.strides[0]).value(product.out.strides[1]));
  addFusedActivation(arguments, layer.attributes);
  auto launches = std::make_unique<Launches>(layer.device);
  constexpr int64_t kMostBlocks = int64_t{1} << 15;  // each goes on with a stride of the grid
  const int64_t groups = groupsOf(product);
  const int64_t across = std::min((product.columns + kWarps - 1) / kWarps, kMostBlocks / groups);
  launches->add(source, "fewRows", blocksFor(across * groups, kThreads), std::move(arguments));
  return launches;
}

}  // namespace torchtrt::cuda
