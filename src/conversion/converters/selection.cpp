#include <algorithm>

#include "conversion/converters/call.h"
#include "conversion/converters/counted.h"
#include "conversion/converters/indexing.h"
#include "conversion/converters/list.h"
#include "conversion/ivalues.h"
#include "libtorch/versions.h"

namespace torchtrt::conversion::converters {
namespace {

std::pair<int64_t, int64_t> rangeOf(const Call& call, const Dim& dim) {
  return dim.range([&](const std::string& name) {
    const Symbol* symbol = call.net.findSymbol(name);
    return symbol ? *symbol : Symbol{name, 0, 0, INT64_MAX};
  });
}

// min and max that stay plain where one side always wins.
Dim smaller(const Call& call, const Dim& a, const Dim& b) {
  const auto [low, high] = rangeOf(call, a - b);
  return high <= 0 ? a : low >= 0 ? b : Dim::min(a, b);
}

Dim larger(const Call& call, const Dim& a, const Dim& b) {
  const auto [low, high] = rangeOf(call, a - b);
  return low >= 0 ? a : high <= 0 ? b : Dim::max(a, b);
}

// An index from the end, as Python counts, turned into one from the start.
Dim fromStart(const Call& call, const Dim& index, const Dim& size) {
  const auto [low, high] = rangeOf(call, index);
  if (low < 0 && high >= 0) {
    call.refuse("dynamic-dimension", "whether index " + index.toString() + " counts from the end depends on sizes");
  }
  return high < 0 ? index + size : index;
}

// A slice's bound, cut to [0, size] as Python does.
Dim clampedBound(const Call& call, const Dim& bound, const Dim& size) {
  return larger(call, smaller(call, fromStart(call, bound, size), size), 0);
}

// self, dim, start, end, step
Tensor& slice(Call& call) {
  Tensor& x = call.tensor(0);
  const int64_t axis = call.axis(1, x.rank()), step = call.integer(4);
  const Dim& size = dimOf(x, axis);
  const Dim start = call.isNone(2) ? Dim(0) : clampedBound(call, call.dim(2), size);
  const bool to_end = call.isNone(3) || call.dim(3) == Dim(INT64_MAX);
  const Dim end = to_end ? size : clampedBound(call, call.dim(3), size);
  const Dim length = larger(call, end - start, 0);
  if (start == Dim(0) && length == size && step == 1) {
    return x;
  }
  return call.slice(x, axis, start, step == 1 ? length : Dim::ceilDiv(length, step), step);
}

// One element along the axis, which goes away.
Tensor& elementOf(const Call& call, Tensor& x, int64_t axis, const Dim& index) {
  return call.squeeze(call.slice(x, axis, index, 1), axis);
}

// self, dim, index
Tensor& select(Call& call) {
  Tensor& x = call.tensor(0);
  const int64_t axis = call.axis(1, x.rank());
  const Dim index = fromStart(call, call.dim(2), dimOf(x, axis));
  if (rangeOf(call, dimOf(x, axis) - index).second < 1 || rangeOf(call, index).second < 0) {
    call.refuse("argument", "index " + call.dim(2).toString() + " is outside dimension " + std::to_string(axis) +
                                " of size " + dimOf(x, axis).toString());
  }
  return elementOf(call, x, axis, index);
}

// self, dim, start, length
Tensor& narrow(Call& call) {
  Tensor& x = call.tensor(0);
  const int64_t axis = call.axis(1, x.rank());
  return call.slice(x, axis, fromStart(call, call.dim(2), dimOf(x, axis)), call.dim(3));
}

std::vector<Tensor*> pieces(const Call& call, Tensor& x, int64_t axis, const std::vector<Dim>& sizes) {
  std::vector<Tensor*> result;
  Dim start = 0;
  for (const Dim& size : sizes) {
    result.push_back(&call.slice(x, axis, start, size));
    start = start + size;
  }
  return result;
}

// Pieces of `size`, the last one smaller.
std::vector<Dim> equalPieces(int64_t total, int64_t size) {
  std::vector<Dim> sizes;
  for (int64_t start = 0; start < total; start += size) {
    sizes.emplace_back(std::min(size, total - start));
  }
  return sizes.empty() ? std::vector<Dim>{Dim(0)} : sizes;
}

// The number of pieces is what the list's length is, so the size has to be a number.
std::vector<Tensor*> splitEvenly(Call& call) {
  Tensor& x = call.tensor(0);
  const int64_t axis = call.axis(2, x.rank());
  const int64_t total = call.number(dimOf(x, axis), "the size of the dimension to split");
  return pieces(call, x, axis, equalPieces(total, std::max<int64_t>(call.integer(1), 1)));
}

std::vector<Tensor*> splitBySizes(Call& call) {
  Tensor& x = call.tensor(0);
  return pieces(call, x, call.axis(2, x.rank()), call.dims(1));
}

// self, chunks, dim: a symbolic size is only cut where every chunk gets the same part of it
std::vector<Tensor*> chunk(Call& call) {
  Tensor& x = call.tensor(0);
  const int64_t axis = call.axis(2, x.rank()), chunks = call.integer(1);
  const Dim& size = dimOf(x, axis);
  if (!size.isConstant() && Dim::mod(size, chunks) == Dim(0)) {
    return pieces(call, x, axis, std::vector<Dim>(static_cast<size_t>(chunks), Dim::floorDiv(size, chunks)));
  }
  const int64_t total = call.number(size, "the size of the dimension to split");
  if (total == 0) {
    return pieces(call, x, axis, std::vector<Dim>(static_cast<size_t>(chunks), Dim(0)));
  }
  return pieces(call, x, axis, equalPieces(total, (total + chunks - 1) / chunks));
}

// self, sections, dim: the first ones get one more
std::vector<Tensor*> tensorSplit(Call& call) {
  Tensor& x = call.tensor(0);
  const int64_t axis = call.axis(2, x.rank()), sections = call.integer(1);
  const int64_t total = call.number(dimOf(x, axis), "the size of the dimension to split");
  std::vector<Dim> sizes;
  for (int64_t i = 0; i < sections; ++i) {
    sizes.emplace_back(total / sections + (i < total % sections ? 1 : 0));
  }
  return pieces(call, x, axis, sizes);
}

// self, dim
std::vector<Tensor*> unbind(Call& call) {
  Tensor& x = call.tensor(0);
  const int64_t axis = call.axis(1, x.rank());
  const int64_t total = call.number(dimOf(x, axis), "the size of the dimension to unbind");
  std::vector<Tensor*> result;
  for (int64_t i = 0; i < total; ++i) {
    result.push_back(&elementOf(call, x, axis, i));
  }
  return result;
}

// self, dims: those axes run backwards
Tensor& flip(Call& call) {
  Tensor& x = call.tensor(0);
  Dims starts(std::vector<Dim>(static_cast<size_t>(x.rank())));
  std::vector<int64_t> strides(static_cast<size_t>(x.rank()), 1);
  for (const int64_t given : call.integers(1)) {
    const int64_t axis = call.normalizeAxis(given, x.rank());
    starts[static_cast<int>(axis)] = dimOf(x, axis) - 1;
    strides[static_cast<size_t>(axis)] = -1;
  }
  return *call.net.addSlice(x, starts, x.getDimensions(), strides)->getOutput(0);
}

// Along each axis the last `shift` elements come to the front: padded with them there, and cropped behind.
Tensor& rollAxes(const Call& call, Tensor& x, const std::vector<int64_t>& axes, const std::vector<Dim>& shifts) {
  std::vector<Dim> front(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const Dim& size = dimOf(x, axes[i]);
    Dim& shift = front[static_cast<size_t>(axes[i])];
    shift = Dim::mod(shift + shifts[i], Dim::max(size, 1));  // nothing is moved where nothing is
  }
  std::vector<Dim> behind;
  for (const Dim& shift : front) {
    behind.push_back(Dim(0) - shift);
  }
  return call.add(LayerType::kPADDING, {&x},
                  attributes({{"pre", Dims(front)}, {"post", Dims(behind)}, {"mode", std::string("circular")}}));
}

// self, shifts, dims (none: of all elements in order)
Tensor& roll(Call& call) {
  Tensor& x = call.tensor(0);
  const std::vector<Dim> shifts = call.dims(1);
  std::vector<int64_t> axes = call.integers(2);
  if (axes.empty()) {
    Tensor& flat = call.reshape(x, Dims{x.getDimensions().numel()});
    return call.reshape(rollAxes(call, flat, {0}, {shifts[0]}), x.getDimensions());
  }
  for (int64_t& axis : axes) {
    axis = call.normalizeAxis(axis, x.rank());
  }
  return rollAxes(call, x, axes, shifts);
}

// PyTorch takes negative indices in x[i], take and, in newer releases, take_along_dim. It refuses them in index_select,
// embedding and gather.
Tensor& gatherFromStart(const Call& call, Tensor& x, Tensor& indices, int64_t axis, const char* mode = "default") {
  return call.add(LayerType::kGATHER, {&x, &indices},
                  attributes({{"mode", std::string(mode)}, {"axis", axis}, {"negative", false}}));
}

// self, dim, index
Tensor& indexSelect(Call& call) {
  Tensor& x = call.tensor(0);
  Tensor& indices = asIndices(call, call.tensor(2));
  return gatherFromStart(call, x, indices.rank() == 0 ? call.reshape(indices, {1}) : indices, call.axis(1, x.rank()));
}

// weight, indices
Tensor& embedding(Call& call) {
  return gatherFromStart(call, call.tensor(0), asIndices(call, call.tensor(1)), 0);
}

// Returns as much of x as is indexed, for elements by an index of the same rank, which may be smaller along the other
// axes.
Tensor& cutToIndices(const Call& call, Tensor& given, int64_t axis, const Tensor& indices) {
  Tensor* x = &given;
  for (int i = 0; i < given.rank(); ++i) {
    if (i != axis && !(given.getDimensions()[i] == indices.getDimensions()[i])) {
      x = &call.slice(*x, i, 0, indices.getDimensions()[i]);
    }
  }
  return *x;
}

// Elements of x as take_along_dim takes them.
Tensor& gatherElements(const Call& call, Tensor& given, int64_t axis, Tensor& indices) {
  Tensor& x = cutToIndices(call, given, axis, indices);
  Tensor& places = asIndices(call, indices);
  return libtorch::takeAlongDimTakesNegativeIndices() ? *call.net.addGather(x, places, axis, "element")->getOutput(0)
                                                      : gatherFromStart(call, x, places, axis, "element");
}

// self, dim, index
Tensor& gather(Call& call) {
  Tensor& x = call.tensor(0);
  if (x.rank() == 0) {
    return call.expand(x, call.tensor(2).getDimensions());
  }
  const int64_t axis = call.axis(1, x.rank());
  Tensor& indices = asIndices(call, call.tensor(2));
  return gatherFromStart(call, cutToIndices(call, x, axis, indices), indices, axis, "element");
}

Tensor& broadcastOthers(const Call& call, Tensor& tensor, const Tensor& like, int64_t axis) {
  std::vector<Dim> dims;
  for (int i = 0; i < tensor.rank(); ++i) {
    const bool takes_other = i != axis && isOne(tensor.getDimensions()[i]);
    dims.push_back(takes_other ? like.getDimensions()[i] : tensor.getDimensions()[i]);
  }
  return call.expand(tensor, Dims(dims));
}

// self, indices, dim (None: of all elements in order)
Tensor& takeAlongDim(Call& call) {
  Tensor& x = call.tensor(0);
  Tensor& indices = call.tensor(1);
  if (call.isNone(2)) {
    Tensor& flat = call.reshape(x, Dims{x.getDimensions().numel()});
    return gatherElements(call, flat, 0, call.reshape(indices, Dims{indices.getDimensions().numel()}));
  }
  const int64_t axis = call.axis(2, x.rank());
  return gatherElements(call, broadcastOthers(call, x, indices, axis), axis, broadcastOthers(call, indices, x, axis));
}

// self, index: of all elements in order
Tensor& take(Call& call) {
  Tensor& x = call.tensor(0);
  Tensor& flat = call.reshape(x, Dims{x.getDimensions().numel()});
  return *call.net.addGather(flat, asIndices(call, call.tensor(1)), 0)->getOutput(0);
}

// The indexed axes become one, from which elements are taken. It stays where the axes were if they are neighbours, and
// comes first if not.
Tensor& index(Call& call) {
  Tensor& x = call.tensor(0);
  if (const auto masked = maskIndex(call); masked && masked->axis == 0 && masked->mask->rank() > 0) {
    return maskedRows(call, x, *masked->mask);
  }
  const IndexedAxes indexed = indexedAxes(call);
  if (indexed.axes.empty()) {
    return x;
  }
  const int64_t first = indexed.axes.front();
  Tensor& positions = flatIndex(call, x, indexed);
  if (!areNeighbours(indexed.axes)) {
    return *call.net.addGather(*bringToFront(call, x, indexed.axes).merged, positions, 0)->getOutput(0);
  }
  if (indexed.axes.size() == 1) {
    return *call.net.addGather(x, positions, first)->getOutput(0);
  }
  std::vector<Dim> dims = x.getDimensions().vec();
  Dim merged = 1;
  for (const int64_t axis : indexed.axes) {
    merged = merged * dimOf(x, axis);
  }
  dims.erase(dims.begin() + first, dims.begin() + indexed.axes.back() + 1);
  dims.insert(dims.begin() + first, merged);
  return *call.net.addGather(call.reshape(x, Dims(dims)), positions, first)->getOutput(0);
}

// x with a part of it replaced: what is before, the new part, what is after.
Tensor& replacePart(const Call& call, Tensor& x, Tensor& part, int64_t axis, const Dim& start, const Dim& length) {
  const Dim rest = dimOf(x, axis) - start - length;
  std::vector<Tensor*> parts;
  if (!(start == Dim(0))) {
    parts.push_back(&call.slice(x, axis, 0, start));
  }
  parts.push_back(&call.cast(part, x.getType()));
  if (!(rest == Dim(0))) {
    parts.push_back(&call.slice(x, axis, start + length, rest));
  }
  return parts.size() == 1 ? *parts[0] : *call.net.addConcatenation(parts, axis)->getOutput(0);
}

// self, src, dim, index
Tensor& selectScatter(Call& call) {
  Tensor& x = call.tensor(0);
  const int64_t axis = call.axis(2, x.rank());
  Tensor& part = call.unsqueeze(call.tensor(1), axis);
  return replacePart(call, x, part, axis, fromStart(call, call.dim(3), dimOf(x, axis)), 1);
}

// self, src, dim, start, end, step
Tensor& sliceScatter(Call& call) {
  Tensor& x = call.tensor(0);
  const int64_t axis = call.axis(2, x.rank());
  const Dim& size = dimOf(x, axis);
  const Dim start = call.isNone(3) ? Dim(0) : clampedBound(call, call.dim(3), size);
  const Dim end = call.isNone(4) || call.dim(4) == Dim(INT64_MAX) ? size : clampedBound(call, call.dim(4), size);
  const Dim length = larger(call, end - start, 0);
  const int64_t step = call.integer(5);
  if (step == 1) {
    return replacePart(call, x, call.tensor(1), axis, start, length);
  }
  const int64_t first = call.number(start, "the start of a slice with a step");
  const int64_t count = (call.number(length, "the length of a slice with a step") + step - 1) / step;
  Tensor& places = *call.ctx.constant(at::arange(count, at::kLong) * step + first);
  return call.add(LayerType::kSCATTER, {&x, &places, &call.cast(call.tensor(1), x.getType())},
                  attributes({{"axis", axis}}));
}

}  // namespace

void addSelections(NodeConverterRegistry& registry) {
  registry.add(
      "aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
      one(slice));
  registry.add("aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", one(select));
  registry.add("aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)", one(narrow));
  registry.add("aten::narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)", one(narrow));
  registry.add("aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
               listOf(splitEvenly));
  registry.add("aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", listOf(splitEvenly));
  registry.add("aten::split(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]", listOf(splitBySizes));
  registry.add("aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
               listOf(splitBySizes));
  registry.add("aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
               listOf(splitBySizes));
  registry.add("aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", listOf(chunk));
  registry.add("aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", listOf(chunk));
  registry.add("aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]",
               listOf(tensorSplit));
  registry.add("aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", listOf(unbind));
  registry.add("aten::flip(Tensor self, int[] dims) -> Tensor", one(flip));
  registry.add("aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", one(roll));
  registry.add("aten::index_select(Tensor self, int dim, Tensor index) -> Tensor", one(indexSelect));
  registry.add(
      "aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool "
      "sparse=False) -> Tensor",
      one(embedding));
  registry.add("aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", one(gather));
  registry.add("aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", one(takeAlongDim));
  registry.add("aten::take(Tensor self, Tensor index) -> Tensor", one(take));
  registry.add("aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", one(index));
  registry.add("aten::index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor", one(index));
  registry.add("aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor", one(selectScatter));
  registry.add(
      "aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> "
      "Tensor",
      one(sliceScatter));
}

}  // namespace torchtrt::conversion::converters
