#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "device/faults.h"
#include "engine/load.h"

namespace torchtrt::engine {
namespace {

using testing::callEngine;
using ::testing::ElementsAre;
using testing::errorOf;
using ::testing::HasSubstr;
using testing::HostTensor;
using testing::KeptOutputs;
using testing::PlanMaker;

using Ints = std::vector<int64_t>;

TEST(Enqueue, ComputesForEveryBatch) {
  const auto engine = smallEngine();
  for (const int64_t batch : {1, 2, 8, 2}) {
    const auto outputs = callEngine(*engine, {HostTensor::counting({batch, 3})});
    ASSERT_EQ(outputs.size(), 1U);
    EXPECT_EQ(outputs[0].dims, (Ints{batch, 3}));
    EXPECT_EQ(outputs[0].dtype, DType::kFloat32);
    std::vector<float> expected;
    for (int64_t row = 0; row < batch; ++row) {
      const auto base = static_cast<float>(3 * row);
      expected.insert(expected.end(), {base + 1, std::max(base - 1, 0.0F), base + 5});
    }
    EXPECT_EQ(outputs[0].values(), expected);
  }
}

TEST(Enqueue, AnEmptyBatchGivesAnEmptyOutput) {
  const auto outputs = callEngine(*smallEngine(), {HostTensor({0, 3}, {})});
  EXPECT_EQ(outputs[0].dims, (Ints{0, 3}));
}

TEST(Enqueue, MatrixMultiplyAndConvolutionByHand) {
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({1, 1, 3, 3}));
  const int32_t kernel = make.floats("k", {1, 1, 2, 2}, {1, 2, 3, 4});
  const int32_t bias = make.floats("b", {1}, {0.5F});
  const int32_t conv = make.step(
      "convolution", {x, kernel, bias}, make.dims({1, 1, 2, 2}),
      {{"stride", Ints{1, 1}}, {"pre_padding", Ints{0, 0}}, {"post_padding", Ints{0, 0}}, {"dilation", Ints{1, 1}}});
  const int32_t flat = make.view("flat", conv, make.dims({1, 4}));
  const int32_t matrix = make.floats("m", {4, 2}, {1, 0, 0, 1, 1, 0, 0, 1});
  make.output("y", make.step("matrix_multiply", {flat, matrix}, make.dims({1, 2})));
  const auto outputs = callEngine(*loadMade(make), {HostTensor::counting({1, 1, 3, 3})});
  // Rows 0 1 2 / 3 4 5 / 6 7 8: 1*0+2*1+3*3+4*4 = 27, then 37, 57, 67, each + 0.5.
  EXPECT_THAT(outputs[0].values(), ElementsAre(27.5F + 57.5F, 37.5F + 67.5F));
}

TEST(Enqueue, StridedAndExpandedInputsAreReadAsTheyLie) {
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({2, 3}));
  make.output("y", make.step("unary", {x}, make.dims({2, 3}), {{"op", std::string("neg")}}));
  const auto engine = loadMade(make);
  HostTensor transposed({2, 3}, {1, 2, 3, 4, 5, 6});
  transposed.strides = {1, 2};
  EXPECT_THAT(callEngine(*engine, {transposed})[0].values(), ElementsAre(-1, -3, -5, -2, -4, -6));
  HostTensor expanded({2, 3}, {7, 8});
  expanded.strides = {1, 0};
  EXPECT_THAT(callEngine(*engine, {expanded})[0].values(), ElementsAre(-7, -7, -7, -8, -8, -8));
  EXPECT_THAT(callEngine(*engine, {HostTensor({2, 3}, {1, 2, 3, 4, 5, 6})})[0].values(),
              ElementsAre(-1, -2, -3, -4, -5, -6));
}

TEST(Enqueue, DenseInputsAndOutputsAreNotCopied) {
  const auto engine = smallEngine();
  const HostTensor input = HostTensor::counting({2, 3});
  const auto shapes = engine->scheduleFor(std::vector{input.view()}, 1);
  EXPECT_EQ(shapes->input_copies, 0);
  EXPECT_EQ(shapes->output_copies, 0);
  if (testing::testDevice().isHost()) {  // others fuse nothing
    EXPECT_EQ(shapes->actions.size(), 1U);
  }
  EXPECT_EQ(shapes->slots[shapes->actions.front().first_input].kind, Slot::Kind::kInput);
  EXPECT_EQ(shapes->slots[shapes->actions.back().first_output].kind, Slot::Kind::kOutput);
}

