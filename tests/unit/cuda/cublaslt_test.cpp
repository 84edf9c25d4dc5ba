// Matrix products by cuBLASLt. The shared cases of matrix_multiply run on it, too; here are how it is called, and when
// others take its place.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cpu/harness.h"
#include "cuda/driver/library.h"
#include "cuda/emulation.h"
#include "cuda/fake_cublaslt.h"
#include "kernels/backend.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda::testing {
namespace {

using kernels::testing::Case;
using kernels::testing::expectOutputs;
using kernels::testing::iota;
using kernels::testing::kFloatingDTypes;
using kernels::testing::Layout;
using kernels::testing::makeAttributes;
using kernels::testing::makeTensor;
using kernels::testing::mixedValues;
using kernels::testing::problemOf;
using kernels::testing::run;
using kernels::testing::runOne;
using kernels::testing::Tensor;
using kernels::testing::Values;

// A fake that starts afresh; skips on a GPU, whose library cannot be asked what it did.
class CublasLtCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!isEmulated()) {
      GTEST_SKIP() << "looks at calls of a fake";
    }
    fakeCublasLt() = {};
  }
  void TearDown() override {
    fakeCublasLt() = {};
    if (isEmulated()) {
      useCublasLt(tableOfFakeCublasLt());
    }
  }
  static std::string callsOf(const Case& layer) {
    fakeCublasLt().calls.clear();
    run(layer);
    return fakeCublasLt().calls;
  }
};

Case linear(const char* activation, DType dtype = DType::kFloat16) {
  return {"matrix_multiply",
          makeAttributes({{"transpose_b", true}, {"activation", std::string(activation)}}),
          {makeTensor(dtype, {2, 2}, {1, 2, 3, 4}), makeTensor(dtype, {3, 2}, {1, 0, 0, 1, -9, -9}),
           makeTensor(dtype, {3}, {10, 20, 30})},
          {{dtype, {2, 3}}}};
}

Case batched(Tensor a, Tensor b, const kernels::testing::Ints& out) {
  return {"matrix_multiply", {}, {std::move(a), std::move(b)}, {{DType::kFloat32, out}}};
}

TEST_F(CublasLtCalls, BiasAndActivationAreTheEpilogue) {
  EXPECT_EQ(callsOf(linear("relu")), "bias float16 1x[3,2,2]");  // the library's relu would lose NaN
  EXPECT_EQ(runOne(linear("relu")), (Values{11, 22, 3, 13, 24, 0}));
  EXPECT_EQ(callsOf(linear("gelu_tanh")), "gelu bias float16 1x[3,2,2]");
  EXPECT_EQ(callsOf(linear("", DType::kFloat64)), "bias float64 1x[3,2,2]");
}

TEST_F(CublasLtCalls, Float32IsRoundedToTf32OnlyWhereTheLayerAllowsIt) {
  const auto product = [](DType dtype, bool tf32) {
    // 1 + 2^-12 is 1 in TF32. Five rows, which the library multiplies.
    const double above_one = 1 + 1.0 / 4096;
    return Case{"matrix_multiply",
                makeAttributes({{"tf32", tf32}}),
                {makeTensor(dtype, {5, 1}, Values(5, above_one)), makeTensor(dtype, {1, 1}, {4096})},
                {{dtype, {5, 1}}}};
  };
  EXPECT_EQ(callsOf(product(DType::kFloat32, true)), "tf32 float32 1x[1,1,5]");
  EXPECT_EQ(runOne(product(DType::kFloat32, true)), Values(5, 4096));
  EXPECT_EQ(callsOf(product(DType::kFloat32, false)), "float32 1x[1,1,5]");
  EXPECT_EQ(runOne(product(DType::kFloat32, false)), Values(5, 4097));
  EXPECT_EQ(callsOf(product(DType::kFloat64, true)), "float64 1x[1,1,5]");
}

TEST_F(CublasLtCalls, OtherActivationsAreALaunchBehind) {
  // The launch takes 16-bit results that the library has rounded, in place.
  EXPECT_EQ(callsOf(linear("gelu_erf")), "bias float16 1x[3,2,2]");
  EXPECT_EQ(callsOf(linear("silu", DType::kFloat32)), "float32 1x[3,2,2]");
  // The library's is not exact to 32 bits.
  EXPECT_EQ(callsOf(linear("gelu_tanh", DType::kFloat32)), "float32 1x[3,2,2]");
}

