#include "cuda/image_convolutions.h"

#include <gtest/gtest.h>

#include <memory>
#include <tuple>
#include <vector>

namespace torchtrt::kernels::testing {

Tensor valuesOf(DType dtype, const Ints& dims, uint32_t seed) {
  return makeTensor(dtype, dims, mixedValues(countOf(dims), dtype, seed));
}

Case convolution(DType dtype, int64_t channels, int64_t outputs, const Window& window, const Beside& beside,
                 const Ints& images) {
  const Ints in = {images[0], channels, images[1], images[2]};
  Ints out = {images[0], outputs};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = window.dilation[i] * (window.size[i] - 1) + 1;
    out.push_back((in[i + 2] + 2 * window.padding[i] - reach) / window.stride[i] + 1);
  }
  const Ints filter = {outputs, channels, window.size[0], window.size[1]};
  Case layer = {"convolution",
                makeAttributes({{"stride", window.stride},
                                {"pre_padding", window.padding},
                                {"post_padding", window.padding},
                                {"dilation", window.dilation},
                                {"activation", std::string(beside.activation)}}),
                {valuesOf(dtype, in, 1), valuesOf(dtype, filter, 2), std::nullopt, std::nullopt},
                {{dtype, out}}};
  const DType of_channels = beside.scale ? DType::kFloat32 : dtype;
  if (beside.bias) {
    layer.inputs[2] = valuesOf(of_channels, {outputs}, 3);
  }
  if (beside.scale) {
    layer.inputs.emplace_back(valuesOf(of_channels, {outputs}, 5));
  }
  if (beside.residual) {
    layer.inputs[3] = valuesOf(dtype, out, 4);
  }
  return layer;
}

Case product(DType dtype, const Ints& rows, int64_t depth, int64_t columns, const Beside& beside) {
  Ints x = rows, out = rows;
  x.push_back(depth);
  out.push_back(columns);
  Case layer = {"matrix_multiply",
                makeAttributes({{"transpose_b", true}, {"activation", std::string(beside.activation)}}),
                {valuesOf(dtype, x, 1), valuesOf(dtype, {columns, depth}, 2), std::nullopt, std::nullopt},
                {{dtype, out}}};
  if (beside.bias) {
    layer.inputs[2] = valuesOf(dtype, {columns}, 3);
  }
  if (beside.residual) {
    layer.inputs[3] = valuesOf(dtype, out, 4);
  }
  return layer;
}

Problem asInEngine(const Case& layer) {
  Problem problem = problemOf(layer);
  problem.inputs[1].constant = layer.inputs[1]->bytes.data();
  problem.inputs[0].order = problem.outputs[0].order = {0, 2, 3, 1};
  return problem;
}

Values resultOf(const Problem& problem, const std::string& implementation, const Case& layer, Layout in, Layout out,
                size_t skipped) {
  const device::Device& device = *problem.device;
  const Chosen chosen = createKernel(problem, implementation);
  EXPECT_EQ(chosen.implementation, implementation);
  ShapeSet shapes;
  std::vector<device::Memory> memory;
  std::vector<const void*> inputs;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    if (!layer.inputs[i]) {
      shapes.inputs.emplace_back();
      inputs.push_back(nullptr);
      continue;
    }
    const Tensor& given = *layer.inputs[i];
    const bool is_residual = i == (problem.family == "convolution" ? 3 : 4);
    const bool changes = i == 0 || is_residual;
    const Tensor tensor = changes ? makeTensor(given.desc.dtype, given.desc.dims, given.values(), in) : given;
    const size_t offset = changes ? skipped * sizeOf(given.desc.dtype) : 0;
    shapes.inputs.push_back(tensor.desc);
    memory.push_back(device.allocate(tensor.bytes.size() + offset, "an operand of a test"));
    std::byte* const at = static_cast<std::byte*>(memory.back().data()) + offset;
    device.copyIn(at, tensor.bytes.data(), tensor.bytes.size(), {});
    inputs.push_back(i == 1 && !chosen.kernel->needsConstant(1) ? nullptr : at);
  }
  const Ints& dims = layer.outputs[0].dims;
  Tensor result = makeTensor(layer.outputs[0].dtype, dims, Values(static_cast<size_t>(countOf(dims)), 0), out);
  shapes.outputs = {result.desc};
  const device::Memory to = device.allocate(result.bytes.size(), "the result of a test");
  device.copyIn(to.data(), result.bytes.data(), result.bytes.size(), {});
  void* const outputs[] = {to.data()};
  const std::unique_ptr<Prepared> prepared = chosen.kernel->prepare(shapes);
  const device::Memory scratch = device.allocate(prepared->scratchBytes(), "scratch of a test");
  prepared->run({inputs.data(), outputs, scratch.data(), 1});
  device.copyOut(result.bytes.data(), to.data(), result.bytes.size(), {});
  return result.values();
}

void expectConvolution(const std::string& implementation, const Case& layer) {
  EXPECT_EQ(createKernel(asInEngine(layer)).implementation, implementation) << asInEngine(layer).toString();
  const Values expected = referenceOf(layer).at(0);
  for (const auto& [in, out, skipped] : {std::tuple{Layout::kChannelsLast, Layout::kChannelsLast, size_t{0}},
                                         std::tuple{Layout::kChannelsLast, Layout::kRowMajor, size_t{1}},
                                         std::tuple{Layout::kRowMajor, Layout::kChannelsLast, size_t{0}},
                                         std::tuple{Layout::kWithGaps, Layout::kRowMajor, size_t{0}}}) {
    const Values values = resultOf(asInEngine(layer), implementation, layer, in, out, skipped);
    expectNear(values, expected, toleranceOf(layer.outputs[0].dtype), asInEngine(layer).toString());
  }
}

}  // namespace torchtrt::kernels::testing
