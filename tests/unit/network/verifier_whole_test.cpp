// The verifier's rules of the whole network: a network that breaks just one.
#include <gtest/gtest.h>

#include <string>

#include "network/broken_rule.h"
#include "torchtrt/network.h"

namespace torchtrt::network {

// Reaches what the public interface keeps whole.
struct NetworkCorruption {
  static void setId(Layer& layer, int64_t id) {
    layer.id_ = id;
  }
  static void setName(Layer& layer, const std::string& name) {
    layer.name_ = name;
  }
  static void setName(Tensor& tensor, const std::string& name) {
    tensor.name_ = name;
  }
  static void setOperand(Layer& layer, int i, Tensor* tensor) {
    layer.inputs_[static_cast<size_t>(i)] = tensor;
  }
  static void addUse(Tensor& tensor, Layer& layer, int i) {
    tensor.uses_.push_back({&layer, i});
  }
  static void dropUses(Tensor& tensor) {
    tensor.uses_.clear();
  }
  static void setDims(Tensor& tensor, const Dims& dims) {
    tensor.dims_ = dims;
  }
};

namespace {

class WholeNetwork : public testing::Test {
 protected:
  WholeNetwork() {
    network_.addSymbol({"n", 1, 2, 4});
    input_ = network_.addInput("x", DType::kFloat32, {Dim::symbol("n"), 4});
    first_ = network_.addActivation(*input_, "relu");
    second_ = network_.addActivation(*first_->getOutput(0), "tanh");
    network_.markOutput(*second_->getOutput(0));
    verify(network_);
  }
  void expectBrokenRule(const std::string& rule) {
    expectBroken(rule, [this] { verify(network_); });
  }

  Network network_;
  Tensor* input_;
  Layer* first_;
  Layer* second_;
};

TEST_F(WholeNetwork, LayersStandBehindTheirOperands) {
  Layer* last = network_.addActivation(*input_, "sigmoid");
  second_->setInput(0, last->getOutput(0));
  expectBrokenRule("order");
  network_.sortTopologically();
  EXPECT_NO_THROW(verify(network_));
}

TEST_F(WholeNetwork, UsesAreListedOnce) {
  NetworkCorruption::dropUses(*input_);
  expectBrokenRule("uses");
}

TEST_F(WholeNetwork, UsesAreTrue) {
  NetworkCorruption::addUse(*input_, *second_, 0);
  expectBrokenRule("uses");
}

TEST_F(WholeNetwork, OperandsAreItsOwn) {
  Network other;
  NetworkCorruption::setOperand(*first_, 0, other.addInput("x", DType::kFloat32, {1}));
  expectBrokenRule("membership");
}

TEST_F(WholeNetwork, IdsAreUnique) {
  NetworkCorruption::setId(*second_, first_->id());
  expectBrokenRule("ids");
}

TEST_F(WholeNetwork, LayerNamesAreUnique) {
  NetworkCorruption::setName(*second_, first_->getName());
  expectBrokenRule("names");
}

TEST_F(WholeNetwork, TensorNamesAreUnique) {
  NetworkCorruption::setName(*second_->getOutput(0), "x");
  expectBrokenRule("names");
}

TEST_F(WholeNetwork, TypesFollowFromOperands) {
  NetworkCorruption::setDims(*first_->getOutput(0), {1, 4});
  expectBrokenRule("types");
}

TEST_F(WholeNetwork, SymbolsAreDeclared) {
  network_.addInput("y", DType::kFloat32, {Dim::symbol("m")});
  expectBrokenRule("symbols");
}

TEST_F(WholeNetwork, SymbolsOfAttributesAreDeclared) {
  network_.addSlice(*input_, {0, 0}, {1, Dim::symbol("m")}, {1, 1});
  expectBrokenRule("symbols");
}

TEST_F(WholeNetwork, InputsAreNotNegative) {
  network_.addInput("y", DType::kFloat32, {Dim::symbol("n") - Dim(2)});
  expectBrokenRule("inputs");
}

TEST_F(WholeNetwork, MemoryOrdersArePermutations) {
  first_->getOutput(0)->setMemoryOrder({1, 0});
  EXPECT_NO_THROW(verify(network_));
  first_->getOutput(0)->setMemoryOrder({1, 1});
  expectBrokenRule("memory-order");
  first_->getOutput(0)->setMemoryOrder({0});
  expectBrokenRule("memory-order");
}

TEST_F(WholeNetwork, HasOutputs) {
  network_.unmarkOutput(0);
  expectBrokenRule("outputs");
}

}  // namespace
}  // namespace torchtrt::network