TEST_F(CublasLtCalls, AResidualIsAddedByTheLibrary) {
  Case layer = linear("relu");
  layer.inputs.push_back(makeTensor(DType::kFloat16, {2, 3}, {-100, 0, 1, 2, 3, 4}));
  EXPECT_EQ(callsOf(layer), "bias float16 1x[3,2,2]");
  EXPECT_EQ(runOne(layer), (Values{0, 22, 4, 15, 27, 0}));
  layer.inputs[3] = makeTensor(DType::kFloat16, {2, 3}, {-100, 0, 1, 2, 3, 4}, Layout::kColumnMajor);
  EXPECT_EQ(callsOf(layer), "float16 1x[3,2,2]");  // it would have to be turned
}

TEST_F(CublasLtCalls, ABiasOfRowsIsALaunchBehind) {
  Case layer = linear("");
  layer.inputs[2] = makeTensor(DType::kFloat16, {2, 1}, {10, 20});
  EXPECT_EQ(callsOf(layer), "float16 1x[3,2,2]");
  EXPECT_EQ(runOne(layer), (Values{11, 12, -17, 23, 24, -43}));
}

TEST_F(CublasLtCalls, BatchAndRowsBecomeRows) {
  const Case layer = batched(makeTensor(DType::kFloat32, {2, 3, 4}, iota(24)),
                             makeTensor(DType::kFloat32, {4, 5}, iota(20)), {2, 3, 5});
  EXPECT_EQ(callsOf(layer), "float32 1x[5,4,6]");
}

TEST_F(CublasLtCalls, ABatchIsOneCall) {
  const Tensor a = makeTensor(DType::kFloat32, {2, 3, 2, 4}, iota(48));
  EXPECT_EQ(callsOf(batched(a, makeTensor(DType::kFloat32, {2, 3, 4, 5}, iota(120)), {2, 3, 2, 5})),
            "float32 6x[5,4,2]");
  EXPECT_EQ(callsOf(batched(makeTensor(DType::kFloat32, {2, 4}, iota(8)),
                            makeTensor(DType::kFloat32, {3, 4, 5}, iota(60)), {3, 2, 5})),
            "float32 3x[5,4,2]");
}

TEST_F(CublasLtCalls, ABatchOfTwoStridesIsACallForEachOfTheFewer) {
  // One matrix of b for each of the outer batch: no single stride leads through all six.
  const Case layer = batched(makeTensor(DType::kFloat32, {2, 3, 2, 4}, iota(48)),
                             makeTensor(DType::kFloat32, {2, 1, 4, 5}, iota(40)), {2, 3, 2, 5});
  EXPECT_EQ(callsOf(layer), "float32 3x[5,4,2]; float32 3x[5,4,2]");
}

TEST_F(CublasLtCalls, ABatchOfManyCallsIsCopiedFirst) {
  const Case layer = batched(makeTensor(DType::kFloat32, {20, 21, 1, 1}, iota(420)),
                             makeTensor(DType::kFloat32, {20, 1, 1, 1}, iota(20)), {20, 21, 1, 1});
  EXPECT_EQ(callsOf(layer), "float32 420x[1,1,1]");
  EXPECT_EQ(runOne(layer).at(419), 419.0 * 19);
}

TEST_F(CublasLtCalls, WithoutAnEpilogueALaunchFinishes) {
  fakeCublasLt().proposes_no_epilogue = true;
  EXPECT_EQ(callsOf(linear("relu")), "float16 1x[3,2,2]");
  EXPECT_EQ(runOne(linear("relu")), (Values{11, 22, 3, 13, 24, 0}));
}

TEST_F(CublasLtCalls, WithoutAnAlgorithmTiledRuns) {
  fakeCublasLt().proposes_none = true;
  EXPECT_EQ(callsOf(linear("relu")), "");
  EXPECT_EQ(runOne(linear("relu")), (Values{11, 22, 3, 13, 24, 0}));
}

TEST_F(CublasLtCalls, WithoutTheLibraryTiledRuns) {
  useCublasLt({}, "libcublasLt.so.13: no such file");
  const Case layer = linear("relu");
  const kernels::Chosen chosen = kernels::createKernel(problemOf(layer));
  EXPECT_STREQ(chosen.implementation, "tiled");
  ASSERT_FALSE(chosen.refusals.empty());
  EXPECT_EQ(chosen.refusals.back().second.reason, "cuBLASLt is missing: libcublasLt.so.13: no such file");
  EXPECT_EQ(runOne(layer), (Values{11, 22, 3, 13, 24, 0}));
}

TEST_F(CublasLtCalls, WhereTheLibraryDoesNotStartTiledRuns) {
  useCublasLt(tableOfFakeCublasLt());
  fakeCublasLt().status_of_create = 1;
  EXPECT_EQ(callsOf(linear("relu")), "");
  EXPECT_EQ(runOne(linear("relu")), (Values{11, 22, 3, 13, 24, 0}));
}

