#include "cuda/quantized_cases.h"

namespace torchtrt::kernels::testing {

namespace {

Tensor scalesOf(int64_t count) {
  Values values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = 1e-4 * static_cast<double>(i % 7 + 1);
  }
  return makeTensor(DType::kFloat32, {count}, values);
}

void finishCase(Case& layer, const Steps& steps, const After& after, const Ints& out) {
  Attributes& attributes = layer.attributes;
  attributes.set("zero_point", steps.zero_point);
  attributes.set("to", after.to);
  attributes.set("output_scale", 0.03);
  attributes.set("output_zero_point", int64_t{after.to == DType::kUInt8 ? 7 : -3});
  attributes.set("low", int64_t{after.to == DType::kUInt8 ? 0 : -128});
  attributes.set("high", int64_t{after.to == DType::kUInt8 ? 255 : 127});
  attributes.set("residual_scale", 0.01);
  attributes.set("residual_zero_point", int64_t{5});
  attributes.set("activation", std::string(after.activation));
  const int64_t columns = layer.inputs[2]->desc.dims[0];
  layer.inputs.push_back(after.bias ? std::optional(valuesOf(DType::kFloat32, {columns}, 3)) : std::nullopt);
  layer.inputs.emplace_back();
  if (after.residual == DType::kFloat32) {
    layer.inputs.back() = valuesOf(DType::kFloat32, out, 4);
  } else if (after.residual != DType::kBool) {
    layer.inputs.back() = stepsOf(after.residual, out, 4);
  }
  layer.outputs = {{after.to, out}};
}

}  // namespace

Tensor stepsOf(DType dtype, const Ints& dims, uint32_t seed) {
  Values values(static_cast<size_t>(countOf(dims)));
  uint32_t state = seed;
  for (double& value : values) {
    state = state * 1664525 + 1013904223;
    const auto byte = static_cast<int>(state >> 24);
    value = dtype == DType::kUInt8 ? byte : byte - 128;
  }
  return makeTensor(dtype, dims, values);
}

Case quantized(const Steps& steps, int64_t channels, int64_t outputs, const Window& window, const After& after,
               const Ints& images) {
  Case layer = convolution(DType::kFloat32, channels, outputs, window, {}, images);
  const Ints out = layer.outputs[0].dims;
  layer.family = "quantized_convolution";
  layer.inputs = {stepsOf(steps.dtype, layer.inputs[0]->desc.dims, 1),
                  stepsOf(DType::kInt8, layer.inputs[1]->desc.dims, 2), scalesOf(outputs)};
  finishCase(layer, steps, after, out);
  return layer;
}

Case quantizedProduct(const Steps& steps, Ints rows, int64_t depth, int64_t columns, const After& after) {
  Ints out = rows;
  rows.push_back(depth);
  out.push_back(columns);
  Case layer = {"quantized_matrix_multiply",
                makeAttributes({}),
                {stepsOf(steps.dtype, rows, 1), stepsOf(DType::kInt8, {depth, columns}, 2), scalesOf(columns)},
                {}};
  finishCase(layer, steps, after, out);
  return layer;
}

Problem withConstants(const Case& layer, bool is_image) {
  Problem problem = problemOf(layer);
  for (size_t i = 1; i < 4; ++i) {
    problem.inputs[i].constant = layer.inputs[i] ? layer.inputs[i]->bytes.data() : nullptr;
  }
  if (is_image) {
    problem.inputs[0].order = problem.outputs[0].order = {0, 2, 3, 1};
  }
  return problem;
}

}  // namespace torchtrt::kernels::testing
