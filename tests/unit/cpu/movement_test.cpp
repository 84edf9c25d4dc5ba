#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

TEST(Shuffle, Transposes) {
  for (const DType dtype : kAllDTypes) {
    const Values in = dtype == DType::kBool ? Values{0, 1, 1, 0, 0, 1} : iota(6);
    const Case layer = {"shuffle",
                        makeAttributes({{"first_permutation", Ints{1, 0}}}),
                        {makeTensor(dtype, {2, 3}, in)},
                        {{dtype, {3, 2}}}};
    expectOutputs(layer, {{in[0], in[3], in[1], in[4], in[2], in[5]}});
  }
}

TEST(Shuffle, TransposesReshapesAndTransposes) {
  // [2,3,2] -> [3,2,2] -> [4,3] -> [3,4]
  const Case layer = {"shuffle",
                      makeAttributes({{"first_permutation", Ints{1, 0, 2}}, {"second_permutation", Ints{1, 0}}}),
                      {makeTensor(DType::kInt32, {2, 3, 2}, iota(12))},
                      {{DType::kInt32, {3, 4}}},
                      {{"reshape_dims", {4, 3}}}};
  // Row-major after the first transposition: 0 1 6 7 2 3 8 9 4 5 10 11.
  expectOutputs(layer, {{0, 7, 8, 5, 1, 2, 9, 10, 6, 3, 4, 11}});
}

TEST(Shuffle, TransposesTwiceAroundAnAxisOfSizeOne) {
  // [2,1,3] -> [3,2,1] -> [3,2] -> [2,3], which is the order of the input again
  const Case layer = {"shuffle",
                      makeAttributes({{"first_permutation", Ints{2, 0, 1}}, {"second_permutation", Ints{1, 0}}}),
                      {makeTensor(DType::kFloat32, {2, 1, 3}, iota(6))},
                      {{DType::kFloat32, {2, 3}}},
                      {{"reshape_dims", {3, 2}}}};
  expectOutputs(layer, {iota(6)});
  // [2,1,3,4] -> [3,4,2,1] -> [3,1,4,2] -> [1,2,4,3]: element [0,a,b,c] is the input's [a,0,c,b]
  const Case turned = {
      "shuffle",
      makeAttributes({{"first_permutation", Ints{2, 3, 0, 1}}, {"second_permutation", Ints{1, 3, 2, 0}}}),
      {makeTensor(DType::kFloat32, {2, 1, 3, 4}, iota(24))},
      {{DType::kFloat32, {1, 2, 4, 3}}},
      {{"reshape_dims", {3, 1, 4, 2}}}};
  expectOutputs(turned, {{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23}});
}

TEST(Shuffle, ReshapesScalarsAndEmptyTensors) {
  const Case scalar = {
      "shuffle", {}, {makeTensor(DType::kInt8, {}, {7})}, {{DType::kInt8, {1, 1}}}, {{"reshape_dims", {1, 1}}}};
  expectOutputs(scalar, {{7}});
  const Case empty = {
      "shuffle", {}, {makeTensor(DType::kInt8, {2, 0}, {})}, {{DType::kInt8, {0, 5}}}, {{"reshape_dims", {0, 5}}}};
  expectOutputs(empty, {{}});
}

TEST(Slice, StepsForwardsAndBackwards) {
  const Case layer = {"slice",
                      makeAttributes({{"stride", Ints{-1, 2}}}),
                      {makeTensor(DType::kInt16, {3, 5}, iota(15))},
                      {{DType::kInt16, {2, 3}}},
                      {{"start", {2, 0}}, {"size", {2, 3}}}};
  expectOutputs(layer, {{10, 12, 14, 5, 7, 9}});
  const Case empty = {"slice",
                      makeAttributes({{"stride", Ints{1}}}),
                      {makeTensor(DType::kInt16, {3}, iota(3))},
                      {{DType::kInt16, {0}}},
                      {{"start", {3}}, {"size", {0}}}};
  expectOutputs(empty, {{}});
}

