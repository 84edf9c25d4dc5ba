#include "cuda/plugins/regions.h"

#include <string>

#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/plugin.h"
#include "cuda/launch/types.h"
#include "cuda/plugins/plugins.h"

namespace torchtrt::cuda {

namespace {

using kernels::TensorDesc;

// Images and Cells of regions.cuh.
struct ImagesArgument {
  int64_t count, channels, height, width;
  int64_t batch_step, channel_step, row_step, column_step;
};
struct CellsArgument {
  int64_t rows, columns, sampling_ratio;
  int64_t is_aligned;
  double spatial_scale;
};

std::unique_ptr<kernels::Prepared> prepareRegions(const Layer& layer, const kernels::ShapeSet& shapes) {
  checkPluginShapes(layer.attributes, shapes);
  const Attributes& fields = layer.attributes;
  const TensorDesc& in = shapes.inputs.at(0);
  const TensorDesc& regions = shapes.inputs.at(1);
  const TensorDesc& out = shapes.outputs.at(0);
  const TensorDesc& places = shapes.outputs.back();
  if (regions.dims[0] > 0 && in.dims[2] * in.dims[3] == 0) {
    throw EngineError(ErrorCode::kPlugin, "PoolRegions: expected images with pixels");
  }
  const std::string& op = fields.getString("op");
  const Layout to = collapsed(out.dims, {out.strides}), to_places = collapsed(places.dims, {places.strides});
  Source source;
  source.define("STORED", storedType(in.dtype)).define("C", regionNumber(in.dtype));
  source.define("INDEX", indexType(to.count()));
  source.define("ALIGNS", int64_t{op.starts_with("align")}).define("BY_POSITION", int64_t{op.ends_with("by_position")});
  source.define("OUT_RANK", to.rank()).define("PLACES_RANK", to_places.rank());
  source.include("text/storage.cuh").include("text/rounded.cuh").include("text/faults.cuh");
  source.include("plugins/regions.cuh");
  Arguments arguments;
  arguments.value(to.count()).value(out.dims.at(1));
  arguments.value(ImagesArgument{in.dims[0], in.dims[1], in.dims[2], in.dims[3], in.strides[0], in.strides[1],
                                 in.strides[2], in.strides[3]});
  arguments.input(0).value(regions.strides.at(0)).value(regions.strides.at(1)).input(1);
  arguments.value(CellsArgument{fields.getInt("rows"), fields.getInt("columns"), fields.getInt("sampling_ratio", -1),
                                int64_t{fields.getBool("aligned", false)}, fields.getDouble("spatial_scale")});
  addWalk(arguments, to.dims, to.strides[0]);
  arguments.output(0);
  addWalk(arguments, to_places.dims, to_places.strides[0]);
  shapes.outputs.size() > 1 ? arguments.output(1) : arguments.absent();
  arguments.fault();
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "pool_regions", geometryFor(to.count()), std::move(arguments));
  return launches;
}

}  // namespace

const char* regionNumber(DType dtype) {
  return dtype == DType::kFloat16 ? "HalfNumber" : computedType(dtype);
}

kernels::CreateResult createPoolRegions(const kernels::Problem& problem) {
  if (std::optional<Refusal> refusal = refuseOtherPlugin(problem, "torchtrt", "PoolRegions")) {
    return *refusal;
  }
  return launched(problem, prepareRegions);
}

}  // namespace torchtrt::cuda
