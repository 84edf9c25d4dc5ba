// Outputs that show their length when their step has run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/load.h"
#include "support/counted_plan.h"
#include "torchtrt/plugin.h"

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

// relu(x) of [n], the places where it is not 0, twice, and how many there are if asked for.
std::shared_ptr<const LoadedEngine> placesOfPositive(bool with_count = false) {
  plugin::registerBuiltinPlugins();
  PlanMaker make("places");
  const plan::Register n = make.symbol("n", 0, 4, 100);
  const int32_t x = make.input("x", {n});
  const int32_t relu = make.activation("relu", x);
  const testing::Places places = testing::addPlaces(make, relu, n);
  make.output("places", places.places);
  make.output("relu", make.activation("tanh", relu));
  make.output("again", places.places);
  if (with_count) {
    make.output("count", places.count);
  }
  return loadMade(make);
}

TEST(CountedOutputs, AreAsLongAsTheyTurnOutToBe) {
  const auto engine = placesOfPositive();
  const std::vector<std::pair<std::vector<float>, std::vector<int64_t>>> cases = {
      {{1, -1, 2, 0}, {0, 2}}, {{-1, -1, -1, -1}, {}}, {{1, 1, 1, 1}, {0, 1, 2, 3}}, {{}, {}}, {{-2, 3}, {1}}};
  for (const auto& [values, places] : cases) {
    const auto outputs = callEngine(*engine, {HostTensor({static_cast<int64_t>(values.size())}, values)});
    ASSERT_EQ(outputs.size(), 3U);
    for (const size_t i : {0, 2}) {
      EXPECT_EQ(outputs[i].dims, (Ints{static_cast<int64_t>(places.size()), 1}));
      EXPECT_EQ(outputs[i].values<int64_t>(), places);
    }
    EXPECT_EQ(outputs[1].dims, (Ints{static_cast<int64_t>(values.size())}));
  }
}

TEST(CountedOutputs, TheCountMayBeAnOutputToo) {
  const auto outputs = callEngine(*placesOfPositive(true), {HostTensor({3}, {1, -1, 2})});
  EXPECT_THAT(outputs[0].values<int64_t>(), ElementsAre(0, 2));
  EXPECT_THAT(outputs[3].values<int64_t>(), ElementsAre(2));
}

// Later computations do not use their memory again.
TEST(CountedOutputs, LastToTheEndOfACall) {
  plugin::registerBuiltinPlugins();
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({64}));
  const testing::Places places = testing::addPlaces(make, make.activation("relu", x), make.number(64));
  int32_t y = x;
  for (int i = 0; i < 6; ++i) {
    y = make.activation(i % 2 == 0 ? "tanh" : "sigmoid", y);
  }
  make.output("y", y);
  make.output("places", places.places);
  std::vector<float> values(64, -1);
  values[5] = values[60] = 1;
  EXPECT_THAT(callEngine(*loadMade(make), {HostTensor({64}, values)})[1].values<int64_t>(), ElementsAre(5, 60));
}

TEST(CountedOutputs, AreToldAsARange) {
  const auto engine = placesOfPositive();
  const BindingInfo& info = engine->outputs()[0];
  EXPECT_THAT(info.dims, ElementsAre("0..n", "1"));
  EXPECT_THAT(info.min, ElementsAre(0, 1));
  EXPECT_THAT(info.max, ElementsAre(100, 1));
}

TEST(CountedOutputs, HaveNoShapeBeforeTheyRan) {
  const HostTensor input({3}, {1, -1, 2});
  EXPECT_THAT(errorOf([&] { (void)placesOfPositive()->outputShapes(std::vector{input.view()}); }),
              HasSubstr("how large output 'places' is depends on data"));
}

TEST(CountedOutputs, CanBeProfiled) {
  const HostTensor input({3}, {1, -1, 2});
  const testing::InputsOnDevice given(testing::testDevice(), std::vector{input.view()});
  EXPECT_EQ(placesOfPositive()->profile(given.views(), 2, 1).size(), 3U);
}

class NoMemory : public KeptOutputs {
 public:
  void* allocate(int index, DType dtype, std::span<const int64_t> dims) override {
    return index == 0 ? nullptr : KeptOutputs::allocate(index, dtype, dims);
  }
};

TEST(CountedOutputs, WithoutMemoryAreAnErrorThatNamesThem) {
  NoMemory outputs;
  const HostTensor input({3}, {1, -1, 2});
  const testing::InputsOnDevice given(testing::testDevice(), std::vector{input.view()});
  EXPECT_THAT(errorOf([&] { placesOfPositive()->enqueue(given.views(), outputs, 1); }),
              HasSubstr("output 'places': no memory for 16 bytes [2, 1]"));
}

// Says that there are as many rows as its input's first element.
class Liar final : public plugin::Plugin {
 public:
  int outputCount() const override {
    return 2;
  }
  bool supports(std::span<const DType>) const override {
    return true;
  }
  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    return {inputs[0], {DType::kInt64, Dims()}};
  }
  void enqueue(std::span<const plugin::InputView> inputs, std::span<const plugin::OutputView> outputs, void*,
               int) const override {
    *static_cast<int64_t*>(outputs[1].data) = static_cast<int64_t>(*static_cast<const float*>(inputs[0].data));
  }
};

class LiarCreator final : public plugin::PluginCreator {
 public:
  std::string type() const override {
    return "Liar";
  }
  std::unique_ptr<plugin::Plugin> create(const Attributes&) const override {
    return std::make_unique<Liar>();
  }
};

TEST(CountedOutputs, ACountBeyondTheRoomIsAnError) {
  plugin::PluginRegistry::global().add(std::make_shared<LiarCreator>());
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({3}));
  const int32_t rows = make.step("plugin_v2", {x}, make.dims({3}),
                                 {{"namespace", std::string()},
                                  {"type", std::string("Liar")},
                                  {"version", std::string("1")},
                                  {"counted", Ints{0}}});
  make.lastStep().outputs.push_back(make.tensor("count", {}, DType::kInt64));
  make.output("rows", rows);
  const auto engine = loadMade(make);
  for (const float count : {4.0F, -1.0F, 1e18F}) {
    EXPECT_THAT(errorOf([&] {
                  callEngine(*engine, {HostTensor({3}, {count, 0, 0})});
                }),
                HasSubstr("rows where there is room for 3"));
  }
  EXPECT_EQ(callEngine(*engine, {HostTensor({3}, {3, 0, 0})})[0].dims, Ints{3});
  plugin::PluginRegistry::global().remove("", "Liar", "1");
}

}  // namespace
}  // namespace torchtrt::engine
