// Outputs that a call may write over an input, of which a step changes some elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/kernel.h"
#include "run.h"

namespace torchtrt::builder {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string withCache(const std::string& rest) {
  return R"(network "n" () {
  input %cache : float32[4, 2]
  input %place : int64[1]
  input %x : float32[1, 2]
)" + rest +
         "\n}";
}

const std::string kScatter = "  %new = scatter(%cache, %place, %x) {axis=0}\n";
const std::string kUpdated =
    kScatter + "  %y = activation(%new) {op=\"relu\"}\n  output \"new\" %new\n  output \"y\" %y";

// Memory of a test on the CPU, at the begin of a cache line.
struct Memory {
  device::Memory memory;
  std::vector<int64_t> dims, strides;
  DType dtype;

  Memory(DType type, std::vector<int64_t> shape, const void* values)
      : dims(std::move(shape)), strides(kernels::denseStrides(dims)), dtype(type) {
    const size_t bytes = static_cast<size_t>(kernels::countOf(dims)) * sizeOf(type);
    memory = device::cpu().allocate(bytes, "a tensor of a test");
    std::memcpy(memory.data(), values, bytes);
  }
  engine::TensorView view() const {
    return {dtype, static_cast<int32_t>(dims.size()), dims.data(), strides.data(), memory.data()};
  }
  std::vector<float> floats() const {
    const auto* values = static_cast<const float*>(memory.data());
    return {values, values + kernels::countOf(dims)};
  }
};

// Lets the call write over the inputs, and keeps which output was written over which.
class OverInputs : public testing::KeptOutputs {
 public:
  explicit OverInputs(std::span<const engine::TensorView> inputs) : KeptOutputs(device::cpu()), inputs_(inputs) {}

  void* allocateOver(int index, int input) override {
    over.emplace_back(index, input);
    return const_cast<void*>(inputs_[static_cast<size_t>(input)].data);
  }

  std::vector<std::pair<int, int>> over;

 private:
  std::span<const engine::TensorView> inputs_;
};

struct Call {
  std::vector<float> cache = {1, 2, 3, 4, 5, 6, 7, 8};
  int64_t place = 2;
  std::vector<float> x = {-9, 10};
  std::vector<std::pair<int, int>> over;
  std::vector<std::vector<float>> outputs;

  void run(const std::string& text, int threads = 1) {
    const std::string bytes = plan::serialize(buildText(withCache(text)));
    const auto engine = engine::Engine::load(testing::bytesOf(bytes));
    const Memory given[] = {
        {DType::kFloat32, {4, 2}, cache.data()}, {DType::kInt64, {1}, &place}, {DType::kFloat32, {1, 2}, x.data()}};
    const std::vector<engine::TensorView> views = {given[0].view(), given[1].view(), given[2].view()};
    OverInputs allocator(views);
    try {
      engine->enqueue(views, allocator, threads);
    } catch (const EngineError&) {
      cache = given[0].floats();
      throw;
    }
    cache = given[0].floats();
    over = allocator.over;
    for (const auto& output : allocator.outputs) {
      outputs.push_back(output.memory.data() == nullptr ? std::vector<float>() : output.values());
    }
  }
};

TEST(Updates, ChangeTheRowsThatTheStepWrites) {
  for (const int threads : {1, 3}) {
    Call call;
    call.run(kUpdated, threads);
    EXPECT_THAT(call.over, ElementsAre(std::pair(0, 0)));
    EXPECT_THAT(call.cache, ElementsAre(1, 2, 3, 4, -9, 10, 7, 8));
    EXPECT_THAT(call.outputs.at(1), ElementsAre(1, 2, 3, 4, 0, 10, 7, 8));
  }
}

TEST(Updates, LeaveTheInputWhereTheIndexIsOutside) {
  Call call;
  call.place = 4;
  const std::vector<float> before = call.cache;
  EXPECT_THROW(call.run(kUpdated), EngineError);
  EXPECT_EQ(call.cache, before);
}

void expectNoUpdate(const std::string& text) {
  Call call;
  const std::vector<float> before = call.cache;
  call.run(text);
  EXPECT_THAT(call.over, IsEmpty()) << text;
  EXPECT_EQ(call.cache, before) << text;
}

TEST(Updates, AreNoneWhereTheInputIsReadLater) {
  expectNoUpdate(kScatter + "  %y = elementwise(%new, %cache) {op=\"sum\"}\n  output \"new\" %new\n  output \"y\" %y");
  expectNoUpdate(kScatter + "  output \"new\" %new\n  output \"old\" %cache");
}

TEST(Updates, AreNoneWhereAViewOfTheInputIsReadLater) {
  expectNoUpdate("  %flat = shuffle(%cache) {reshape_dims=[8]}\n" + kScatter +
                 "  %rows = shuffle(%new) {reshape_dims=[8]}\n  %y = elementwise(%rows, %flat) {op=\"sum\"}\n"
                 "  output \"new\" %new\n  output \"y\" %y");
}

TEST(Updates, AreNoneOfAnotherShape) {
  expectNoUpdate(kScatter + "  %flat = shuffle(%new) {first_permutation=[1, 0]}\n  output \"new\" %flat");
}

TEST(Updates, OfOneInputAreOneAtMost) {
  Call call;
  call.run(kScatter +
           "  %again = scatter(%cache, %place, %x) {axis=0, reduce=\"sum\"}\n  output \"new\" %new\n"
           "  output \"again\" %again");
  EXPECT_THAT(call.over, ElementsAre(std::pair(1, 0)));
  EXPECT_THAT(call.outputs.at(0), ElementsAre(1, 2, 3, 4, -9, 10, 7, 8));
  EXPECT_THAT(call.cache, ElementsAre(1, 2, 3, 4, -4, 16, 7, 8));
}

TEST(Updates, ShowInTheSchedule) {
  const Call given;
  const std::string bytes = plan::serialize(buildText(withCache(kUpdated)));
  const auto engine = engine::Engine::load(testing::bytesOf(bytes));
  const Memory tensors[] = {{DType::kFloat32, {4, 2}, given.cache.data()},
                            {DType::kInt64, {1}, &given.place},
                            {DType::kFloat32, {1, 2}, given.x.data()}};
  EXPECT_THAT(engine->schedule({{tensors[0].view(), tensors[1].view(), tensors[2].view()}}),
              HasSubstr("out0 over in0 float32[4, 2]"));
  EXPECT_THAT(engine->schedule({{tensors[0].view(), tensors[1].view(), tensors[2].view()}}),
              Not(HasSubstr("out1 over")));
}

}  // namespace
}  // namespace torchtrt::builder
