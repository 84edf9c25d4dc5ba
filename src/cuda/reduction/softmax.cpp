#include "cuda/launch/kernel.h"
#include "cuda/launch/types.h"
#include "cuda/reduction/reduction.h"
#include "cuda/reduction/rows.h"

namespace torchtrt::cuda {

namespace {

std::unique_ptr<kernels::Prepared> prepareSoftmax(const Layer& layer, const kernels::ShapeSet& shapes) {
  const kernels::TensorDesc& in = shapes.inputs.at(0);
  const kernels::TensorDesc& out = shapes.outputs.at(0);
  const Ints axis = {layer.attributes.getInt("axis")};
  const auto cut = [&](const Ints& values, int64_t of_scalar) {
    return values.empty() ? Cut{{}, {of_scalar}} : cutAt(values, axis);
  };
  const Cut dims = cut(in.dims, 1);
  const Cut from = cut(in.strides, 0);
  const Cut to = cut(out.strides, 0);
  const Layout kept = collapsed(dims.outside, {from.outside, to.outside});
  const RowPlan plan = planRows(layer, kept.count(), dims.inside[0], liesByColumn(kept, from.inside));
  Source source;
  plan.define(source);
  source.define("STORED", storedType(in.dtype)).define("C", computedType(in.dtype)).define("KEPT", kept.rank());
  source.define("LOGARITHM", int64_t{layer.attributes.getBool("log", false)});
  source.include("text/storage.cuh").include("text/reduction.cuh").include("text/rows.cuh");
  source.include("text/inputs.cuh").include("reduction/softmax.cuh");
  if (plan.isInParts()) {
    source.include("reduction/softmax_parts.cuh");
  }
  const auto addInput = [&](Arguments& arguments) {
    arguments.value(plan.argument);
    addWalk(arguments, kept.dims, kept.strides[0]);
    arguments.value(from.inside[0]).input(0);
  };
  const auto addOutput = [&](Arguments& arguments) {
    addWalk(arguments, kept.dims, kept.strides[1]);
    arguments.value(to.inside[0]).output(0);
  };
  auto launches = std::make_unique<Launches>(layer.device);
  if (!plan.isInParts()) {
    Arguments arguments;
    addInput(arguments);
    addOutput(arguments);
    launches->add(source, "softmax", plan.geometry, std::move(arguments));
    return launches;
  }
  const int64_t highests = launches->reserve(plan.scratchBytes());
  const int64_t sums = launches->reserve(plan.scratchBytes());
  Arguments highest, sum, write;
  addInput(highest);
  highest.scratch(highests);
  launches->add(source, "softmax_highest", plan.geometry, std::move(highest));
  addInput(sum);
  sum.scratch(highests).scratch(sums);
  launches->add(source, "softmax_sum", plan.geometry, std::move(sum));
  addInput(write);
  write.scratch(highests).scratch(sums);
  addOutput(write);
  launches->add(source, "softmax_write", plan.geometry, std::move(write));
  return launches;
}

}  // namespace

kernels::CreateResult createSoftmax(const kernels::Problem& problem) {
  return launched(problem, prepareSoftmax);
}

}  // namespace torchtrt::cuda
