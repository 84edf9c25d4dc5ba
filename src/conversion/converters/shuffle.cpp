#include <algorithm>
#include <numeric>

#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

namespace torchtrt::conversion::converters {
namespace {

std::vector<int64_t> identityPermutation(int rank) {
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Dim product(const std::vector<Dim>& dims, int64_t begin, int64_t end) {
  Dim result = 1;
  for (int64_t i = begin; i < end; ++i) {
    result = result * dims[static_cast<size_t>(i)];
  }
  return result;
}

Tensor& reshape(Call& call) {
  return call.reshape(call.tensor(0), Dims(call.dims(1)));
}

Tensor& reshapeAs(Call& call) {
  return call.reshape(call.tensor(0), call.tensor(1).getDimensions());
}

// self, start_dim, end_dim
Tensor& flatten(Call& call) {
  Tensor& x = call.tensor(0);
  const std::vector<Dim>& dims = x.getDimensions().vec();
  if (dims.empty()) {
    return call.reshape(x, {1});
  }
  const int64_t start = call.axis(1, x.rank()), end = call.axis(2, x.rank());
  if (start > end) {
    call.refuse("argument", "start_dim comes after end_dim");
  }
  std::vector<Dim> flat(dims.begin(), dims.begin() + start);
  flat.push_back(product(dims, start, end + 1));
  flat.insert(flat.end(), dims.begin() + end + 1, dims.end());
  return call.reshape(x, Dims(flat));
}

// self, dim, sizes, of which one may be -1
Tensor& unflatten(Call& call) {
  Tensor& x = call.tensor(0);
  const int64_t axis = call.axis(1, x.rank());
  std::vector<Dim> dims = x.getDimensions().vec();
  std::vector<Dim> sizes = call.dims(2);
  const auto inferred = std::find(sizes.begin(), sizes.end(), Dim(-1));
  if (inferred != sizes.end()) {
    *inferred = 1;
    *inferred = Dim::floorDiv(dims[static_cast<size_t>(axis)], product(sizes, 0, static_cast<int64_t>(sizes.size())));
  }
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, sizes.begin(), sizes.end());
  return call.reshape(x, Dims(dims));
}

Tensor& permute(Call& call) {
  Tensor& x = call.tensor(0);
  std::vector<int64_t> axes;
  for (const int64_t axis : call.integers(1)) {
    axes.push_back(call.normalizeAxis(axis, x.rank()));
  }
  return call.permute(x, axes);
}

Tensor& swapAxes(const Call& call, Tensor& x, int64_t a, int64_t b) {
  std::vector<int64_t> axes = identityPermutation(x.rank());
  if (!axes.empty()) {
    std::swap(axes[static_cast<size_t>(a)], axes[static_cast<size_t>(b)]);
  }
  return call.permute(x, axes);
}

Tensor& transpose(Call& call) {
  Tensor& x = call.tensor(0);
  return swapAxes(call, x, call.axis(1, x.rank()), call.axis(2, x.rank()));
}

// The last two dims, or nothing below rank 2.
Tensor& transposeLast(Call& call) {
  Tensor& x = call.tensor(0);
  return x.rank() < 2 ? x : swapAxes(call, x, x.rank() - 2, x.rank() - 1);
}

Tensor& reverseAxes(Call& call) {
  Tensor& x = call.tensor(0);
  std::vector<int64_t> axes = identityPermutation(x.rank());
  std::reverse(axes.begin(), axes.end());
  return call.permute(x, axes);
}

// self, source, destination: those axes go where they are told, the others keep their order.
Tensor& moveAxes(Call& call) {
  Tensor& x = call.tensor(0);
  const std::vector<int64_t> sources = call.integers(1), destinations = call.integers(2);
  std::vector<int64_t> axes(static_cast<size_t>(x.rank()), -1);
  std::vector<int64_t> left = identityPermutation(x.rank());
  for (size_t i = 0; i < sources.size(); ++i) {
    const int64_t source = call.normalizeAxis(sources[i], x.rank());
    axes[static_cast<size_t>(call.normalizeAxis(destinations[i], x.rank()))] = source;
    std::erase(left, source);
  }
  auto next = left.begin();
  for (int64_t& axis : axes) {
    axis = axis < 0 ? *next++ : axis;
  }
  return call.permute(x, axes);
}

// Drops those of the given axes whose dim is 1. A symbolic dim counts as other than 1.
Tensor& dropOnes(const Call& call, Tensor& x, const std::vector<int64_t>& axes) {
  std::vector<Dim> kept;
  for (int i = 0; i < x.rank(); ++i) {
    const bool named = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!named || !isOne(x.getDimensions()[i])) {
      kept.push_back(x.getDimensions()[i]);
    }
  }
  return call.reshape(x, Dims(kept));
}

// Refuses a dim that is 1 for some sizes only: a dim of 1 decides the rank.
void requireKnown(const Call& call, const Tensor& x, const std::vector<int64_t>& axes) {
  for (const int64_t axis : axes) {
    const Dim& dim = x.getDimensions()[static_cast<int>(axis)];
    const auto range = dim.range([&](const std::string& name) {
      const Symbol* symbol = call.net.findSymbol(name);
      return symbol ? *symbol : Symbol{name, 0, 0, INT64_MAX};
    });
    if (!dim.isConstant() && range.first <= 1 && range.second >= 1) {
      call.refuse("dynamic-dimension", "whether dimension " + std::to_string(axis) + " (" + dim.toString() +
                                           ") is 1 decides the rank of the result");
    }
  }
}

Tensor& squeezeAll(Call& call) {
  Tensor& x = call.tensor(0);
  const std::vector<int64_t> axes = identityPermutation(x.rank());
  requireKnown(call, x, axes);
  return dropOnes(call, x, axes);
}

Tensor& squeezeSome(Call& call) {
  Tensor& x = call.tensor(0);
  std::vector<int64_t> axes;
  for (const int64_t axis : call.integers(1)) {
    if (x.rank() > 0) {
      axes.push_back(call.normalizeAxis(axis, x.rank()));
    }
  }
  requireKnown(call, x, axes);
  return dropOnes(call, x, axes);
}

Tensor& unsqueeze(Call& call) {
  Tensor& x = call.tensor(0);
  return call.unsqueeze(x, call.axis(1, x.rank() + 1));
}

// [..., C*r*r, H, W] -> [..., C, H*r, W*r]
Tensor& pixelShuffle(Call& call) {
  Tensor& x = call.tensor(0);
  const Dim r = call.integer(1);
  const std::vector<Dim> dims = x.getDimensions().vec();
  const std::vector<Dim> batch(dims.begin(), dims.end() - 3);
  const Dim c = Dim::floorDiv(dims[dims.size() - 3], r * r), h = dims[dims.size() - 2], w = dims.back();
  Tensor& split = call.reshape(
      x, Dims{batch.empty() ? Dim(1) : product(batch, 0, static_cast<int64_t>(batch.size())), c, r, r, h, w});
  std::vector<Dim> result = batch;
  result.insert(result.end(), {c, h * r, w * r});
  return call.reshape(call.permute(split, {0, 1, 4, 2, 5, 3}), Dims(result));
}

// [..., C, H*r, W*r] -> [..., C*r*r, H, W]
Tensor& pixelUnshuffle(Call& call) {
  Tensor& x = call.tensor(0);
  const Dim r = call.integer(1);
  const std::vector<Dim> dims = x.getDimensions().vec();
  const std::vector<Dim> batch(dims.begin(), dims.end() - 3);
  const Dim c = dims[dims.size() - 3], h = Dim::floorDiv(dims[dims.size() - 2], r), w = Dim::floorDiv(dims.back(), r);
  Tensor& split = call.reshape(
      x, Dims{batch.empty() ? Dim(1) : product(batch, 0, static_cast<int64_t>(batch.size())), c, h, r, w, r});
  std::vector<Dim> result = batch;
  result.insert(result.end(), {c * r * r, h, w});
  return call.reshape(call.permute(split, {0, 1, 3, 5, 2, 4}), Dims(result));
}

// Channels [g * n] in g groups become n groups of g.
Tensor& channelShuffle(Call& call) {
  Tensor& x = call.tensor(0);
  const Dim groups = call.integer(1);
  const std::vector<Dim>& dims = x.getDimensions().vec();
  const Dim rest = product(dims, 2, x.rank());
  Tensor& split = call.reshape(x, Dims{dims[0], groups, Dim::floorDiv(dims[1], groups), rest});
  return call.reshape(call.permute(split, {0, 2, 1, 3}), x.getDimensions());
}

}  // namespace

