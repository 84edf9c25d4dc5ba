// Products of one matrix of 16 bits by constant weights with many results, by the kernel of matmul/warpgroup_product.h.
// Bias, residual and activation cost no launch.
#include <memory>
#include <optional>
#include <utility>

#include "cuda/launch/activation.h"
#include "cuda/launch/aligned.h"
#include "cuda/launch/for_some.h"
#include "cuda/launch/types.h"
#include "cuda/matmul/matmul.h"
#include "cuda/matmul/small_product.h"
#include "cuda/matmul/warpgroup_product.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;

// True if rows of so many elements lie dense.
bool liesDense(const Strided& matrix, int64_t rows, int64_t elements) {
  return matrix.place.kind == Place::Kind::kAbsent ||
         (matrix.strides[1] == 1 && (rows == 1 || matrix.strides[0] == elements));
}

std::optional<WarpgroupProduct> byWarpgroups(const SmallProduct& single) {
  const bool lie_dense =
      liesDense(single.a, single.rows, single.depth) && liesDense(single.b, single.columns, single.depth) &&
      liesDense(single.residual, single.rows, single.columns) && liesDense(single.out, single.rows, single.columns);
  const bool has_dense_bias = single.bias.place.kind == Place::Kind::kAbsent || single.bias.strides[0] == 1;
  if (!single.b_is_constant || !lie_dense || !has_dense_bias) {
    return std::nullopt;
  }
  WarpgroupProduct product;
  product.dtype = single.dtype;
  product.rows = single.rows;
  product.columns = single.columns;
  product.depth = single.depth * static_cast<int64_t>(sizeOf(single.dtype));
  product.a = single.a.place;
  product.b = single.b.place;
  product.residual = single.residual.place;
  product.out = single.out.place;
  return product;
}

void addLaunch(Launches& launches, const Layer& layer, const SmallProduct& single, const WarpgroupTile& tile) {
  constexpr int64_t kValueBytes = 4;  // of warpgroup_results.cuh
  const WarpgroupProduct product = *byWarpgroups(single);
  Source source;
  source.define("OUT", storedType(single.dtype));
  source.define("HAS_BIAS", int64_t{single.bias.place.kind != Place::Kind::kAbsent});
  source.define("HAS_RESIDUAL", int64_t{single.residual.place.kind != Place::Kind::kAbsent});
  defineFusedActivation(source, layer.attributes, single.dtype);
  source.include("text/storage.cuh").include("text/functions.cuh");
  addWarpgroupText(source, tile, product, kValueBytes);
  source.include("matmul/warpgroup_results.cuh");
  Arguments arguments;
  addOperands(arguments, tile, product);
  single.bias.place.addTo(arguments);
  addFusedActivation(arguments, layer.attributes);
  launches.add(source, "product", geometryOf(layer.device, tile, product, kValueBytes), std::move(arguments));
}

std::unique_ptr<kernels::Prepared> prepare(const Layer& layer, const ShapeSet& shapes) {
  const std::optional<SmallProduct> single = singleProductOf(layer, shapes);
  const std::optional<WarpgroupProduct> product = single ? byWarpgroups(*single) : std::nullopt;
  const std::optional<WarpgroupTile> tile = product ? warpgroupTileFor(layer.device, *product) : std::nullopt;
  if (!tile) {
    return nullptr;
  }
  auto in_place = std::make_unique<Launches>(layer.device);
  addLaunch(*in_place, layer, *single, *tile);
  auto by_copies = std::make_unique<Launches>(layer.device);
  const SmallProduct copied = withCopies(*by_copies, *single);
  addLaunch(*by_copies, layer, copied, *tile);
  addCopy(*by_copies, single->dtype, {single->rows, single->columns}, copied.out, single->out);
  return whereAligned(std::move(in_place), std::move(by_copies), layer.present);
}

}  // namespace

kernels::CreateResult createWarpgroupMatmul(const kernels::Problem& problem) {
  const DType dtype = problem.outputs.at(0).dtype;
  if (!isFloating(dtype) || sizeOf(dtype) != 2) {
    return Refusal{"dtype", "tensor cores of this kernel take 16 bits"};
  }
  if (std::optional<Refusal> refusal = refuseFusedActivation(*problem.attributes, dtype)) {
    return *refusal;
  }
  return launchedForSome(problem, prepare, {createSmallMatmul});
}

}  // namespace torchtrt::cuda
