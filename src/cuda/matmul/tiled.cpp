#include <string>

#include "cuda/launch/activation.h"
#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/types.h"
#include "cuda/matmul/matmul.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

constexpr int64_t kTile = 16;

// The last two strides, and those of the batch in front of them.
struct Matrices {
  Ints batch;
  int64_t row = 0, column = 0;
};

Matrices split(Ints strides) {
  Matrices matrices;
  matrices.column = strides.back();
  strides.pop_back();
  matrices.row = strides.back();
  strides.pop_back();
  matrices.batch = std::move(strides);
  return matrices;
}

// Of a or b, whose batch dims are broadcast to the output's.
Matrices operandOf(const TensorDesc& desc, const Ints& batch, bool transposed) {
  Matrices matrices = split(desc.strides);
  const Ints dims(desc.dims.begin(), desc.dims.end() - 2);
  matrices.batch = broadcastStrides({desc.dtype, dims, matrices.batch}, batch);
  if (transposed) {
    std::swap(matrices.row, matrices.column);
  }
  return matrices;
}

std::unique_ptr<kernels::Prepared> prepareTiled(const Layer& layer, const ShapeSet& shapes) {
  enum : size_t { kA, kB, kBias, kResidual };
  const TensorDesc& out = shapes.outputs.at(0);
  const bool transposed = layer.attributes.getBool("transpose_a", false);
  const TensorDesc& a_desc = shapes.inputs.at(kA);
  const int64_t depth = a_desc.dims[a_desc.dims.size() - (transposed ? 2 : 1)];
  const int64_t rows = out.dims[out.dims.size() - 2], columns = out.dims.back();
  const Ints batch(out.dims.begin(), out.dims.end() - 2);
  const auto beside = [&](size_t input) {
    return split(layer.has(input) ? broadcastStrides(shapes.inputs[input], out.dims) : Ints(out.dims.size(), 0));
  };
  const Matrices all[] = {operandOf(a_desc, batch, transposed),
                          operandOf(shapes.inputs.at(kB), batch, layer.attributes.getBool("transpose_b", false)),
                          beside(kBias), beside(kResidual), split(out.strides)};
  std::vector<Ints> strides;
  for (const Matrices& each : all) {
    strides.push_back(each.batch);
  }
  const Layout layout = collapsed(batch, strides);
  Source source;
  source.define("STORED", storedType(out.dtype)).define("A", computedType(out.dtype)).define("TILE", kTile);
  source.define("BATCH", layout.rank());
  defineFusedActivation(source, layer.attributes);
  source.include("text/storage.cuh").include("text/functions.cuh").include("matmul/matmul.cuh");
  Arguments arguments;
  arguments.value(layout.count()).value(rows).value(columns).value(depth);
  for (size_t i = 0; i < std::size(all); ++i) {
    addWalk(arguments, layout.dims, layout.strides[i]);
    const int64_t steps[] = {all[i].row, all[i].column};
    arguments.bytes(steps, sizeof(steps));
    if (i == std::size(all) - 1) {
      arguments.output(0);
    } else {
      layer.add(arguments, i);
    }
  }
  addFusedActivation(arguments, layer.attributes);
  const auto tiles = [](int64_t size) { return (size + kTile - 1) / kTile; };
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "matmul", blocksFor(layout.count() * tiles(rows) * tiles(columns), kTile * kTile),
                std::move(arguments));
  return launches;
}

}  // namespace

kernels::CreateResult createTiledMatmul(const kernels::Problem& problem) {
  if (std::optional<Refusal> refusal = refuseFusedActivation(*problem.attributes, problem.outputs.at(0).dtype)) {
    return *refusal;
  }
  return launched(problem, prepareTiled);
}

}  // namespace torchtrt::cuda
