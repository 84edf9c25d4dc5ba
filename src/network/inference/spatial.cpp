// Convolution, deconvolution, pooling and resize.
#include "network/inference/spatial.h"

#include "network/inference/inference.h"

namespace torchtrt::network {

Window windowOf(const LayerContext& context, int i) {
  const auto at = static_cast<size_t>(i);
  const bool pools = context.layer().getType() == LayerType::kPOOLING;
  return {pools ? Dim(context.ints("window")[at]) : context.dims(1)[i + 2], context.ints("stride")[at],
          context.ints("pre_padding")[at], context.ints("post_padding")[at], context.ints("dilation")[at]};
}

Dim convolutionSize(const Dim& input, const Window& window) {
  const Dim reach = Dim(window.dilation) * (window.size - 1);
  return Dim::floorDiv(input + window.pre_padding + window.post_padding - reach - 1, window.stride) + 1;
}

Dim deconvolutionSize(const Dim& input, const Window& window, int64_t output_padding) {
  const Dim reach = Dim(window.dilation) * (window.size - 1);
  return (input - 1) * window.stride - window.pre_padding - window.post_padding + reach + output_padding + 1;
}

Dim poolingSize(const Dim& input, const Window& window, bool ceil_mode) {
  if (!ceil_mode) {
    return convolutionSize(input, window);
  }
  // PyTorch rounds up and drops a last window that would start beyond input and left padding: with paddings smaller
  // than the window that is the smaller of two quotients by the stride, hence the quotient of the smaller numerator.
  const Dim reach = Dim(window.dilation) * (window.size - 1);
  const Dim rounded_up = input + window.pre_padding + window.post_padding - reach - 1 + 2 * window.stride - 1;
  const Dim started = input + window.pre_padding + window.stride - 1;
  return Dim::floorDiv(Dim::min(rounded_up, started), window.stride);
}

namespace {

Dims withSpatial(const Dims& dims, int spatial, const std::function<Dim(const Dim&, int)>& size_of) {
  Dims result = dims;
  const int first = dims.rank() - spatial;
  for (int i = 0; i < spatial; ++i) {
    result[first + i] = size_of(dims[first + i], i);
  }
  return result;
}

TensorTypes withIndices(const LayerContext& context, Dims dims) {
  TensorTypes types{{context.dtype(0), dims}};
  if (context.attributes().getBool("return_indices")) {
    types.push_back({DType::kInt64, std::move(dims)});
  }
  return types;
}

}  // namespace

TensorTypes inferConvolution(const LayerContext& context) {
  Dims dims = withSpatial(context.dims(0), context.rank(0) - 2,
                          [&](const Dim& input, int i) { return convolutionSize(input, windowOf(context, i)); });
  dims[1] = context.dims(1)[0];
  return {{context.dtype(0), dims}};
}

TensorTypes inferDeconvolution(const LayerContext& context) {
  const std::vector<int64_t>& output_padding = context.ints("output_padding");
  Dims dims = withSpatial(context.dims(0), context.rank(0) - 2, [&](const Dim& input, int i) {
    return deconvolutionSize(input, windowOf(context, i), output_padding[static_cast<size_t>(i)]);
  });
  dims[1] = context.dims(1)[1] * Dim(context.attributes().getInt("groups"));
  return {{context.dtype(0), dims}};
}

TensorTypes inferPooling(const LayerContext& context) {
  const bool ceil_mode = context.attributes().getBool("ceil_mode");
  const auto spatial = static_cast<int>(context.ints("window").size());
  return withIndices(context, withSpatial(context.dims(0), spatial, [&](const Dim& input, int i) {
                       return poolingSize(input, windowOf(context, i), ceil_mode);
                     }));
}

TensorTypes inferAdaptivePooling(const LayerContext& context) {
  const Dims& sizes = context.attributes().getDims("output_size");
  return withIndices(context, withSpatial(context.dims(0), sizes.rank(), [&](const Dim&, int i) { return sizes[i]; }));
}

TensorTypes inferResize(const LayerContext& context) {
  const Dims& sizes = context.attributes().getDims("size");
  return {{context.dtype(0), withSpatial(context.dims(0), sizes.rank(), [&](const Dim&, int i) { return sizes[i]; })}};
}

TensorTypes inferGridSample(const LayerContext& context) {
  std::vector<Dim> dims = {context.dims(0)[0], context.dims(0)[1]};
  const Dims& grid = context.dims(1);
  dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
  return {{context.dtype(0), Dims(std::move(dims))}};
}

}  // namespace torchtrt::network