// Runs the product by the implementation of that name.
std::string callsByName(const Case& layer, const char* name) {
  fakeCublasLt().calls.clear();
  const kernels::Problem problem = problemOf(layer);
  const kernels::Chosen chosen = kernels::createKernel(problem, name);
  EXPECT_STREQ(chosen.implementation, name);
  const device::Device& device = *problem.device;
  const Tensor result = makeTensor(layer.outputs[0].dtype, layer.outputs[0].dims, Values(6, 0));
  kernels::ShapeSet shapes;
  std::vector<device::Memory> memory;
  std::vector<const void*> inputs;
  for (const auto& input : layer.inputs) {
    shapes.inputs.push_back(input->desc);
    memory.push_back(device.allocate(input->bytes.size(), "an operand"));
    device.copyIn(memory.back().data(), input->bytes.data(), input->bytes.size(), {});
    inputs.push_back(memory.back().data());
  }
  shapes.outputs = {result.desc};
  const std::unique_ptr<kernels::Prepared> prepared = chosen.kernel->prepare(shapes);
  const device::Memory out = device.allocate(result.bytes.size(), "the result");
  const device::Memory scratch = device.allocate(prepared->scratchBytes(), "scratch");
  void* const outputs[] = {out.data()};
  prepared->run({inputs.data(), outputs, scratch.data(), 1});
  return fakeCublasLt().calls;
}

TEST_F(CublasLtCalls, OtherProposalsHaveNames) {
  EXPECT_EQ(callsByName(linear("relu"), "cublaslt"), "bias float16 1x[3,2,2]");
  EXPECT_EQ(callsByName(linear("relu"), "cublaslt_unsplit"), "bias float16 1x[3,2,2] unsplit");
  EXPECT_EQ(callsByName(linear("relu"), "cublaslt_second"), "bias float16 1x[3,2,2] second");
  EXPECT_EQ(callsByName(linear("relu"), "cublaslt_third"), "");  // the fake has two: "tiled" runs it
}

TEST_F(CublasLtCalls, RefusesIntegers) {
  const Case layer = {"matrix_multiply",
                      {},
                      {makeTensor(DType::kInt32, {1, 2}, {1, 2}), makeTensor(DType::kInt32, {2, 1}, {3, 4})},
                      {{DType::kInt32, {1, 1}}}};
  const kernels::Chosen chosen = kernels::createKernel(problemOf(layer), "cublaslt");
  EXPECT_STREQ(chosen.implementation, "tiled");
  EXPECT_EQ(chosen.refusals.at(0).second.code, "dtype");
}

TEST_F(CublasLtCalls, SaysWhatFailed) {
  fakeCublasLt().status_of_multiply = 13;
  try {
    run(linear("relu"));
    ADD_FAILURE() << "a failed product goes unnoticed";
  } catch (const EngineError& error) {
    EXPECT_STREQ(error.what(),
                 "[E006] a matrix multiplication on the GPU: cuBLASLt says \"the status of a fake\" (13)");
  }
  fakeCublasLt().status_of_multiply = lt::kOutOfMemory;
  try {
    run(linear("relu"));
    ADD_FAILURE() << "a failed product goes unnoticed";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
  }
}

// Runs float32 [1,2] x [2,2] with its first operand `offset` elements behind an aligned address.
Values productAt(int64_t offset) {
  const device::Device& device = kernels::deviceNamed("cuda:0");
  const Case layer =
      batched(makeTensor(DType::kFloat32, {1, 2}, {1, 2}), makeTensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4}), {1, 2});
  kernels::Problem problem = problemOf(layer);
  problem.device = &device;
  const kernels::Chosen chosen = kernels::createKernel(problem);
  const Tensor result = makeTensor(DType::kFloat32, {1, 2}, {0, 0});
  kernels::ShapeSet shapes;
  shapes.inputs = {layer.inputs[0]->desc, layer.inputs[1]->desc};
  shapes.outputs = {result.desc};
  const std::unique_ptr<kernels::Prepared> prepared = chosen.kernel->prepare(shapes);
  EXPECT_TRUE(prepared->isRecordable());
  const device::Memory a = device.allocate(256, "a"), b = device.allocate(256, "b"), out = device.allocate(256, "out");
  const device::Memory scratch = device.allocate(prepared->scratchBytes(), "scratch");
  float* const at = static_cast<float*>(a.data()) + offset;
  device.copyIn(at, layer.inputs[0]->bytes.data(), 8, {});
  device.copyIn(b.data(), layer.inputs[1]->bytes.data(), 16, {});
  const void* const inputs[] = {at, b.data()};
  void* const outputs[] = {out.data()};
  prepared->run({inputs, outputs, scratch.data(), 1});
  float values[2];
  device.copyOut(values, out.data(), 8, {});
  return {values[0], values[1]};
}

