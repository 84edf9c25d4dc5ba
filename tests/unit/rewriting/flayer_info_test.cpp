// Records of functions follow every edit of the network.
#include "torchtrt/flayer_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "torchtrt/net_guard.h"
#include "torchtrt/rewriting.h"

namespace torchtrt::rewriting {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// scaled(x, factor) = x * factor, recorded; its two layers are one record's.
Tensor* scaled(Network& network, Tensor& x, double factor) {
  SignatureRecorder recorder(network, "scaled", {{"x", &x}, {"factor", AttributeValue(factor)}, {"bias", FValue()}});
  const auto value = static_cast<float>(factor);
  Tensor* constant = network.addConstant(Weights::copyOf(DType::kFloat32, {1}, &value))->getOutput(0);
  Tensor* output = network.addElementWise(x, *constant, "prod")->getOutput(0);
  recorder.finish({output});
  return output;
}

class FLayerInfoTest : public ::testing::Test {
 protected:
  FLayerInfoTest() {
    x_ = network_.addInput("x", DType::kFloat32, {2});
    before_ = network_.addUnary(*x_, "neg")->getOutput(0);
    output_ = scaled(network_, *before_, 3);
    network_.markOutput(*network_.addUnary(*output_, "exp")->getOutput(0), "y");
    info_ = FLayerInfoMemo::of(network_).get(*output_->producer());
  }
  void TearDown() override {
    network::verify(network_);
  }

