// Layers that ask for it give each row the bits that it has alone, whatever the rows beside it
// (Problem::batch_invariant).
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/against_reference.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels::testing {
namespace {

// A layer of so many samples; these are the first of the same ones.
using Make = Case (*)(int64_t samples);

struct Ran {
  std::vector<std::byte> bytes;  // of the first output
  std::string implementation;
};

// Input 1 is constant, as weights are.
Ran runInvariant(const Case& layer) {
  Problem problem = problemOf(layer);
  const device::Device& device = *problem.device;
  problem.batch_invariant = true;
  ShapeSet shapes;
  std::deque<device::Memory> memory;
  std::vector<const void*> inputs;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    const std::optional<Tensor>& input = layer.inputs[i];
    shapes.inputs.push_back(input ? input->desc : TensorDesc{});
    inputs.push_back(nullptr);
    if (input) {
      memory.push_back(device.allocate(input->bytes.size(), "an input of a test"));
      device.copyIn(memory.back().data(), input->bytes.data(), input->bytes.size(), {});
      inputs.back() = memory.back().data();
      problem.inputs[i].constant = i == 1 ? input->bytes.data() : nullptr;
    }
  }
  const Output& output = layer.outputs.at(0);
  shapes.outputs.push_back({output.dtype, output.dims, denseStrides(output.dims)});
  Ran ran;
  ran.bytes.resize(static_cast<size_t>(countOf(output.dims)) * sizeOf(output.dtype));
  const Chosen chosen = createKernel(problem);
  ran.implementation = std::string(chosen.implementation) + (chosen.kernel->runsEachSample() ? " for each" : "");
  const std::unique_ptr<Prepared> prepared = chosen.kernel->prepare(shapes);
  const device::Memory result = device.allocate(ran.bytes.size(), "an output of a test");
  const device::Memory scratch = device.allocate(prepared->scratchBytes(), "scratch of a test");
  void* outputs[] = {result.data()};
  prepared->run({inputs.data(), outputs, scratch.data(), 1});
  device.copyOut(ran.bytes.data(), result.data(), ran.bytes.size(), {});
  return ran;
}

// Values of the first `count` of so many elements that every batch shares.
Tensor part(DType dtype, const Ints& dims, int64_t most) {
  Values values = mixedValues(most, dtype);
  values.resize(static_cast<size_t>(countOf(dims)));
  return makeTensor(dtype, dims, values);
}

void expectRowsOfSingleRuns(Make make, const std::string& implementation) {
  const Ran all = runInvariant(make(40));
  EXPECT_EQ(all.implementation, implementation);
  for (const int64_t samples : {1, 2, 33}) {
    const Ran some = runInvariant(make(samples));
    EXPECT_EQ(some.implementation, implementation);
    ASSERT_LE(some.bytes.size(), all.bytes.size());
    EXPECT_TRUE(std::equal(some.bytes.begin(), some.bytes.end(), all.bytes.begin())) << samples << " samples";
  }
}

Case folded(const char* op, int64_t samples, int64_t length) {
  return {"reduce",
          makeAttributes({{"op", std::string(op)}, {"axes", Ints{1}}}),
          {part(DType::kFloat32, {samples, length}, 40 * length)},
          {{DType::kFloat32, {samples}}}};
}

TEST(Batches, OfRowsThatAreFolded) {
  expectRowsOfSingleRuns([](int64_t samples) { return folded("sum", samples, 70); }, "rows");
  expectRowsOfSingleRuns([](int64_t samples) { return folded("norm2", samples, 5000); }, "rows");
}

TEST(Batches, OfSoftmax) {
  expectRowsOfSingleRuns(
      [](int64_t samples) {
        return Case{"softmax",
                    makeAttributes({{"axis", int64_t{1}}, {"log", false}}),
                    {part(DType::kFloat32, {samples, 9, 3}, 40 * 27)},
                    {{DType::kFloat32, {samples, 9, 3}}}};
      },
      "rows");
}

Case product(DType dtype, int64_t samples, int64_t depth, int64_t columns) {
  return {"matrix_multiply",
          makeAttributes({{"transpose_b", true}}),
          {part(dtype, {samples, depth}, 40 * depth), part(dtype, {columns, depth}, columns * depth), std::nullopt,
           std::nullopt},
          {{dtype, {samples, columns}}}};
}

TEST(Batches, OfProducts) {
  expectRowsOfSingleRuns([](int64_t samples) { return product(DType::kFloat32, samples, 40, 24); }, "tiled");
  expectRowsOfSingleRuns([](int64_t samples) { return product(DType::kFloat16, samples, 136, 40); }, "tensor_cores");
}

TEST(Batches, OfConvolutions) {
  expectRowsOfSingleRuns(
      [](int64_t samples) {
        return Case{"convolution",
                    makeAttributes({{"stride", Ints{1, 1}},
                                    {"dilation", Ints{1, 1}},
                                    {"pre_padding", Ints{1, 1}},
                                    {"post_padding", Ints{1, 1}},
                                    {"groups", int64_t{1}}}),
                    {part(DType::kFloat32, {samples, 3, 4, 4}, 40 * 48), part(DType::kFloat32, {5, 3, 3, 3}, 135),
                     std::nullopt, std::nullopt},
                    {{DType::kFloat32, {samples, 5, 4, 4}}}};
      },
      "cudnn for each");
}

}  // namespace
}  // namespace torchtrt::kernels::testing