TEST(CublasLt, OperandsMayBeginAtAnyElement) {
  for (const int64_t offset : {0, 4, 1, 3}) {
    EXPECT_EQ(productAt(offset), (Values{7, 10})) << offset;
    if (isEmulated()) {
      EXPECT_EQ(fakeCublasLt().alignment, offset % 4 == 0 ? 16U : 4U);
    }
  }
}

TEST(CublasLt, ActivationsKeepNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype : kFloatingDTypes) {
    for (const char* const activation : {"relu", "gelu_tanh"}) {
      Case layer = linear(activation, dtype);
      layer.inputs[0] = makeTensor(dtype, {2, 2}, {nan, 2, 3, 4});
      expectOutputs(layer, {{nan, nan, nan, 13, 24, 0}});
    }
  }
}

TEST(CublasLt, ActivationsAreThoseOfTheLayer) {
  constexpr int64_t kRows = 24, kDepth = 40, kColumns = 56;
  for (const DType dtype : kFloatingDTypes) {
    for (const char* const activation : {"", "relu", "gelu_tanh", "gelu_erf", "silu"}) {
      Values a = mixedValues(kRows * kDepth, dtype, 1), b = mixedValues(kDepth * kColumns, dtype, 2);
      const Values bias = mixedValues(kColumns, dtype, 3);
      for (double& value : b) {
        value /= 64;  // results of a few units
      }
      Values expected;
      for (int64_t row = 0; row < kRows; ++row) {
        for (int64_t column = 0; column < kColumns; ++column) {
          double x = bias[static_cast<size_t>(column)];
          for (int64_t k = 0; k < kDepth; ++k) {
            x += a[static_cast<size_t>(row * kDepth + k)] * b[static_cast<size_t>(k * kColumns + column)];
          }
          const std::string name = activation;
          expected.push_back(name == "relu" ? std::max(x, 0.0)
                             : name == "gelu_tanh"
                                 ? 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)))
                             : name == "gelu_erf" ? 0.5 * x * (1 + std::erf(x / std::sqrt(2)))
                             : name == "silu"     ? x / (1 + std::exp(-x))
                                                  : x);
        }
      }
      expectOutputs({"matrix_multiply",
                     makeAttributes({{"activation", std::string(activation)}}),
                     {makeTensor(dtype, {kRows, kDepth}, a), makeTensor(dtype, {kDepth, kColumns}, b),
                      makeTensor(dtype, {kColumns}, bias)},
                     {{dtype, {kRows, kColumns}}}},
                    {expected});
    }
  }
}

// Batches, rows and depths that fill no tile, in every layout.
TEST(CublasLt, OddSizesOfBatches) {
  constexpr int64_t kBatch = 3, kRows = 5, kDepth = 67, kColumns = 9;
  for (const DType dtype : kFloatingDTypes) {
    const Values a = mixedValues(kBatch * kRows * kDepth, dtype, 1),
                 b = mixedValues(kBatch * kDepth * kColumns, dtype, 2);
    Values expected;
    for (int64_t batch = 0; batch < kBatch; ++batch) {
      for (int64_t row = 0; row < kRows; ++row) {
        for (int64_t column = 0; column < kColumns; ++column) {
          double sum = 0;
          for (int64_t k = 0; k < kDepth; ++k) {
            sum += a[static_cast<size_t>((batch * kRows + row) * kDepth + k)] *
                   b[static_cast<size_t>((batch * kDepth + k) * kColumns + column)];
          }
          expected.push_back(sum);
        }
      }
    }
    expectOutputs({"matrix_multiply",
                   {},
                   {makeTensor(dtype, {kBatch, kRows, kDepth}, a), makeTensor(dtype, {kBatch, kDepth, kColumns}, b)},
                   {{dtype, {kBatch, kRows, kColumns}}}},
                  {expected});
  }
}

TEST(CublasLt, TheLibraryHasEveryFunction) {
  Library library("libcublasLt.so.13", "cu13");
  if (!library.isOpen()) {
    GTEST_SKIP() << library.reason();
  }
#define TORCHTRT_FIND(member, symbol, ...) EXPECT_NE(library.find(#symbol), nullptr) << #symbol;
  TORCHTRT_CUBLASLT_FUNCTIONS(TORCHTRT_FIND)
#undef TORCHTRT_FIND
}

}  // namespace
}  // namespace torchtrt::cuda::testing
