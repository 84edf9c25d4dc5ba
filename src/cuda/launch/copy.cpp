#include "cuda/launch/copy.h"

#include <algorithm>

#include "cuda/launch/types.h"

namespace torchtrt::cuda {

void addCopy(Launches& launches, DType dtype, const Layout& from, const AddPointer& source_pointer, const Layout& to,
             const AddPointer& target_pointer) {
  const int64_t count = to.count();
  if (count == 0) {
    return;
  }
  const int64_t chunk = std::min(chunkOf(from, {sizeOf(dtype)}), chunkOf(to, {sizeOf(dtype)}));
  Source source;
  source.define("E", bitsType(dtype)).define("FROM_RANK", from.rank()).define("TO_RANK", to.rank());
  source.define("CHUNK", chunk);
  source.include("text/storage.cuh").include("text/chunks.cuh").include("launch/copy.cuh");
  Arguments arguments;
  arguments.value(count);
  addWalk(arguments, from.dims, from.strides[0]);
  source_pointer(arguments);
  addWalk(arguments, to.dims, to.strides[0]);
  target_pointer(arguments);
  launches.add(source, "copy", geometryFor((count + chunk - 1) / chunk), std::move(arguments));
}

Part wholeOf(const kernels::TensorDesc& desc) {
  return {desc.dims, desc.strides, 0};
}

void addCopy(Launches& launches, DType dtype, size_t input, const Part& from, const Part& to) {
  const auto size = static_cast<int64_t>(sizeOf(dtype));
  Layout source = collapsed(from.dims, {from.strides}), target = collapsed(to.dims, {to.strides});
  if (from.dims == to.dims) {
    const Layout both = collapsedInAnyOrder(to.dims, {from.strides, to.strides});
    source = collapsed(both.dims, {both.strides[0]});
    target = collapsed(both.dims, {both.strides[1]});
  }
  addCopy(
      launches, dtype, source, [&](Arguments& arguments) { arguments.input(input, from.offset * size); }, target,
      [&](Arguments& arguments) { arguments.output(0, to.offset * size); });
}

}  // namespace torchtrt::cuda
