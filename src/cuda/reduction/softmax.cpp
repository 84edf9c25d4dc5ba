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
  const unsigned threads = threadsOfRow(dims.inside[0]);
  Source source;
  source.define("STORED", storedType(in.dtype)).define("C", computedType(in.dtype)).define("KEPT", kept.rank());
  source.define("THREADS", static_cast<int64_t>(threads));
  source.define("LOGARITHM", int64_t{layer.attributes.getBool("log", false)});
  source.include("text/storage.cuh").include("text/reduction.cuh").include("reduction/softmax.cuh");
  Arguments arguments;
  arguments.value(kept.count()).value(dims.inside[0]);
  addWalk(arguments, kept.dims, kept.strides[0]);
  arguments.value(from.inside[0]).input(0);
  addWalk(arguments, kept.dims, kept.strides[1]);
  arguments.value(to.inside[0]).output(0);
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "softmax", blocksFor(kept.count(), threads), std::move(arguments));
  return launches;
}

}  // namespace

kernels::CreateResult createSoftmax(const kernels::Problem& problem) {
  return launched(problem, prepareSoftmax);
}

}  // namespace torchtrt::cuda