TEST(Slice, TurnsLongLinesAround) {
  for (const DType dtype : {DType::kInt16, DType::kFloat32, DType::kInt64}) {
    Values turned = iota(37);
    std::reverse(turned.begin(), turned.end());
    expectOutputs({"slice",
                   makeAttributes({{"stride", Ints{-1}}}),
                   {makeTensor(dtype, {37}, iota(37))},
                   {{dtype, {37}}},
                   {{"start", {36}}, {"size", {37}}}},
                  {turned});
  }
}

TEST(Expand, RepeatsAndAddsDims) {
  const Case layer = {"expand",
                      {},
                      {makeTensor(DType::kFloat64, {2, 1}, {1, 2})},
                      {{DType::kFloat64, {2, 2, 3}}},
                      {{"dims", {2, 2, 3}}}};
  expectOutputs(layer, {{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}});
  const Case scalar = {"expand", {}, {makeTensor(DType::kBool, {}, {1})}, {{DType::kBool, {3}}}, {{"dims", {3}}}};
  expectOutputs(scalar, {{1, 1, 1}});
}

TEST(Concatenation, JoinsAlongAnyAxis) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kInt8, DType::kInt64}) {
    const Case columns = {
        "concatenation",
        makeAttributes({{"axis", 1}}),
        {makeTensor(dtype, {2, 1}, {1, 2}), makeTensor(dtype, {2, 0}, {}), makeTensor(dtype, {2, 2}, {3, 4, 5, 6})},
        {{dtype, {2, 3}}}};
    expectOutputs(columns, {{1, 3, 4, 2, 5, 6}});
  }
  const Case rows = {"concatenation",
                     makeAttributes({{"axis", 0}}),
                     {makeTensor(DType::kInt32, {1, 2}, {1, 2}), makeTensor(DType::kInt32, {2, 2}, {3, 4, 5, 6})},
                     {{DType::kInt32, {3, 2}}}};
  expectOutputs(rows, {iota(6, 1)});
}

Case gather(const std::string& mode, int64_t axis, Tensor data, Tensor indices, const Ints& out) {
  const DType dtype = data.desc.dtype;
  return {"gather",
          makeAttributes({{"mode", mode}, {"axis", axis}}),
          {std::move(data), std::move(indices)},
          {{dtype, out}}};
}

TEST(Gather, TakesSlices) {
  const Tensor data = makeTensor(DType::kFloat32, {3, 2}, iota(6));
  for (const DType index : {DType::kInt32, DType::kInt64}) {
    expectOutputs(gather("default", 0, data, makeTensor(index, {2, 2}, {2, 0, -1, -3}), {2, 2, 2}),
                  {{4, 5, 0, 1, 4, 5, 0, 1}});
    expectOutputs(gather("default", 1, data, makeTensor(index, {3}, {1, 1, 0}), {3, 3}), {{1, 1, 0, 3, 3, 2, 5, 5, 4}});
    expectOutputs(gather("default", 0, data, makeTensor(index, {}, {1}), {2}), {{2, 3}});
    expectOutputs(gather("default", 0, data, makeTensor(index, {0}, {}), {0, 2}), {{}});
  }
}

TEST(Gather, TakesOneSliceInManyPieces) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt8}) {
    const Tensor data = makeTensor(dtype, {2, 3, 2}, iota(12));
    expectOutputs(gather("default", 1, data, makeTensor(DType::kInt64, {}, {-1}), {2, 2}), {{4, 5, 10, 11}});
    expectOutputs(gather("default", 2, data, makeTensor(DType::kInt32, {1, 1}, {1}), {2, 3, 1, 1}),
                  {{1, 3, 5, 7, 9, 11}});
  }
}

TEST(Gather, TakesElements) {
  const Tensor data = makeTensor(DType::kInt64, {3, 2}, iota(6));
  expectOutputs(gather("element", 0, data, makeTensor(DType::kInt64, {2, 2}, {2, 0, -3, 1}), {2, 2}), {{4, 1, 0, 3}});
  expectOutputs(gather("element", 1, data, makeTensor(DType::kInt64, {3, 1}, {1, 0, -1}), {3, 1}), {{1, 2, 5}});
}