  Network network_;
  Tensor *x_, *before_, *output_;
  std::shared_ptr<FLayerInfo> info_;
};

TEST_F(FLayerInfoTest, IsFoundByEveryLayerOfTheCall) {
  ASSERT_NE(info_, nullptr);
  EXPECT_EQ(info_->function(), "scaled");
  EXPECT_EQ(info_->getInput("x"), before_);
  EXPECT_EQ(info_->getInput("bias"), nullptr);
  EXPECT_EQ(std::get<AttributeValue>(*info_->cloneInputs().find("factor")), AttributeValue(3.0));
  EXPECT_THAT(info_->outputs(), ElementsAre(output_));
  EXPECT_EQ(FLayerInfoMemo::of(network_).get(output_->producer()->getInput(1)->producer()->getName()), info_);
  EXPECT_EQ(FLayerInfoMemo::of(network_).get(*before_->producer()), nullptr);
  EXPECT_EQ(FLayerInfoMemo::of(network_).get("no such layer"), nullptr);
  EXPECT_EQ(FLayerInfoMemo::of(network_).size(), 1u);
}

TEST_F(FLayerInfoTest, NamesWhatItHasNot) {
  try {
    info_->getInput("scale");
    FAIL() << "an argument that is none was found";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the record of scaled has no argument 'scale', it has x, factor, bias"));
  }
  EXPECT_THROW(info_->getInput("factor"), CompileError);
}

TEST_F(FLayerInfoTest, FollowsReplacedUses) {
  Rewriter(network_).replaceAllUses(*before_, *x_);
  EXPECT_EQ(info_->getInput("x"), x_);
}

TEST_F(FLayerInfoTest, FollowsAnOperand) {
  output_->producer()->setInput(0, x_);
  EXPECT_EQ(info_->getInput("x"), x_);
}

TEST_F(FLayerInfoTest, FollowsNames) {
  output_->producer()->setName("renamed");
  EXPECT_EQ(FLayerInfoMemo::of(network_).get("renamed"), info_);
}

TEST_F(FLayerInfoTest, ReplacesInputsOfRecordAndLayers) {
  info_->replaceInputWith(*before_, *x_);
  EXPECT_EQ(info_->getInput("x"), x_);
  EXPECT_EQ(output_->producer()->getInput(0), x_);
}

TEST_F(FLayerInfoTest, ReplacesUsesOfOutputsByAnotherType) {
  Tensor* wide = network_.addInput("wide", DType::kFloat64, {5});
  info_->replaceOutputsUsesWith({wide});
  EXPECT_TRUE(output_->uses().empty());
  EXPECT_EQ(network_.getOutput(0)->getType(), DType::kFloat64);
  EXPECT_THROW(info_->replaceOutputsUsesWith({wide, wide}), CompileError);
}

TEST_F(FLayerInfoTest, ReplacesUsesByWhatStandsBehindTheReaders) {
  Tensor* later = network_.addUnary(*x_, "abs")->getOutput(0);
  info_->replaceOutputUsesWith(*output_, *later);
  EXPECT_EQ(network_.getOutput(0)->producer()->getInput(0), later);
}

TEST_F(FLayerInfoTest, ForgetsLayersAndTensorsThatGo) {
  Rewriter rewriter(network_);
  rewriter.replaceAllUses(*output_, *x_);
  rewriter.removeIfDead(*output_->producer());
  EXPECT_EQ(FLayerInfoMemo::of(network_).size(), 0u);
  EXPECT_EQ(info_->getInput("x"), nullptr) << "its producer went with the layer";
  EXPECT_THAT(info_->outputs(), ElementsAre(nullptr));
  EXPECT_TRUE(info_->layerIds().empty());
}

TEST_F(FLayerInfoTest, InnerCallsHaveRecordsOfTheirOwn) {
  SignatureRecorder recorder(network_, "outer", {{"x", x_}});
  Tensor* inner = scaled(network_, *x_, 2);
  Layer* own = network_.addUnary(*inner, "abs");
  recorder.finish({own->getOutput(0)});
  EXPECT_EQ(FLayerInfoMemo::of(network_).get(*inner->producer())->function(), "scaled");
  EXPECT_EQ(FLayerInfoMemo::of(network_).get(*own)->function(), "outer");
}

TEST_F(FLayerInfoTest, CallsThatFailLeaveNoRecord) {
  {
    const SignatureRecorder recorder(network_, "fails", {});
    network_.addUnary(*x_, "sin");
  }
  EXPECT_EQ(FLayerInfoMemo::of(network_).size(), 1u);
}

TEST_F(FLayerInfoTest, CopiesOfTheNetworkHaveCopiesOfTheRecords) {
  const auto copy = network_.clone();
  const auto twin = FLayerInfoMemo::of(*copy).get(output_->producer()->getName());
  ASSERT_NE(twin, nullptr);
  EXPECT_EQ(twin->getInput("x"), copy->findTensor(before_->getName()));
  EXPECT_EQ(twin->outputs()[0], copy->findTensor(output_->getName()));
  Rewriter(*copy).replaceAllUses(*copy->findTensor(before_->getName()), *copy->getInput(0));
  EXPECT_EQ(info_->getInput("x"), before_) << "the copy's edits are the copy's";
}

TEST(FLayerInfoLifetime, OutlivesItsNetwork) {
  std::shared_ptr<FLayerInfo> info;
  {
    Network network;
    Tensor* output = scaled(network, *network.addInput("x", DType::kFloat32, {2}), 2);
    info = FLayerInfoMemo::of(network).get(*output->producer());
  }
  EXPECT_EQ(info->getInput("x"), nullptr);
  Network other;
  Tensor* x = other.addInput("x", DType::kFloat32, {2});
  EXPECT_THROW(info->replaceInputWith(*x, *x), CompileError);
}

TEST(FLayerInfoMemoTest, InstanceIsThatOfTheGuardedNetwork) {
  EXPECT_THROW(FLayerInfoMemo::instance(), CompileError);
  Network network, other;
  const NetGuard guard(network);
  EXPECT_EQ(&FLayerInfoMemo::instance(), &FLayerInfoMemo::of(network));
  {
    const NetGuard inner(other);
    EXPECT_EQ(&FLayerInfoMemo::instance(), &FLayerInfoMemo::of(other));
  }
  EXPECT_EQ(NetGuard::current(), &network);
}

TEST(FLayerInfoMemoTest, ThreadsReadWhileAnotherRecords) {
  Network network;
  Tensor* x = network.addInput("x", DType::kFloat32, {2});
  const Layer& first = *scaled(network, *x, 1)->producer();
  FLayerInfoMemo& memo = FLayerInfoMemo::of(network);
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        ASSERT_EQ(memo.get(first)->getInput("x"), x);
      }
    });
  }
  for (int i = 0; i < 500; ++i) {
    scaled(network, *x, i);
  }
  done = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_EQ(memo.size(), 501u);
}

}  // namespace
}  // namespace torchtrt::rewriting