// A convolution's plan: the input is moved to channels-last, a unary step runs there, and the result is moved back.
std::shared_ptr<const LoadedEngine> channelsLastEngine() {
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({1, 2, 2, 2}));
  const int32_t moved = make.step("reformat", {x}, make.at(x).dims);
  make.at(moved).order = {0, 2, 3, 1};
  const int32_t negated = make.step("unary", {moved}, make.at(x).dims, {{"op", std::string("neg")}});
  make.at(negated).order = {0, 2, 3, 1};
  make.output("y", make.step("reformat", {negated}, make.at(x).dims));
  return loadMade(make);
}

TEST(Enqueue, AChannelsLastInputSavesTheReorder) {
  const auto engine = channelsLastEngine();
  HostTensor input({1, 2, 2, 2}, {0, 4, 1, 5, 2, 6, 3, 7});
  input.strides = {8, 1, 4, 2};
  const auto shapes = engine->scheduleFor(std::vector{input.view()}, 1);
  EXPECT_EQ(shapes->input_copies, 0);
  EXPECT_EQ(shapes->skipped.size(), 1);
  EXPECT_EQ(shapes->slots[shapes->actions[0].first_input].kind, Slot::Kind::kInput);
  EXPECT_THAT(callEngine(*engine, {input})[0].values(), ElementsAre(0, -1, -2, -3, -4, -5, -6, -7));
  EXPECT_THAT(callEngine(*engine, {HostTensor::counting({1, 2, 2, 2})})[0].values(),
              ElementsAre(0, -1, -2, -3, -4, -5, -6, -7));
}

TEST(Enqueue, OutputsMayBeAnything) {
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({2, 2}));
  const int32_t w = make.floats("w", {2}, {8, 9});
  const int32_t y = make.activation("relu", x);
  const int32_t flat = make.view("flat", y, make.dims({4}));
  const int32_t other = make.view("other", x, make.dims({4}));
  for (const int32_t tensor : {y, x, w, y, flat, other, x}) {
    make.output("o", tensor);
  }
  const auto outputs = callEngine(*loadMade(make), {HostTensor({2, 2}, {-1, 2, -3, 4})});
  ASSERT_EQ(outputs.size(), 7U);
  EXPECT_THAT(outputs[0].values(), ElementsAre(0, 2, 0, 4));
  EXPECT_THAT(outputs[1].values(), ElementsAre(-1, 2, -3, 4));
  EXPECT_THAT(outputs[2].values(), ElementsAre(8, 9));
  EXPECT_THAT(outputs[3].values(), ElementsAre(0, 2, 0, 4));
  EXPECT_THAT(outputs[4].values(), ElementsAre(0, 2, 0, 4));
  EXPECT_THAT(outputs[5].values(), ElementsAre(-1, 2, -3, 4));
  EXPECT_THAT(outputs[6].values(), ElementsAre(-1, 2, -3, 4));
}

TEST(Enqueue, AViewOfAResultIsWrittenInPlace) {
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({2, 2}));
  make.output("y", make.view("flat", make.activation("relu", x), make.dims({4})));
  const auto engine = loadMade(make);
  const HostTensor input({2, 2}, {-1, 2, -3, 4});
  EXPECT_EQ(engine->scheduleFor(std::vector{input.view()}, 1)->output_copies, 0);
  EXPECT_THAT(callEngine(*engine, {input})[0].values(), ElementsAre(0, 2, 0, 4));
}

TEST(Enqueue, AStridedInputWithViewsIsMadeDenseFirst) {
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({2, 2}));
  make.output("y", make.activation("relu", make.view("flat", x, make.dims({4}))));
  HostTensor input({2, 2}, {1, 2, 3, 4});
  input.strides = {1, 2};
  const auto engine = loadMade(make);
  EXPECT_EQ(engine->scheduleFor(std::vector{input.view()}, 1)->input_copies, 1);
  EXPECT_THAT(callEngine(*engine, {input})[0].values(), ElementsAre(1, 3, 2, 4));
}

