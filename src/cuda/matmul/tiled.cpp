#include <string>

#include "cuda/launch/activation.h"
#include "cuda/launch/types.h"
#include "cuda/matmul/matmul.h"
#include "cuda/matmul/product.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;

constexpr int64_t kTile = 16;

}  // namespace

std::unique_ptr<kernels::Prepared> prepareTiledMatmul(const Layer& layer, const ShapeSet& shapes) {
  const Product product = productOf(layer, shapes);
  const Layout layout = collapsed(product.batch, product.batchStrides());
  const DType dtype = shapes.outputs.at(0).dtype;
  Source source;
  source.define("STORED", storedType(dtype)).define("A", computedType(dtype)).define("TILE", kTile);
  source.define("BATCH", layout.rank());
  defineFusedActivation(source, layer.attributes, dtype);
  source.include("text/storage.cuh").include("text/functions.cuh").include("matmul/matmul.cuh");
  Arguments arguments;
  arguments.value(layout.count()).value(product.rows).value(product.columns).value(product.depth);
  for (size_t i = 0; i < Product::kParts; ++i) {
    addWalk(arguments, layout.dims, layout.strides[i]);
    const int64_t steps[] = {product.parts[i].row, product.parts[i].column};
    arguments.bytes(steps, sizeof(steps));
    if (i == Product::kOut) {
      arguments.output(0);
    } else {
      layer.add(arguments, i);
    }
  }
  addFusedActivation(arguments, layer.attributes);
  const auto tiles = [](int64_t size) { return (size + kTile - 1) / kTile; };
  auto launches = std::make_unique<Launches>(layer.device);
  const int64_t blocks = layout.count() * tiles(product.rows) * tiles(product.columns);
  launches->add(source, "matmul", blocksFor(blocks, kTile * kTile), std::move(arguments));
  return launches;
}

kernels::CreateResult createTiledMatmul(const kernels::Problem& problem) {
  if (std::optional<Refusal> refusal = refuseFusedActivation(*problem.attributes, problem.outputs.at(0).dtype)) {
    return *refusal;
  }
  return launched(problem, prepareTiledMatmul);
}

}  // namespace torchtrt::cuda
