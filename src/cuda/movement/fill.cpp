#include <string>

#include "cuda/launch/bits.h"
#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/types.h"
#include "cuda/movement/movement.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

// Writes one element's bits to every place of output 0.
void addConstant(Launches& launches, const Layout& layout, DType dtype, uint64_t bits) {
  Source source;
  source.define("E", bitsType(dtype)).define("FROM_RANK", 0).define("TO_RANK", layout.rank());
  source.define("CHUNK", 1).define("STEP", 1).define("WALK", "Walk");
  source.include("text/storage.cuh").include("text/chunks.cuh").include("text/inputs.cuh").include("launch/copy.cuh");
  Arguments arguments;
  arguments.value(layout.count());
  addWalk(arguments, layout.dims, layout.strides[0]);
  arguments.output(0).value(bits);
  launches.add(source, "fill", geometryFor(layout.count()), std::move(arguments));
}

void addRange(Launches& launches, const Layout& layout, DType dtype, const Attributes& attributes) {
  Source source;
  source.define("OUT", storedType(dtype)).define("N", isFloating(dtype) ? "double" : "long long");
  source.define("RANK", layout.rank());
  source.include("text/storage.cuh").include("text/rounded.cuh").include("movement/range.cuh");
  Arguments arguments;
  arguments.value(layout.count());
  addWalk(arguments, layout.dims, layout.strides[0]);
  arguments.output(0);
  if (isFloating(dtype)) {
    arguments.value(attributes.getDouble("value", 0)).value(attributes.getDouble("step", 0));
  } else {
    arguments.value(attributes.getInt("int_value", 0)).value(attributes.getInt("int_step", 0));
  }
  launches.add(source, "range", geometryFor(layout.count()), std::move(arguments));
}

}  // namespace

kernels::CreateResult createFill(const kernels::Problem& problem) {
  return launched(problem, [](const Layer& layer, const ShapeSet& shapes) {
    const TensorDesc& out = shapes.outputs.at(0);
    const Attributes& attributes = layer.attributes;
    const Layout layout = collapsed(out.dims, {out.strides});
    auto launches = std::make_unique<Launches>(layer.device);
    if (attributes.getString("op") == "arange") {
      addRange(*launches, layout, out.dtype, attributes);
    } else {
      addConstant(*launches, layout, out.dtype,
                  isFloating(out.dtype) ? bitsOf(attributes.getDouble("value", 0), out.dtype)
                                        : bitsOf(attributes.getInt("int_value", 0), out.dtype));
    }
    return launches;
  });
}

}  // namespace torchtrt::cuda