TEST(Enqueue, BranchesShareTheWorkspace) {
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({1024}));
  int32_t a = make.activation("relu", x);
  int32_t b = make.step("unary", {x}, make.dims({1024}), {{"op", std::string("neg")}});
  for (int i = 0; i < 20; ++i) {
    a = make.step("unary", {a}, make.dims({1024}), {{"op", std::string("neg")}});
    b = make.step("unary", {b}, make.dims({1024}), {{"op", std::string("neg")}});
  }
  make.output("y", make.elementwise("sub", a, b));
  const auto engine = loadMade(make);
  const HostTensor input = HostTensor::counting({1024});
  EXPECT_LE(engine->workspaceBytes(std::vector{input.view()}), 4U * 4096U);
  const auto values = callEngine(*engine, {input})[0].values();
  EXPECT_EQ(values[3], 6.0F);  // x - (-x)
}

TEST(Enqueue, ManyThreadsGetTheSameAnswer) {
  const auto engine = smallEngine();
  std::vector<std::vector<float>> expected;
  for (int64_t batch = 1; batch <= 4; ++batch) {
    expected.push_back(callEngine(*engine, {HostTensor::counting({batch, 3})})[0].values());
  }
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      for (int call = 0; call < 1000; ++call) {
        const int64_t batch = 1 + (t + call) % 4;
        const auto values = callEngine(*engine, {HostTensor::counting({batch, 3})})[0].values();
        wrong += values != expected[static_cast<size_t>(batch - 1)] ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(engine->contexts().idle(), 16U);
}

TEST(Enqueue, AFailedCallLeavesTheEngineUsable) {
  PlanMaker make;
  const int32_t data = make.floats("table", {2}, {10, 20});
  const int32_t indices = make.input("i", make.dims({2}), DType::kInt64);
  make.output("y", make.step("gather", {data, indices}, make.dims({2}),
                             {{"mode", std::string("default")}, {"axis", int64_t{0}}}));
  make.lastStep().location = {"model.py", 7, 0, "forward", "embedding"};
  const auto engine = loadMade(make);
  const auto call = [&](std::vector<int64_t> values) {
    const int64_t dims[] = {2};
    const int64_t strides[] = {1};
    const std::vector<TensorView> views = {{DType::kInt64, 1, dims, strides, values.data()}};
    const testing::InputsOnDevice given(testing::testDevice(), views);
    KeptOutputs outputs;
    engine->enqueue(given.views(), outputs, 1);
    return outputs.outputs[0].values();
  };
  call({1, 0});
  const size_t idle = engine->contexts().idle();
  std::string error = errorOf([&] { call({0, 5}); });
  const bool tells_next_call = dynamic_cast<const device::FaultReporter*>(&testing::testDevice()) != nullptr;
  if (tells_next_call) {
    EXPECT_EQ(error, "");
    error = errorOf([&] { call({1, 0}); });
  }
  EXPECT_THAT(error, HasSubstr("[E008]"));
  if (testing::testDevice().isHost() || tells_next_call) {
    EXPECT_THAT(error, HasSubstr("model.py:7")) << "the error names the source of the step";
  }
  EXPECT_THAT(call({1, 0}), ElementsAre(20, 10));
  EXPECT_EQ(engine->contexts().idle(), idle);
}

TEST(Enqueue, AnAllocatorMayRefuse) {
  class Refusing : public OutputAllocator {
   public:
    void* allocate(int, DType, std::span<const int64_t>) override {
      return nullptr;
    }
  } refusing;
  const auto engine = smallEngine();
  const HostTensor input = HostTensor::counting({2, 3});
  EXPECT_THAT(errorOf([&] { engine->enqueue(std::vector{input.view()}, refusing, 1); }),
              HasSubstr("[E007] output 'y': no memory for 24 bytes [2, 3]"));
  EXPECT_EQ(callEngine(*engine, {input})[0].dims, (Ints{2, 3}));
}

}  // namespace
}  // namespace torchtrt::engine
