// Operands that begin anywhere, where several elements would be read at once from others.
#include <gtest/gtest.h>

#include <string>

#include "cuda/against_reference.h"
#include "kernels/backend.h"

namespace torchtrt::kernels::testing {
namespace {

// x + y of 40 half-precision numbers, each operand `offsets` elements behind where its memory begins.
Values sumFrom(const Ints& offsets, bool is_broadcast) {
  constexpr int64_t kCount = 40;
  const Case layer = {
      "elementwise",
      makeAttributes({{"op", std::string("sum")}}),
      {makeTensor(DType::kFloat16, {5, 8}, iota(kCount)),
       makeTensor(DType::kFloat16, is_broadcast ? Ints{8} : Ints{5, 8}, iota(is_broadcast ? 8 : kCount))},
      {{DType::kFloat16, {5, 8}}}};
  const device::Device& device = *problemOf(layer).device;
  const Chosen chosen = createKernel(problemOf(layer));
  ShapeSet shapes;
  shapes.inputs = {layer.inputs[0]->desc, layer.inputs[1]->desc};
  Tensor result = makeTensor(DType::kFloat16, {5, 8}, Values(kCount, 0));
  shapes.outputs = {result.desc};
  std::vector<device::Memory> memory;
  std::vector<std::byte*> pointers;
  const std::vector<std::byte>* const bytes[] = {&layer.inputs[0]->bytes, &layer.inputs[1]->bytes, &result.bytes};
  for (size_t i = 0; i < 3; ++i) {
    memory.push_back(device.allocate(1024, "an operand of a test"));
    pointers.push_back(static_cast<std::byte*>(memory.back().data()) + offsets[i] * 2);
    device.copyIn(pointers[i], bytes[i]->data(), bytes[i]->size(), {});
  }
  const void* const inputs[] = {pointers[0], pointers[1]};
  void* const outputs[] = {pointers[2]};
  chosen.kernel->prepare(shapes)->run({inputs, outputs, nullptr, 1});
  device.copyOut(result.bytes.data(), pointers[2], result.bytes.size(), {});
  return result.values();
}

TEST(Chunks, OperandsMayBeginAnywhere) {
  const Values expected = iota(40, 0, 2);
  for (const Ints& offsets :
       {Ints{0, 0, 0}, Ints{1, 0, 0}, Ints{0, 3, 0}, Ints{0, 0, 5}, Ints{8, 16, 24}, Ints{1, 1, 1}}) {
    EXPECT_EQ(sumFrom(offsets, false), expected);
    EXPECT_EQ(sumFrom(offsets, true)[39], 39 + 7);
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