void addShuffles(NodeConverterRegistry& registry) {
  registry.add("aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", one(reshape));
  registry.add("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", one(reshape));
  registry.add("aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor", one(reshape));
  registry.add("aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)", one(reshape));
  registry.add("aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", one(reshapeAs));
  registry.add("aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)", one(reshapeAs));
  registry.add("aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)", one(flatten));
  registry.add("aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)", one(unflatten));
  registry.add("aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)", one(permute));
  registry.add("aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", one(transpose));
  registry.add("aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", one(transpose));
  registry.add("aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", one(transpose));
  registry.add("aten::t(Tensor(a) self) -> Tensor(a)", one(transposeLast));
  registry.add("aten::mT(Tensor(a) self) -> Tensor(a)", one(transposeLast));
  registry.add("aten::numpy_T(Tensor(a) self) -> Tensor(a)", one(reverseAxes));
  registry.add("aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", one(moveAxes));
  registry.add("aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", one(moveAxes));
  registry.add("aten::squeeze(Tensor(a) self) -> Tensor(a)", one(squeezeAll));
  registry.add("aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", one(squeezeSome));
  registry.add("aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", one(squeezeSome));
  registry.add("aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", one(unsqueeze));
  registry.add("aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", one(pixelShuffle));
  registry.add("aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", one(pixelUnshuffle));
  registry.add("aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor", one(channelShuffle));
}

}  // namespace torchtrt::conversion::converters
