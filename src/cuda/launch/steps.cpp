#include "cuda/launch/steps.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cuda/launch/activation.h"
#include "cuda/launch/copy.h"
#include "cuda/launch/types.h"

namespace torchtrt::cuda {

Arguments& Place::addTo(Arguments& arguments, int64_t bytes) const {
  switch (kind) {
    case Kind::kInput:
      return arguments.input(index, bytes);
    case Kind::kOutput:
      return arguments.output(index, bytes);
    case Kind::kScratch:
      return arguments.scratch(offset + bytes);
    case Kind::kFixed:
      return arguments.fixed(address + static_cast<DevicePointer>(bytes));
    case Kind::kAbsent:
      break;
  }
  return arguments.absent();
}

void defineScale(Source& source, bool has_scale, DType dtype) {
  source.define("HAS_SCALE", int64_t{has_scale}).define("BIAS", storedType(has_scale ? DType::kFloat32 : dtype));
}

void addCopy(Launches& launches, DType dtype, const Ints& dims, const Strided& from, const Strided& to) {
  const Layout layout = collapsedInAnyOrder(dims, {from.strides, to.strides});
  addCopy(
      launches, dtype, collapsed(layout.dims, {layout.strides[0]}),
      [&](Arguments& arguments) { from.place.addTo(arguments); }, collapsed(layout.dims, {layout.strides[1]}),
      [&](Arguments& arguments) { to.place.addTo(arguments); });
}

namespace {

// The number of neighbours in a row that a thread may finish at once: 16 bytes of the sums, or of the output where its
// elements are larger. 1 where an operand lies otherwise.
int64_t finishedAtOnce(const Finish& finish, const Layout& rows) {
  const int64_t chunk = inChunk(std::max(sizeOf(finish.sums_dtype), sizeOf(finish.dtype)));
  const Strided* const parts[] = {&finish.sums, &finish.scale, &finish.bias, &finish.residual, &finish.out};
  bool lies_so = finish.dims.back() % chunk == 0;
  for (size_t i = 0; i < std::size(parts); ++i) {
    const bool is_there = parts[i]->place.kind != Place::Kind::kAbsent;
    lies_so = lies_so && (!is_there || parts[i]->strides.back() == 1) && keepChunks(rows.strides[i], chunk);
  }
  return lies_so ? chunk : 1;
}

// True where all operands lie dense, so that no row has to be found.
bool isFlat(const Finish& finish) {
  const Ints dense = kernels::denseStrides(finish.dims);
  for (const Strided* const part : {&finish.sums, &finish.scale, &finish.bias, &finish.residual, &finish.out}) {
    if (part->place.kind != Place::Kind::kAbsent && part->strides != dense) {
      return false;
    }
  }
  return true;
}

}  // namespace

void addFinish(Launches& launches, const Layer& layer, const Finish& finish) {
  const Strided* const parts[] = {&finish.sums, &finish.scale, &finish.bias, &finish.residual, &finish.out};
  Ints dims = finish.dims;
  const int64_t columns = dims.back();
  dims.pop_back();
  std::vector<Ints> strides;
  for (const Strided* const part : parts) {
    strides.emplace_back(part->strides.begin(), part->strides.end() - 1);
  }
  const Layout rows = collapsed(dims, strides);
  const int64_t chunk = finishedAtOnce(finish, rows);
  Source source;
  source.define("CHUNK", chunk).define("FLAT", int64_t{isFlat(finish)});
  defineScale(source, finish.scale.place.kind != Place::Kind::kAbsent, finish.dtype);
  source.define("ADDS_BIAS", int64_t{finish.bias.place.kind != Place::Kind::kAbsent});
  source.define("ADDS_RESIDUAL", int64_t{finish.residual.place.kind != Place::Kind::kAbsent});
  source.define("SUM", storedType(finish.sums_dtype)).define("STORED", storedType(finish.dtype));
  source.define("A", computedType(finish.dtype)).define("RANK", rows.rank());
  defineFusedActivation(source, layer.attributes, finish.dtype);
  source.include("text/storage.cuh").include("text/functions.cuh").include("text/chunks.cuh");
  source.include("text/inputs.cuh").include("launch/finish.cuh");
  Arguments arguments;
  arguments.value(rows.count()).value(columns);
  for (size_t i = 0; i < std::size(parts); ++i) {
    addWalk(arguments, rows.dims, rows.strides[i]);
    parts[i]->place.addTo(arguments.value(parts[i]->strides.back()));
  }
  addFusedActivation(arguments, layer.attributes);
  constexpr int64_t kWarp = 32, kMostThreads = 256;
  const int64_t threads = std::clamp((columns + kWarp - 1) / kWarp * kWarp, kWarp, kMostThreads);
  const Geometry geometry =
      chunk > 1 ? geometryFor(rows.count() * columns / chunk) : blocksFor(rows.count(), static_cast<unsigned>(threads));
  launches.add(source, "finish", geometry, std::move(arguments));
}

}  // namespace torchtrt::cuda