TEST(Gather, NamesAnIndexOutOfRange) {
  if (reportsFaultsLate()) {
    GTEST_SKIP() << "tests/unit/cuda/faults_test.cpp has what the device says";
  }
  const Tensor data = makeTensor(DType::kFloat32, {3, 2}, iota(6));
  for (const auto& [index, text] : {std::pair{3.0, "index 3"}, std::pair{-4.0, "index -4"}}) {
    try {
      run(gather("default", 0, data, makeTensor(DType::kInt64, {1}, {index}), {1, 2}));
      FAIL() << text;
    } catch (const EngineError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIndexOutOfRange);
      EXPECT_NE(error.message().find(text), std::string::npos) << error.message();
      EXPECT_NE(error.message().find("size 3"), std::string::npos) << error.message();
    }
  }
}

TEST(Gather, RefusesNegativeIndicesWhereToldTo) {
  if (reportsFaultsLate()) {
    GTEST_SKIP() << "tests/unit/cuda/faults_test.cpp has what the device says";
  }
  const Tensor data = makeTensor(DType::kFloat32, {3, 8}, iota(24));  // slices long enough to be copied whole
  const auto strict = [](Case problem) {
    problem.attributes.set("negative", false);
    return problem;
  };
  expectOutputs(strict(gather("default", 0, data, makeTensor(DType::kInt64, {1}, {2}), {1, 8})), {iota(8, 16)});
  for (const Case& problem : {gather("default", 0, data, makeTensor(DType::kInt64, {2}, {2, -1}), {2, 8}),
                              gather("default", 1, data, makeTensor(DType::kInt64, {1}, {-1}), {3, 1}),
                              gather("element", 0, data, makeTensor(DType::kInt32, {1, 2}, {0, -1}), {1, 2})}) {
    try {
      run(strict(problem));
      FAIL();
    } catch (const EngineError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIndexOutOfRange);
      EXPECT_NE(error.message().find("index -1"), std::string::npos) << error.message();
      EXPECT_NE(error.advice().find("[0, size)"), std::string::npos) << error.advice();
    }
  }
}

Case padding(const std::string& mode, const Ints& dims, const Values& in, const Ints& pre, const Ints& post,
             double value = 0) {
  Ints out = dims;
  for (size_t axis = 0; axis < out.size(); ++axis) {
    out[axis] += pre[axis] + post[axis];
  }
  return {"padding",
          makeAttributes({{"mode", mode}, {"value", value}}),
          {makeTensor(DType::kInt32, dims, in)},
          {{DType::kInt32, out}},
          {{"pre", pre}, {"post", post}}};
}

TEST(Padding, ModesOfOneAxis) {
  const Values in = {1, 2, 3, 4};
  expectOutputs(padding("constant", {4}, in, {2}, {1}, 9), {{9, 9, 1, 2, 3, 4, 9}});
  expectOutputs(padding("reflect", {4}, in, {3}, {2}), {{4, 3, 2, 1, 2, 3, 4, 3, 2}});
  expectOutputs(padding("replicate", {4}, in, {2}, {5}), {{1, 1, 1, 2, 3, 4, 4, 4, 4, 4, 4}});
  expectOutputs(padding("circular", {4}, in, {2}, {3}), {{3, 4, 1, 2, 3, 4, 1, 2, 3}});
}

TEST(Padding, NegativeEntriesCrop) {
  expectOutputs(padding("constant", {4}, {1, 2, 3, 4}, {-1}, {2}, 7), {{2, 3, 4, 7, 7}});
  expectOutputs(padding("constant", {2, 3}, iota(6), {1, -1}, {-1, 0}, 7), {{7, 7, 1, 2}});
  expectOutputs(padding("constant", {4}, {1, 2, 3, 4}, {-5}, {3}, 7), {{7, 7}});
  expectOutputs(padding("constant", {4}, {1, 2, 3, 4}, {-2}, {-2}), {{}});
  expectOutputs(padding("circular", {4}, {1, 2, 3, 4}, {1}, {-1}), {{4, 1, 2, 3}});
  expectOutputs(padding("circular", {4}, {1, 2, 3, 4}, {-3}, {4}), {{4, 1, 2, 3, 4}});
  expectOutputs(padding("circular", {4}, {1, 2, 3, 4}, {-6}, {4}), {{3, 4}});
  expectOutputs(padding("circular", {2, 3}, iota(6), {1, 2}, {-1, -2}), {{4, 5, 3, 1, 2, 0}});
}

