#include "cuda/launch/copy.h"

#include <algorithm>

#include "cuda/launch/types.h"

namespace torchtrt::cuda {

namespace {

// Counts the target's neighbours that a thread moves at once, and their distance in the source.
struct Moved {
  int64_t chunk = 1, step = 1;
};

Moved movedAtOnce(DType dtype, const Layout& from, const Layout& to) {
  constexpr int64_t kMostApart = 4;  // farther apart, a warp would read more lines than its cache holds
  const int64_t chunk = chunkOf(to, {sizeOf(dtype)});
  if (chunk == 1 || from.dims.empty()) {
    return {};
  }
  const int64_t step = from.strides[0].back();
  if (step == 1) {
    return {std::min(chunk, chunkOf(from, {sizeOf(dtype)})), 1};
  }
  const bool fits = step > 1 && step <= kMostApart && (from.rank() == 1 || from.dims.back() % chunk == 0);
  return fits ? Moved{chunk, step} : Moved{};
}

}  // namespace

void addCopy(Launches& launches, DType dtype, const Layout& from, const AddPointer& source_pointer, const Layout& to,
             const AddPointer& target_pointer) {
  const int64_t count = to.count();
  if (count == 0) {
    return;
  }
  const Moved moved = movedAtOnce(dtype, from, to);
  const bool is_short = isShort(from.dims, from.strides[0]) && isShort(to.dims, to.strides[0]);
  const auto add_walk = is_short ? addShortWalk : addWalk;
  Source source;
  source.define("E", bitsType(dtype)).define("FROM_RANK", from.rank()).define("TO_RANK", to.rank());
  source.define("CHUNK", moved.chunk).define("STEP", moved.step).define("WALK", is_short ? "ShortWalk" : "Walk");
  source.include("text/storage.cuh").include("text/chunks.cuh").include("text/inputs.cuh").include("launch/copy.cuh");
  Arguments arguments;
  arguments.value(count);
  add_walk(arguments, from.dims, from.strides[0]);
  source_pointer(arguments);
  add_walk(arguments, to.dims, to.strides[0]);
  target_pointer(arguments);
  launches.add(source, "copy", geometryFor((count + moved.chunk - 1) / moved.chunk), std::move(arguments));
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
