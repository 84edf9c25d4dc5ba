// The PLUGIN_V2 layer with an operator that adds a field of its own to its input.
#include "torchtrt/plugin.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

class Shift final : public plugin::Plugin {
 public:
  explicit Shift(double amount) : amount_(amount) {}
  bool supports(std::span<const DType> inputs) const override {
    return inputs.size() == 1 && inputs[0] == DType::kFloat32;
  }
  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    return {inputs[0]};
  }
  size_t scratchBytes(std::span<const plugin::InputView> inputs) const override {
    return inputs[0].data == nullptr ? sizeof(float) : 0;
  }
  void enqueue(std::span<const plugin::InputView> inputs, std::span<const plugin::OutputView> outputs, void* scratch,
               int) const override {
    auto* amount = static_cast<float*>(scratch);
    *amount = static_cast<float>(amount_);
    const auto* in = static_cast<const float*>(inputs[0].data);
    auto* out = static_cast<float*>(outputs[0].data);
    for (int64_t row = 0; row < inputs[0].dims[0]; ++row) {
      for (int64_t column = 0; column < inputs[0].dims[1]; ++column) {
        const float value = in[row * inputs[0].strides[0] + column * inputs[0].strides[1]];
        if (value == 13) {
          throw std::runtime_error("met thirteen");
        }
        out[row * outputs[0].dims[1] + column] = value + *amount;
      }
    }
  }

 private:
  double amount_;
};

class ShiftCreator final : public plugin::PluginCreator {
 public:
  std::string pluginNamespace() const override {
    return "kernel_test";
  }
  std::string type() const override {
    return "shift";
  }
  std::unique_ptr<plugin::Plugin> create(const Attributes& fields) const override {
    return std::make_unique<Shift>(fields.getDouble("amount"));
  }
};

class PluginLayer : public ::testing::Test {
 protected:
  void SetUp() override {
    plugin::PluginRegistry::global().add(std::make_shared<ShiftCreator>());
  }
  void TearDown() override {
    plugin::PluginRegistry::global().remove("kernel_test", "shift", "1");
  }
  static Case shift(DType dtype, const Values& in) {
    return {"plugin_v2",
            makeAttributes({{"namespace", "kernel_test"}, {"type", "shift"}, {"version", "1"}, {"amount", 0.5}}),
            {makeTensor(dtype, {2, 2}, in)},
            {{dtype, {2, 2}}}};
  }
};

TEST_F(PluginLayer, RunsInAnyLayout) {
  expectOutputs(shift(DType::kFloat32, {1, 2, 3, 4}), {{1.5, 2.5, 3.5, 4.5}});
}

TEST_F(PluginLayer, NamesThePluginThatFailed) {
  try {
    run(shift(DType::kFloat32, {1, 2, 13, 4}));
    FAIL() << "the exception was lost";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPlugin);
    EXPECT_EQ(error.message(), "plugin kernel_test::shift failed: met thirteen");
  }
}

TEST_F(PluginLayer, RejectsTypesThePluginDoesNotTake) {
  EXPECT_THROW(run(shift(DType::kInt32, {1, 2, 3, 4})), EngineError);
}

TEST_F(PluginLayer, RejectsPluginsThatAreNotRegistered) {
  Case layer = shift(DType::kFloat32, {1, 2, 3, 4});
  layer.attributes.set("type", "twist");
  EXPECT_THROW(run(layer), EngineError);
}

}  // namespace
}  // namespace torchtrt::kernels::testing
