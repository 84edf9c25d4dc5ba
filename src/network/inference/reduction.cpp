// Kinds that fold or pick along axes.
#include <algorithm>

#include "network/inference/inference.h"

namespace torchtrt::network {

TensorTypes inferReduce(const LayerContext& context) {
  const std::vector<int64_t>& axes = context.ints("axes");
  const bool keep_dims = context.attributes().getBool("keep_dims");
  std::vector<Dim> dims;
  for (int i = 0; i < context.rank(0); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!reduced || keep_dims) {
      dims.push_back(reduced ? Dim(1) : context.dims(0)[i]);
    }
  }
  const bool boolean = context.op() == "any" || context.op() == "all";
  return {{boolean ? DType::kBool : context.dtype(0), Dims(std::move(dims))}};
}

TensorTypes inferTopK(const LayerContext& context) {
  Dims dims = context.dims(0);
  dims[static_cast<int>(context.attributes().getInt("axis"))] = context.attributes().getDims("k")[0];
  return {{context.dtype(0), dims}, {DType::kInt64, dims}};
}

TensorTypes inferCumulative(const LayerContext& context) {
  if (context.layer().getNbOutputs() == 1) {
    return inferSameAsInput(context);
  }
  return {{context.dtype(0), context.dims(0)}, {DType::kInt64, context.dims(0)}};
}

TensorTypes inferRecurrent(const LayerContext& context) {
  const Dims& input = context.dims(0);
  const Dims state = {input[1], context.dims(1)[1]};
  TensorTypes types(static_cast<size_t>(context.layer().getNbOutputs()), {context.dtype(0), state});
  types[0].dims = {input[0], state[0], state[1]};
  return types;
}

}  // namespace torchtrt::network
