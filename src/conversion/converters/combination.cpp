#include <algorithm>

#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

namespace torchtrt::conversion::converters {
namespace {

DType commonType(const std::vector<Tensor*>& tensors) {
  std::vector<Operand> operands;
  for (Tensor* tensor : tensors) {
    operands.push_back({tensor, false, {}});
  }
  return resultType(operands);
}

Tensor& concatenate(const Call& call, std::vector<Tensor*> tensors, int64_t axis) {
  const DType dtype = commonType(tensors);
  for (Tensor*& tensor : tensors) {
    tensor = &call.cast(*tensor, dtype);
  }
  return *call.net.addConcatenation(tensors, axis)->getOutput(0);
}

// PyTorch skips empty vectors, whatever the rank of the others.
Tensor& cat(Call& call) {
  const std::vector<Tensor*> all = call.tensors(0);
  std::vector<Tensor*> tensors;
  for (Tensor* tensor : all) {
    if (tensor->rank() != 1 || tensor->getDimensions()[0] != Dim(0)) {
      tensors.push_back(tensor);
    }
  }
  if (tensors.empty()) {
    if (all.empty()) {
      call.refuse("argument", "expected at least one tensor");
    }
    return *all[0];
  }
  return concatenate(call, tensors, call.axis(1, tensors[0]->rank()));
}

Tensor& stack(Call& call) {
  std::vector<Tensor*> tensors = call.tensors(0);
  if (tensors.empty()) {
    call.refuse("argument", "expected at least one tensor");
  }
  const int64_t axis = call.axis(1, tensors[0]->rank() + 1);
  for (Tensor*& tensor : tensors) {
    tensor = &call.unsqueeze(*tensor, axis);
  }
  return concatenate(call, tensors, axis);
}

// self, size, implicit; -1 keeps a dim
Tensor& expand(Call& call) {
  Tensor& x = call.tensor(0);
  std::vector<Dim> dims = call.dims(1);
  const size_t added = dims.size() - std::min(dims.size(), static_cast<size_t>(x.rank()));
  for (size_t i = added; i < dims.size(); ++i) {
    if (dims[i] == Dim(-1)) {
      dims[i] = x.getDimensions()[static_cast<int>(i - added)];
    }
  }
  return call.expand(x, Dims(dims));
}

Tensor& expandAs(Call& call) {
  return call.expand(call.tensor(0), call.tensor(1).getDimensions());
}

// Every dim n becomes [times, n], which is [times * n] again.
Tensor& tile(const Call& call, Tensor& x, const std::vector<Dim>& times) {
  std::vector<Dim> split, spread, result;
  for (int i = 0; i < x.rank(); ++i) {
    const Dim& dim = x.getDimensions()[i];
    const Dim& factor = times[static_cast<size_t>(i)];
    if (!isOne(factor)) {
      split.emplace_back(1);
      spread.push_back(factor);
    }
    split.push_back(dim);
    spread.push_back(dim);
    result.push_back(dim * factor);
  }
  return call.reshape(call.expand(call.reshape(x, Dims(split)), Dims(spread)), Dims(result));
}

// Puts dims of 1 in front until the rank is reached.
Tensor& withRank(const Call& call, Tensor& x, size_t rank) {
  std::vector<Dim> dims = x.getDimensions().vec();
  dims.insert(dims.begin(), rank - std::min(rank, dims.size()), Dim(1));
  return call.reshape(x, Dims(dims));
}

Tensor& repeat(Call& call) {
  const std::vector<Dim> times = call.dims(1);
  if (times.size() < static_cast<size_t>(call.tensor(0).rank())) {
    call.refuse("argument", "expected at least one number of repeats for each dimension");
  }
  return tile(call, withRank(call, call.tensor(0), times.size()), times);
}

// Repeats as `repeat` does, but missing repeats are 1.
Tensor& tileConverter(Call& call) {
  std::vector<Dim> times = call.dims(1);
  Tensor& x = withRank(call, call.tensor(0), times.size());
  times.insert(times.begin(), static_cast<size_t>(x.rank()) - times.size(), Dim(1));
  return tile(call, x, times);
}

// Returns the tensor whose elements are repeated, and the axis. Without an axis it is all elements in order.
std::pair<Tensor*, int64_t> repeatedAlong(Call& call, size_t dim) {
  Tensor& x = call.tensor(0);
  return call.isNone(dim) ? std::pair{&call.reshape(x, Dims{x.getDimensions().numel()}), int64_t{0}}
                          : std::pair{&x, call.axis(dim, x.rank())};
}

// Every element several times in a row.
Tensor& repeatElements(const Call& call, Tensor& x, int64_t axis, const Dim& times) {
  std::vector<Dim> spread = x.getDimensions().vec(), result = spread;
  spread.insert(spread.begin() + axis + 1, times);
  result[static_cast<size_t>(axis)] = result[static_cast<size_t>(axis)] * times;
  return call.reshape(call.expand(call.unsqueeze(x, axis + 1), Dims(spread)), Dims(result));
}

// self, repeats, dim, output_size
Tensor& repeatInterleave(Call& call) {
  const auto [x, axis] = repeatedAlong(call, 2);
  return repeatElements(call, *x, axis, call.dim(1));
}

// Takes a tensor of repeats, one for all elements or one for each.
Tensor& repeatInterleaveEach(Call& call) {
  const Var& repeats = call.arg(1);
  if (!repeats.IValue()) {
    call.refuse("data-dependent", "the size of the result depends on the values of the repeats");
  }
  const auto [x, axis] = repeatedAlong(call, 2);
  if (!repeats.IValue()->isTensor()) {  // a number made of sizes
    return repeatElements(call, *x, axis, call.dim(1));
  }
  const at::Tensor times = repeats.unwrapToTensor();
  if (times.numel() == 1) {
    return repeatElements(call, *x, axis, Dim(times.item<int64_t>()));
  }
  if (!(x->getDimensions()[static_cast<int>(axis)] == Dim(times.numel()))) {
    call.refuse("argument", "expected as many repeats as there are elements");
  }
  Tensor& indices = *call.net.addConstant(Weights(&call.ctx, at::repeat_interleave(times)))->getOutput(0);
  return *call.net.addGather(*x, indices, axis)->getOutput(0);
}

std::vector<Tensor*> broadcastAll(Call& call) {
  std::vector<Tensor*> tensors = call.tensors(0);
  size_t rank = 0;
  for (const Tensor* tensor : tensors) {
    rank = std::max(rank, static_cast<size_t>(tensor->rank()));
  }
  std::vector<Dim> dims(rank, Dim(1));
  for (const Tensor* tensor : tensors) {
    const size_t added = rank - static_cast<size_t>(tensor->rank());
    for (int i = 0; i < tensor->rank(); ++i) {
      Dim& dim = dims[added + static_cast<size_t>(i)];
      dim = isOne(dim) ? tensor->getDimensions()[i] : dim;
    }
  }
  for (Tensor*& tensor : tensors) {
    tensor = &call.expand(*tensor, Dims(dims));
  }
  return tensors;
}

// Vector i varies along axis i; with indexing "xy" the first two axes are swapped.
std::vector<Tensor*> grid(const Call& call, bool swapped) {
  std::vector<Tensor*> tensors = call.tensors(0);
  std::vector<Dim> dims;
  for (const Tensor* tensor : tensors) {
    dims.push_back(tensor->getDimensions().numel());
  }
  if (swapped) {
    std::swap(dims[0], dims[1]);
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::vector<Dim> shape(tensors.size(), Dim(1));
    const size_t axis = swapped && i < 2 ? 1 - i : i;
    shape[axis] = dims[axis];
    tensors[i] = &call.expand(call.reshape(*tensors[i], Dims(shape)), Dims(dims));
  }
  return tensors;
}

std::vector<Tensor*> meshgrid(Call& call) {
  return grid(call, false);
}

std::vector<Tensor*> meshgridIndexing(Call& call) {
  return grid(call, call.text(1) == "xy" && call.tensors(0).size() > 1);
}

}  // namespace

void addCombinations(NodeConverterRegistry& registry) {
  registry.add("aten::cat(Tensor[] tensors, int dim=0) -> Tensor", one(cat));
  registry.add("aten::concat(Tensor[] tensors, int dim=0) -> Tensor", one(cat));
  registry.add("aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor", one(cat));
  registry.add("aten::stack(Tensor[] tensors, int dim=0) -> Tensor", one(stack));
  registry.add("aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", one(expand));
  registry.add("aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", one(expandAs));
  registry.add("aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)", one(expand));
  registry.add("aten::repeat(Tensor self, SymInt[] repeats) -> Tensor", one(repeat));
  registry.add("aten::tile(Tensor self, SymInt[] dims) -> Tensor", one(tileConverter));
  registry.add(
      "aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> "
      "Tensor",
      one(repeatInterleave));
  registry.add(
      "aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> "
      "Tensor",
      one(repeatInterleaveEach));
  registry.add("aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]", listOf(broadcastAll));
  registry.add("aten::meshgrid(Tensor[] tensors) -> Tensor[]", listOf(meshgrid));
  registry.add("aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", listOf(meshgridIndexing));
}

}  // namespace torchtrt::conversion::converters
