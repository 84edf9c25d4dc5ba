#include <algorithm>

#include "cuda/launch/kernel.h"
#include "cuda/launch/plugin.h"
#include "cuda/launch/types.h"
#include "cuda/plugins/plugins.h"
#include "cuda/sorting/sort.h"

namespace torchtrt::cuda {

namespace {

using kernels::TensorDesc;

std::unique_ptr<kernels::Prepared> prepareSuppression(const Layer& layer, const kernels::ShapeSet& shapes) {
  checkPluginShapes(layer.attributes, shapes);
  const TensorDesc& boxes = shapes.inputs.at(0);
  const TensorDesc& scores = shapes.inputs.at(1);
  const int64_t count = scores.dims.at(0);
  const int64_t padded = paddedLength(count);
  const int64_t threads = std::min<int64_t>(1024, padded);
  auto launches = std::make_unique<Launches>(layer.device);
  const int64_t items = launches->reserve(static_cast<size_t>(padded * kItemBytes));
  const int64_t removed = launches->reserve(static_cast<size_t>(count));
  Source source;
  source.define("STORED", storedType(boxes.dtype)).define("C", computedType(boxes.dtype)).define("THREADS", threads);
  source.include("text/storage.cuh").include("text/rounded.cuh").include("sorting/items.cuh");
  source.include("plugins/suppression.cuh");
  Arguments order, keep;
  order.value(count).value(padded).value(scores.strides.at(0)).input(1).scratch(items);
  launches->add(source, "suppression_items", geometryFor(padded), std::move(order));
  addSort(*launches, 1, padded, items);
  keep.value(count).value(boxes.strides.at(0)).value(boxes.strides.at(1)).input(0).scratch(items);
  keep.value(layer.attributes.getDouble("iou_threshold")).scratch(removed);
  keep.value(shapes.outputs.at(0).strides.at(0)).output(0).output(1);
  launches->add(source, "suppression", blocksFor(1, static_cast<unsigned>(threads)), std::move(keep));
  return launches;
}

}  // namespace

kernels::CreateResult createSuppression(const kernels::Problem& problem) {
  if (std::optional<Refusal> refusal = refuseOtherPlugin(problem, "torchtrt", "Suppression")) {
    return *refusal;
  }
  return launched(problem, prepareSuppression);
}

}  // namespace torchtrt::cuda
