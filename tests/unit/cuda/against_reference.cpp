#include "cuda/against_reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

#include "kernels/kernel.h"

namespace torchtrt::kernels::testing {

std::vector<Values> referenceOf(const Case& layer) {
  ShapeSet shapes;
  std::vector<const void*> inputs;
  for (const std::optional<Tensor>& input : layer.inputs) {
    shapes.inputs.push_back(input ? input->desc : TensorDesc{});
    inputs.push_back(input ? input->bytes.data() : nullptr);
  }
  std::vector<Tensor> results;
  std::vector<void*> outputs;
  for (const Output& output : layer.outputs) {
    results.push_back(makeTensor(output.dtype, output.dims, Values(static_cast<size_t>(countOf(output.dims)), 0)));
    shapes.outputs.push_back(results.back().desc);
  }
  for (Tensor& result : results) {
    outputs.push_back(result.bytes.data());
  }
  shapes.dims = layer.dims;
  Problem problem = problemOf(layer);
  problem.device = nullptr;
  const Chosen chosen = createKernel(problem, "reference");
  const std::unique_ptr<Prepared> prepared = chosen.kernel->prepare(shapes);
  const size_t bytes = (prepared->scratchBytes() + 63) / 64 * 64;
  const std::unique_ptr<void, void (*)(void*)> scratch(bytes == 0 ? nullptr : std::aligned_alloc(64, bytes), std::free);
  prepared->run({inputs.data(), outputs.data(), scratch.get(), 1});
  std::vector<Values> values;
  for (const Tensor& result : results) {
    values.push_back(result.values());
  }
  return values;
}

void expectAsOnCpu(const Case& layer, double tolerance) {
  EXPECT_TRUE(hasDeviceCode(layer)) << problemOf(layer).toString();
  expectOutputs(layer, referenceOf(layer), tolerance);
}

void expectBitsAsOnCpu(const Case& layer) {
  const std::string text = problemOf(layer).toString();
  EXPECT_TRUE(hasDeviceCode(layer)) << text;
  const std::vector<Values> expected = referenceOf(layer);
  const std::vector<Tensor> results = run(layer);
  const std::vector<Tensor> again = run(layer);
  ASSERT_EQ(results.size(), expected.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const Values values = results[i].values();
    for (size_t at = 0; at < values.size(); ++at) {
      ASSERT_TRUE(values[at] == expected[i][at] || (std::isnan(values[at]) && std::isnan(expected[i][at])))
          << text << ": element " << at << " is " << values[at] << ", expected " << expected[i][at];
    }
    EXPECT_EQ(results[i].bytes, again[i].bytes) << text << ": a second run gives other bits";
  }
}

bool hasDeviceCode(const Case& layer) {
  return std::string(createKernel(problemOf(layer)).implementation) != "host";
}

}  // namespace torchtrt::kernels::testing
