#include "cuda/movement/copy.h"

#include "cuda/launch/types.h"

namespace torchtrt::cuda {

Part wholeOf(const kernels::TensorDesc& desc) {
  return {desc.dims, desc.strides, 0};
}

void addCopy(Launches& launches, DType dtype, size_t input, const Part& from, const Part& to) {
  Layout source_layout = collapsed(from.dims, {from.strides});
  Layout target_layout = collapsed(to.dims, {to.strides});
  if (from.dims == to.dims) {
    const Layout both = collapsedInAnyOrder(to.dims, {from.strides, to.strides});
    source_layout = collapsed(both.dims, {both.strides[0]});
    target_layout = collapsed(both.dims, {both.strides[1]});
  }
  const int64_t count = target_layout.count();
  if (count == 0) {
    return;
  }
  const auto size = static_cast<int64_t>(sizeOf(dtype));
  Source source;
  source.define("E", bitsType(dtype)).define("FROM_RANK", source_layout.rank()).define("TO_RANK", target_layout.rank());
  source.include("text/storage.cuh").include("movement/copy.cuh");
  Arguments arguments;
  arguments.value(count);
  addWalk(arguments, source_layout.dims, source_layout.strides[0]);
  arguments.input(input, from.offset * size);
  addWalk(arguments, target_layout.dims, target_layout.strides[0]);
  arguments.output(0, to.offset * size);
  launches.add(source, "copy", geometryFor(count), std::move(arguments));
}

}  // namespace torchtrt::cuda
