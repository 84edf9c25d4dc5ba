// Operands that begin anywhere, where several elements would be read at once from others.
#include <gtest/gtest.h>

#include <string>

#include "cuda/against_reference.h"
#include "kernels/backend.h"

namespace torchtrt::kernels::testing {
namespace {

// The output of a layer, each of whose operands, and then the output, begins `offsets` elements behind where its memory
// does.
Values resultFrom(const Case& layer, const Ints& offsets) {
  const device::Device& device = *problemOf(layer).device;
  const Chosen chosen = createKernel(problemOf(layer));
  ShapeSet shapes;
  std::vector<device::Memory> memory;
  std::vector<void*> pointers;
  const auto place = [&](const Tensor& tensor, size_t index) {
    const auto bytes = static_cast<size_t>(offsets[index]) * sizeOf(tensor.desc.dtype);
    memory.push_back(device.allocate(tensor.bytes.size() + bytes, "an operand of a test"));
    pointers.push_back(static_cast<std::byte*>(memory.back().data()) + bytes);
    device.copyIn(pointers.back(), tensor.bytes.data(), tensor.bytes.size(), {});
  };
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    shapes.inputs.push_back(layer.inputs[i] ? layer.inputs[i]->desc : TensorDesc());
    if (layer.inputs[i]) {
      place(*layer.inputs[i], i);
    } else {
      pointers.push_back(nullptr);
    }
  }
  const Ints& dims = layer.outputs[0].dims;
  Tensor result = makeTensor(layer.outputs[0].dtype, dims, Values(static_cast<size_t>(countOf(dims)), 0));
  shapes.outputs = {result.desc};
  place(result, layer.inputs.size());
  const std::vector<const void*> inputs(pointers.begin(), pointers.end() - 1);
  void* const outputs[] = {pointers.back()};
  chosen.kernel->prepare(shapes)->run({inputs.data(), outputs, nullptr, 1});
  device.copyOut(result.bytes.data(), outputs[0], result.bytes.size(), {});
  return result.values();
}

// x + y of 40 half-precision numbers.
Values sumFrom(const Ints& offsets, bool is_broadcast) {
  constexpr int64_t kCount = 40;
  return resultFrom(
      {"elementwise",
       makeAttributes({{"op", std::string("sum")}}),
       {makeTensor(DType::kFloat16, {5, 8}, iota(kCount)),
        makeTensor(DType::kFloat16, is_broadcast ? Ints{8} : Ints{5, 8}, iota(is_broadcast ? 8 : kCount))},
       {{DType::kFloat16, {5, 8}}}},
      offsets);
}

TEST(Chunks, OperandsMayBeginAnywhere) {
  const Values expected = iota(40, 0, 2);
  for (const Ints& offsets :
       {Ints{0, 0, 0}, Ints{1, 0, 0}, Ints{0, 3, 0}, Ints{0, 0, 5}, Ints{8, 16, 24}, Ints{1, 1, 1}}) {
    EXPECT_EQ(sumFrom(offsets, false), expected);
    EXPECT_EQ(sumFrom(offsets, true)[39], 39 + 7);
  }
}

TEST(Chunks, NormalizedRowsMayBeginAnywhere) {
  const Tensor parameter = makeTensor(DType::kFloat16, {16}, iota(16));
  const Case layer = {"normalization",
                      makeAttributes({{"mode", std::string("layer")}, {"eps", 1e-5}, {"normalized_rank", int64_t{1}}}),
                      {makeTensor(DType::kFloat16, {3, 16}, mixedValues(48, DType::kFloat16)), parameter, parameter,
                       std::nullopt, std::nullopt},
                      {{DType::kFloat16, {3, 16}}}};
  const Values expected = resultFrom(layer, {0, 0, 0, 0, 0, 0});
  for (const Ints& offsets : {Ints{1, 0, 0, 0, 0, 0}, Ints{0, 3, 0, 0, 0, 0}, Ints{0, 0, 5, 0, 0, 0},
                              Ints{0, 0, 0, 0, 0, 7}, Ints{8, 8, 8, 0, 0, 8}}) {
    EXPECT_EQ(resultFrom(layer, offsets), expected);
  }
}

TEST(Chunks, TailsAndRowsOfEveryLength) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kInt8}) {
    for (const int64_t count : {1, 15, 16, 17, 40}) {
      const Tensor x = makeTensor(dtype, {3, count}, mixedValues(3 * count, dtype));
      for (const Ints& dims : {Ints{3, count}, Ints{count}, Ints{3, 1}, Ints{}}) {
        expectAsOnCpu({"elementwise",
                       makeAttributes({{"op", std::string("prod")}}),
                       {x, makeTensor(dtype, dims, mixedValues(countOf(dims), dtype, 2))},
                       {{dtype, {3, count}}}});
      }
      expectAsOnCpu({"cast", makeAttributes({}), {x}, {{DType::kFloat64, {3, count}}}});
    }
  }
}

}  // namespace
}  // namespace torchtrt::kernels::testing
