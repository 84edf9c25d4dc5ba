#include "torchtrt/matchers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace torchtrt::rewriting {
namespace {

using network::LayerType;
using network::Network;

std::unique_ptr<Network> residualBlock() {
  return network::parse(R"(network "n" () {
  input %x : float32[1, 2, 4, 4]
  %w = constant() {} : float32[2, 2, 1, 1] data=[1, 0, 0, 1]
  %half = constant() {} : float32[1] data=[0.5]
  %conv = convolution(%x, %w) {}
  %scaled = elementwise(%conv, %half) {op="prod"}
  %sum = elementwise(%x, %scaled) {op="sum"}
  %relu = activation(%sum) {op="relu"}
  output "y" %relu
  output "conv" %conv
})");
}

TEST(Matchers, CaptureLayersAndTensors) {
  const auto net = residualBlock();
  const network::Layer* conv = nullptr;
  network::Tensor* x = nullptr;
  network::Tensor* factor = nullptr;
  const auto scaled = m::elementwise("prod").input(0, m::convolution().capture(&conv)).input(1, m::constant(&factor));
  const auto pattern = m::activation("relu").input(0, m::elementwise("sum").eitherWay(scaled, m::tensor(&x)));
  EXPECT_TRUE(m::match(*net->findLayer("relu"), pattern));
  EXPECT_EQ(conv, net->findLayer("conv"));
  EXPECT_EQ(x, net->getInput(0));
  EXPECT_EQ(factor, net->findTensor("half"));
}

TEST(Matchers, ExplainAFailureWithTheWayToIt) {
  const auto net = residualBlock();
  const auto pattern = m::activation("relu").input(
      0, m::elementwise("sum").input(1, m::elementwise("prod").input(0, m::convolution().oneUse())));
  std::string why;
  EXPECT_FALSE(m::match(*net->findLayer("relu"), pattern, &why));
  EXPECT_EQ(why,
            "activation 'relu' input 0: elementwise 'sum' input 1: elementwise 'scaled' input 0: convolution 'conv' "
            "has 2 uses, "
            "expected 1");
  EXPECT_FALSE(m::match(*net->findLayer("sum"), m::elementwise("prod"), &why));
  EXPECT_EQ(why, "elementwise 'sum' has op 'sum', expected 'prod'");
  EXPECT_FALSE(m::match(*net->findLayer("sum"), m::convolution(), &why));
  EXPECT_EQ(why, "elementwise 'sum' is no convolution");
  EXPECT_TRUE(m::match(*net->findLayer("conv"), m::convolution().input(2, m::absent()), &why));
  EXPECT_EQ(why, "");
}

TEST(Matchers, TellScalarsAndRepeatedOperandsApart) {
  const auto net = network::parse(R"(network "n" () {
  input %x : float32[2]
  %third = constant() {} : float32[2] data=[0.33333334, 0.33333334]
  %mixed = constant() {} : float32[2] data=[0, 1]
  %a = elementwise(%x, %third) {op="prod"}
  %b = elementwise(%x, %mixed) {op="prod"}
  %c = elementwise(%x, %x) {op="prod"}
  output "a" %a
  output "b" %b
  output "c" %c
})");
  network::Tensor* x = nullptr;
  const auto by_third = m::elementwise("prod").eitherWay(m::tensor(&x), m::scalar(1.0 / 3));
  EXPECT_TRUE(m::match(*net->findLayer("a"), by_third));
  EXPECT_FALSE(m::match(*net->findLayer("b"), by_third));
  const auto square = m::elementwise("prod").input(0, m::tensor(&x)).input(1, m::same(&x));
  EXPECT_FALSE(m::match(*net->findLayer("a"), square));
  EXPECT_TRUE(m::match(*net->findLayer("c"), square));
}

TEST(Matchers, UsersOfALayerAreNamedOnce) {
  const auto net = network::parse(R"(network "n" () {
  input %x : float32[4]
  %values, %indices = topk(%x) {k=[2], axis=0}
  %square = elementwise(%values, %values) {op="prod"}
  %picked = gather(%square, %indices) {axis=0}
  output "y" %picked
})");
  EXPECT_EQ(m::usersOf(*net->findTensor("values")->producer()),
            (std::vector<network::Layer*>{net->findLayer("square"), net->findLayer("picked")}));
  EXPECT_TRUE(m::usersOf(*net->findLayer("picked")).empty()) << "a network output is no layer";
}

TEST(UniformValue, ReadsEveryDtypeAndKeepsTheSignOfZero) {
  const auto value = [](DType dtype, uint64_t bits) {
    Network net;
    const auto* tensor = net.addConstant(network::Weights::copyOf(dtype, {1}, &bits))->getOutput(0);
    return m::uniformValue(*tensor);
  };
  EXPECT_EQ(value(DType::kFloat16, 0x3c00), 1.0);
  EXPECT_EQ(value(DType::kFloat16, 0xc500), -5.0);
  EXPECT_EQ(value(DType::kFloat16, 0x0001), 0x1p-24);
  EXPECT_EQ(value(DType::kFloat16, 0x7c00), std::nullopt);
  EXPECT_EQ(value(DType::kBFloat16, 0x3f80), 1.0);
  EXPECT_EQ(value(DType::kBFloat16, 0xc0a0), -5.0);
  EXPECT_EQ(value(DType::kInt8, 0xff), -1.0);
  EXPECT_EQ(value(DType::kUInt8, 0xff), 255.0);
  EXPECT_EQ(value(DType::kInt64, 7), 7.0);
  EXPECT_EQ(value(DType::kBool, 1), 1.0);
  EXPECT_TRUE(std::signbit(*value(DType::kFloat32, 0x80000000u)));
}

}  // namespace
}  // namespace torchtrt::rewriting