TEST(Padding, SeveralAxes) {
  expectOutputs(padding("reflect", {2, 2}, {1, 2, 3, 4}, {1, 0}, {0, 1}), {{3, 4, 3, 1, 2, 1, 3, 4, 3}});
  expectOutputs(padding("constant", {1, 1, 1}, {5}, {1, 0, 1}, {0, 1, 0}, 2), {{2, 2, 2, 2, 2, 5, 2, 2}});
}

// The definition, along every axis.
int64_t sourceOf(const std::string& mode, int64_t i, int64_t size) {
  if (mode == "circular") {
    return (i % size + size) % size;
  }
  if (mode == "replicate") {
    return std::clamp<int64_t>(i, 0, size - 1);
  }
  if (mode == "reflect") {
    return i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i;
  }
  return i < 0 || i >= size ? -1 : i;
}

TEST(Padding, RowsOfEveryLengthAndElement) {
  for (const DType dtype : {DType::kInt8, DType::kInt16, DType::kFloat32, DType::kFloat64}) {
    for (const int64_t width : {1, 2, 5, 15, 16, 17, 31, 64, 65, 150, 300}) {
      for (const std::string mode : {"constant", "reflect", "replicate", "circular"}) {
        SCOPED_TRACE(mode + " " + std::to_string(width));
        const Ints dims = {3, 4, width};
        const int64_t most = mode == "reflect" ? width - 1 : width;
        const int64_t before = std::min<int64_t>(most, 3);
        const Ints pre = {0, 2, before};
        const bool crops = mode == "constant" || mode == "circular";
        const Ints post = {crops ? -1 : 0, 1, crops ? -std::min<int64_t>(width, 2) : std::min<int64_t>(most, 17)};
        Values in = iota(3 * 4 * width);
        for (double& value : in) {
          value = std::fmod(value, 101);
        }
        Values out;
        for (int64_t n = 0; n < dims[0] + post[0]; ++n) {
          for (int64_t i = 0; i < dims[1] + pre[1] + post[1]; ++i) {
            for (int64_t j = 0; j < dims[2] + pre[2] + post[2]; ++j) {
              const int64_t y = sourceOf(mode, i - pre[1], dims[1]);
              const int64_t x = sourceOf(mode, j - pre[2], dims[2]);
              out.push_back(y < 0 || x < 0 ? 7 : in[static_cast<size_t>((n * dims[1] + y) * dims[2] + x)]);
            }
          }
        }
        Case problem = padding(mode, dims, in, pre, post, 7);
        problem.inputs[0] = makeTensor(dtype, dims, in);
        problem.outputs[0].dtype = dtype;
        expectOutputs(problem, {out});
      }
    }
  }
}

TEST(Padding, ALongRowIsSharedOut) {
  const int64_t count = 100003;
  Values out = iota(count);
  std::rotate(out.begin(), out.end() - 40001, out.end());
  expectOutputs(padding("circular", {count}, iota(count), {40001}, {-40001}), {out});
}

TEST(Padding, AnEmptyTensorHasNothingToRepeat) {
  expectOutputs(padding("constant", {0}, {}, {1}, {1}, 3), {{3, 3}});
  EXPECT_THROW(run(padding("circular", {0}, {}, {1}, {1})), EngineError);
}

TEST(Copies, KeepEveryBit) {
  for (const char* family : {"identity", "reformat"}) {
    for (const DType dtype : kAllDTypes) {
      const Values in = mixedValues(2 * 3 * 4 * 5, dtype);
      expectOutputs({family, {}, {makeTensor(dtype, {2, 3, 4, 5}, in)}, {{dtype, {2, 3, 4, 5}}}}, {in});
    }
    expectOutputs({family, {}, {makeTensor(DType::kInt32, {}, {3})}, {{DType::kInt32, {}}}}, {{3}});
  }
}

}  // namespace
}  // namespace torchtrt::kernels::testing
