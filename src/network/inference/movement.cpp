// Kinds that move elements without computing.
#include "network/inference/movement.h"

#include "network/inference/inference.h"

namespace torchtrt::network {

Dims permuted(const Dims& dims, const std::vector<int64_t>& permutation) {
  if (permutation.empty()) {
    return dims;
  }
  std::vector<Dim> result;
  result.reserve(permutation.size());
  for (const int64_t axis : permutation) {
    result.push_back(dims[static_cast<int>(axis)]);
  }
  return Dims(std::move(result));
}

Reshape resolveReshape(const LayerContext& context, const Dims& input, const Dims& wanted) {
  std::vector<Dim> dims = wanted.vec();
  int inferred = -1;
  Dim known = 1;
  for (int i = 0; i < wanted.rank(); ++i) {
    Dim& dim = dims[static_cast<size_t>(i)];
    if (dim == Dim(-1)) {
      if (inferred >= 0) {
        return {{}, "expected at most one -1, got reshape_dims " + wanted.toString()};
      }
      inferred = i;
      continue;
    }
    if (dim == Dim(0)) {
      if (i >= input.rank()) {
        return {{}, "expected 0 only where the input " + input.toString() + " has a dim, got " + wanted.toString()};
      }
      dim = input[i];
    }
    if (context.range(dim).second < 0) {
      return {{}, "expected dims of at least 0 (or one -1), got reshape_dims " + wanted.toString()};
    }
    known = known * dim;
  }
  const Dim numel = input.numel();
  if (inferred >= 0) {
    if (known == Dim(0)) {
      return {{}, "expected one meaning of -1, got " + wanted.toString() + ", whose other dims have no elements"};
    }
    const Dim rest = Dim::mod(numel, known);
    if (rest.isConstant() && rest.constant() != 0) {
      return {{},
              "expected dims that divide the " + numel.toString() + " elements of " + input.toString() + ", got " +
                  wanted.toString()};
    }
    dims[static_cast<size_t>(inferred)] = Dim::floorDiv(numel, known);
  } else if (!context.unify(numel, known)) {
    return {{},
            "expected dims of " + numel.toString() + " elements as " + input.toString() + " has, got " +
                wanted.toString() + " of " + known.toString()};
  }
  return {Dims(std::move(dims)), ""};
}

TensorTypes inferShuffle(const LayerContext& context) {
  Dims dims = permuted(context.dims(0), context.ints("first_permutation"));
  if (context.attributes().has("reshape_dims")) {
    dims = resolveReshape(context, dims, context.attributes().getDims("reshape_dims")).dims;
  }
  return {{context.dtype(0), permuted(dims, context.ints("second_permutation"))}};
}

TensorTypes inferSlice(const LayerContext& context) {
  return {{context.dtype(0), context.attributes().getDims("size")}};
}

TensorTypes inferExpand(const LayerContext& context) {
  return {{context.dtype(0), context.attributes().getDims("dims")}};
}

TensorTypes inferConcatenation(const LayerContext& context) {
  const auto axis = static_cast<int>(context.attributes().getInt("axis"));
  Dims dims = context.dims(0);
  Dim total = dims[axis];
  for (int i = 1; i < context.operands(); ++i) {
    total = total + context.dims(i)[axis];
    for (int d = 0; d < dims.rank(); ++d) {
      if (d != axis) {
        dims[d] = *context.unify(dims[d], context.dims(i)[d]);
      }
    }
  }
  dims[axis] = total;
  return {{context.dtype(0), dims}};
}

TensorTypes inferGather(const LayerContext& context) {
  const Dims& data = context.dims(0);
  const Dims& indices = context.dims(1);
  if (context.attributes().getString("mode") == "element") {
    return {{context.dtype(0), indices}};
  }
  const auto axis = context.attributes().getInt("axis");
  std::vector<Dim> dims(data.begin(), data.begin() + axis);
  dims.insert(dims.end(), indices.begin(), indices.end());
  dims.insert(dims.end(), data.begin() + axis + 1, data.end());
  return {{context.dtype(0), Dims(std::move(dims))}};
}

TensorTypes inferPadding(const LayerContext& context) {
  const Dims& pre = context.attributes().getDims("pre");
  const Dims& post = context.attributes().getDims("post");
  Dims dims = context.dims(0);
  for (int i = 0; i < dims.rank(); ++i) {
    dims[i] = dims[i] + pre[i] + post[i];
  }
  return {{context.dtype(0), dims}};
}

}  // namespace torchtrt::network
