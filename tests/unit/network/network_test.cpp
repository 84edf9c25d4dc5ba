// Edits: names, use lists, order, attributes, outputs and copies stay true.
#include "torchtrt/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchtrt::network {
namespace {

using Uses = std::vector<Tensor::Use>;

class NetworkEdits : public testing::Test {
 protected:
  NetworkEdits() {
    x_ = network_.addInput("x", DType::kFloat32, {2, 3, 8, 8});
    relu_ = network_.addActivation(*x_, "relu");
    tanh_ = network_.addActivation(*relu_->getOutput(0), "tanh");
    network_.markOutput(*tanh_->getOutput(0), "y");
  }

  Network network_;
  Tensor* x_;
  Layer* relu_;
  Layer* tanh_;
};

TEST_F(NetworkEdits, LayersHaveIdsFromACounterThatAreNeverReused) {
  EXPECT_EQ(relu_->id(), 0);
  EXPECT_EQ(tanh_->id(), 1);
  Layer* gone = network_.addIdentity(*x_);
  network_.removeLayer(*gone);
  EXPECT_EQ(network_.addIdentity(*x_)->id(), 3);
}

TEST_F(NetworkEdits, NamesAreMadeUniqueAndFreedAgain) {
  EXPECT_EQ(relu_->getName(), "activation_0");
  EXPECT_EQ(relu_->getOutput(0)->getName(), "activation_0");
  relu_->setName("act");
  tanh_->setName("act");
  EXPECT_EQ(relu_->getName(), "act");
  EXPECT_EQ(tanh_->getName(), "act_1");
  EXPECT_EQ(tanh_->getOutput(0)->getName(), "act_1") << "an output without a name of its own follows its layer";
  EXPECT_EQ(network_.findLayer("act"), relu_);
  EXPECT_EQ(network_.findLayer("activation_0"), nullptr);
  EXPECT_EQ(network_.findTensor("act_1"), tanh_->getOutput(0));
  tanh_->getOutput(0)->setName("x");
  EXPECT_EQ(tanh_->getOutput(0)->getName(), "x_1");
  tanh_->setName("other");
  EXPECT_EQ(tanh_->getOutput(0)->getName(), "x_1") << "a name of its own stays";
  relu_->setName("again");
  EXPECT_EQ(network_.addInput("act", DType::kBool, {})->getName(), "act");
}

TEST_F(NetworkEdits, LayersAndTensorsAreFoundByIdUntilTheyGo) {
  Tensor* other = network_.addInput("other", DType::kFloat32, {1});
  Layer* gone = network_.addIdentity(*other);
  const int64_t layer_id = gone->id(), tensor_id = gone->getOutput(0)->id(), input_id = other->id();
  EXPECT_EQ(network_.layerById(layer_id), gone);
  EXPECT_EQ(network_.tensorById(tensor_id), gone->getOutput(0));
  EXPECT_EQ(network_.clone()->layerById(layer_id)->getName(), gone->getName());
  EXPECT_EQ(network_.clone()->tensorById(input_id)->getName(), "other");
  network_.removeLayer(*gone);
  network_.removeInput(*other);
  EXPECT_EQ(network_.layerById(layer_id), nullptr);
  EXPECT_EQ(network_.tensorById(tensor_id), nullptr);
  EXPECT_EQ(network_.tensorById(input_id), nullptr);
  EXPECT_NE(network_.addInput("other", DType::kFloat32, {1})->id(), input_id) << "ids are never reused";
}

TEST_F(NetworkEdits, IndicesFollowInsertionsAndRemovals) {
  EXPECT_EQ(network_.getLayer(1), tanh_);
  Layer* between = network_.addLayer(LayerType::kIDENTITY, {relu_->getOutput(0)}, {}, tanh_);
  EXPECT_EQ(network_.getLayer(1), between);
  EXPECT_EQ(network_.getLayer(2), tanh_);
  network_.removeLayer(*between);
  EXPECT_EQ(network_.getLayer(1), tanh_);
}

TEST_F(NetworkEdits, InputsMove) {
  Tensor* second = network_.addInput("second", DType::kFloat32, {1});
  network_.moveInput(*second, 0);
  EXPECT_EQ(network_.getInput(0), second);
  EXPECT_EQ(network_.getInput(1), x_);
  EXPECT_EQ(x_->outputIndex(), 1);
  EXPECT_THROW(network_.moveInput(*second, 2), InternalError);
}

TEST_F(NetworkEdits, ReplacingByAnotherTypeIsInferredBehind) {
  Tensor* other = network_.addInput("other", DType::kFloat32, {5});
  EXPECT_EQ(tanh_->getOutput(0)->getDimensions(), x_->getDimensions());
  network_.replaceAllUses(*relu_->getOutput(0), *other);
  EXPECT_EQ(tanh_->getOutput(0)->getDimensions(), (Dims{5}));
}

TEST_F(NetworkEdits, UsesFollowOperands) {
  EXPECT_EQ(x_->uses(), (Uses{{relu_, 0}}));
  Layer* sum = network_.addElementWise(*x_, *x_, "sum");
  EXPECT_EQ(x_->uses(), (Uses{{relu_, 0}, {sum, 0}, {sum, 1}}));
  sum->setInput(0, relu_->getOutput(0));
  EXPECT_EQ(x_->uses(), (Uses{{relu_, 0}, {sum, 1}}));
  EXPECT_EQ(relu_->getOutput(0)->uses(), (Uses{{tanh_, 0}, {sum, 0}}));
  sum->setInput(1, nullptr);
  EXPECT_EQ(sum->getInput(1), nullptr);
  EXPECT_EQ(sum->getInput(5), nullptr);
  sum->setInput(2, x_);
  EXPECT_EQ(sum->getNbInputs(), 3);
  EXPECT_THROW(sum->setInput(4, x_), InternalError);
  network_.removeLayer(*sum);
  EXPECT_EQ(x_->uses(), (Uses{{relu_, 0}}));
}

TEST_F(NetworkEdits, OperandsOfOtherNetworksAreRefused) {
  Network other;
  Tensor* foreign = other.addInput("x", DType::kFloat32, {1});
  EXPECT_THROW(relu_->setInput(0, foreign), InternalError);
  EXPECT_THROW(network_.addIdentity(*foreign), InternalError);
  EXPECT_THROW(network_.markOutput(*foreign), InternalError);
  EXPECT_THROW(network_.removeLayer(*other.addIdentity(*foreign)), InternalError);
  EXPECT_EQ(network_.getNbLayers(), 2) << "a refused layer is not left behind";
}

TEST_F(NetworkEdits, LayersAreInsertedInFrontOfAnother) {
  Layer* neg = network_.addLayer(LayerType::kIDENTITY, {relu_->getOutput(0)}, {}, tanh_);
  EXPECT_EQ(network_.layers(), (std::vector<Layer*>{relu_, neg, tanh_}));
  EXPECT_EQ(network_.getLayer(1), neg);
}

TEST_F(NetworkEdits, SortingIsStableAndFindsCycles) {
  Layer* late = network_.addActivation(*x_, "sigmoid");
  Layer* later = network_.addActivation(*x_, "elu");
  tanh_->setInput(0, late->getOutput(0));
  network_.sortTopologically();
  EXPECT_EQ(network_.layers(), (std::vector<Layer*>{relu_, late, tanh_, later}));
  late->setInput(0, tanh_->getOutput(0));
  try {
    network_.sortTopologically();
    FAIL() << "no error";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("depends on its own output"));
  }
  EXPECT_EQ(network_.getNbLayers(), 4) << "all layers are still there";
  EXPECT_EQ(network_.getLayer(1), late);
}

TEST_F(NetworkEdits, ReplacingAllUsesTakesNetworkOutputsAlong) {
  network_.markOutput(*relu_->getOutput(0), "inner");
  Layer* copy = network_.addLayer(LayerType::kACTIVATION, {x_}, relu_->attributes(), relu_);
  network_.replaceAllUses(*relu_->getOutput(0), *copy->getOutput(0));
  EXPECT_TRUE(relu_->getOutput(0)->uses().empty());
  EXPECT_EQ(tanh_->getInput(0), copy->getOutput(0));
  EXPECT_EQ(network_.getOutput(1), copy->getOutput(0));
  EXPECT_EQ(network_.getOutputName(1), "inner");
  network_.removeLayer(*relu_);
  EXPECT_NO_THROW(verify(network_));
  network_.replaceAllUses(*copy->getOutput(0), *copy->getOutput(0));
  EXPECT_EQ(tanh_->getInput(0), copy->getOutput(0));
}

TEST_F(NetworkEdits, OutputsHaveUniqueNamesAndMayRepeatTensors) {
  network_.markOutput(*tanh_->getOutput(0), "y");
  network_.markOutput(*x_);
  EXPECT_EQ(network_.getOutputName(1), "y_1");
  EXPECT_EQ(network_.getOutputName(2), "x");
  EXPECT_TRUE(x_->isNetworkOutput());
  EXPECT_FALSE(relu_->getOutput(0)->isNetworkOutput());
  network_.replaceOutput(1, *relu_->getOutput(0));
  EXPECT_EQ(network_.getOutputName(1), "y_1");
  EXPECT_TRUE(relu_->getOutput(0)->isNetworkOutput());
  network_.unmarkOutput(0);
  EXPECT_FALSE(tanh_->getOutput(0)->isNetworkOutput());
  EXPECT_EQ(network_.getNbOutputs(), 2);
  EXPECT_THROW(network_.unmarkOutput(2), InternalError);
}

TEST_F(NetworkEdits, WhatIsInUseCannotGo) {
  EXPECT_THROW(network_.removeLayer(*relu_), InternalError);
  EXPECT_THROW(network_.removeLayer(*tanh_), InternalError) << "a network output";
  EXPECT_THROW(network_.removeInput(*x_), InternalError);
  EXPECT_THROW(network_.removeInput(*relu_->getOutput(0)), InternalError);
  Tensor* unused = network_.addInput("unused", DType::kFloat32, {1});
  Tensor* last = network_.addInput("last", DType::kFloat32, {1});
  network_.removeInput(*unused);
  EXPECT_EQ(network_.getNbInputs(), 2);
  EXPECT_EQ(network_.findTensor("unused"), nullptr);
  EXPECT_EQ(last->outputIndex(), 1);
}

TEST_F(NetworkEdits, AttributesTakeDefaultsAndDeclaredTypes) {
  Layer* pool = network_.addPoolingNd(*x_, "max", {3, 2});
  EXPECT_EQ(pool->attributes().getInts("stride"), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(pool->attributes().getInts("dilation"), (std::vector<int64_t>{1, 1}));
  EXPECT_FALSE(pool->attributes().getBool("ceil_mode"));
  pool->setPaddingNd({1, 0});
  EXPECT_EQ(pool->attributes().getInts("pre_padding"), pool->attributes().getInts("post_padding"));
  relu_->setAttribute("alpha", int64_t{2});
  EXPECT_EQ(relu_->attributes().getDouble("alpha"), 2);
  Layer* shuffle = network_.addShuffle(*x_);
  shuffle->setAttribute("reshape_dims", std::vector<int64_t>{2, -1});
  EXPECT_EQ(shuffle->getOutput(0)->getDimensions(), (Dims{2, 192}));
  shuffle->eraseAttribute("reshape_dims");
  EXPECT_EQ(shuffle->getOutput(0)->rank(), 4);
}

TEST_F(NetworkEdits, OutputsComeAndGoWithTheAttributeThatAsksForThem) {
  Layer* pool = network_.addPoolingNd(*x_, "max", {2, 2});
  EXPECT_EQ(pool->getNbOutputs(), 1);
  pool->setAttribute("return_indices", true);
  ASSERT_EQ(pool->getNbOutputs(), 2);
  EXPECT_EQ(pool->getOutput(0)->getName(), "pooling_2.0");
  EXPECT_EQ(pool->getOutput(1)->getType(), DType::kInt64);
  network_.markOutput(*pool->getOutput(1));
  EXPECT_THROW(pool->setAttribute("return_indices", false), InternalError);
  network_.unmarkOutput(1);
  pool->setAttribute("return_indices", false);
  EXPECT_EQ(pool->getNbOutputs(), 1);
  EXPECT_EQ(pool->getOutput(0)->getName(), "pooling_2");
}

TEST_F(NetworkEdits, SymbolsKeepOneRange) {
  network_.addSymbol({"n", 1, 2, 4});
  EXPECT_NO_THROW(network_.addSymbol({"n", 1, 2, 4}));
  EXPECT_EQ(network_.symbols().size(), 1u);
  EXPECT_THROW(network_.addSymbol({"n", 1, 2, 5}), CompileError);
  EXPECT_THROW(network_.addSymbol({"m", 3, 2, 4}), CompileError);
  EXPECT_THROW(network_.addSymbol({"m", -1, 2, 4}), CompileError);
  EXPECT_THROW(network_.addSymbol({"2m", 1, 2, 4}), CompileError);
  EXPECT_EQ(network_.findSymbol("m"), nullptr);
}

TEST_F(NetworkEdits, ClonesKeepNamesIdsAndOrderAndShareWeights) {
  const std::vector<float> values = {1, 2};
  Layer* constant = network_.addConstant(Weights::copyOf(DType::kFloat32, {2}, values.data()));
  network_.removeLayer(*network_.addIdentity(*x_));
  x_->setMemoryOrder({0, 2, 3, 1});
  relu_->setLocation({"m.py", 1, 2, "", "s"});
  const auto clone = network_.clone();
  EXPECT_EQ(print(*clone), print(network_));
  EXPECT_EQ(clone->findLayer(constant->getName())->weights()->data, constant->weights()->data);
  EXPECT_EQ(clone->getInput(0)->memoryOrder(), x_->memoryOrder());
  EXPECT_EQ(clone->getLayer(0)->location(), relu_->location());
  EXPECT_EQ(clone->addIdentity(*clone->getInput(0))->id(), 4) << "ids go on where the original's went";
  clone->getLayer(0)->setAttribute("op", "sigmoid");
  EXPECT_EQ(relu_->attributes().getString("op"), "relu") << "a copy is a copy";
}

TEST_F(NetworkEdits, NewLayersTakeTheCurrentLocation) {
  network_.setCurrentLocation({"model.py", 5, 1, "forward", "head"});
  EXPECT_EQ(network_.addIdentity(*x_)->location().line, 5);
  EXPECT_EQ(network_.currentLocation().scope, "head");
  EXPECT_TRUE(relu_->location().empty());
}

TEST(Adders, MakeWhatTheirNamesSay) {
  Network network;
  Tensor* x = network.addInput("x", DType::kFloat32, {1, 2, 6, 6});
  Tensor* condition = network.addInput("condition", DType::kBool, {1});
  const std::vector<float> data(36, 0.5F);
  const Weights kernel = Weights::copyOf(DType::kFloat32, {2, 2, 3, 3}, data.data());
  const Weights bias = Weights::copyOf(DType::kFloat32, {2}, data.data());
  const int64_t zero = 0;
  Tensor* index = network.addConstant(Weights::copyOf(DType::kInt64, {}, &zero))->getOutput(0);
  const auto kindAndDims = [](const Layer* layer) {
    return std::string(layer->info().enum_name) + " " + layer->getOutput(0)->getDimensions().toString();
  };
  EXPECT_EQ(kindAndDims(network.addConvolutionNd(*x, kernel, &bias)), "CONVOLUTION [1, 2, 4, 4]");
  EXPECT_EQ(kindAndDims(network.addDeconvolutionNd(*x, kernel, nullptr)), "DECONVOLUTION [1, 2, 8, 8]");
  EXPECT_EQ(kindAndDims(network.addUnary(*x, "exp")), "UNARY [1, 2, 6, 6]");
  EXPECT_EQ(kindAndDims(network.addMatrixMultiply(*x, true, *x, false)), "MATRIX_MULTIPLY [1, 2, 6, 6]");
  EXPECT_EQ(kindAndDims(network.addReduce(*x, "sum", {1}, false)), "REDUCE [1, 6, 6]");
  EXPECT_EQ(kindAndDims(network.addSlice(*x, {0, 0, 0, 0}, {1, 1, 2, 3}, {1, 1, 1, 1})), "SLICE [1, 1, 2, 3]");
  EXPECT_EQ(kindAndDims(network.addConcatenation({x, x}, 1)), "CONCATENATION [1, 4, 6, 6]");
  EXPECT_EQ(kindAndDims(network.addGather(*x, *index, 1)), "GATHER [1, 6, 6]");
  EXPECT_EQ(kindAndDims(network.addSelect(*condition, *x, *x)), "SELECT [1, 2, 6, 6]");
  EXPECT_EQ(kindAndDims(network.addTopK(*x, 2, 3)), "TOPK [1, 2, 6, 2]");
  EXPECT_EQ(kindAndDims(network.addSoftMax(*x, 1, true)), "SOFTMAX [1, 2, 6, 6]");
  EXPECT_EQ(kindAndDims(network.addCast(*x, DType::kInt8)), "CAST [1, 2, 6, 6]");
  EXPECT_EQ(kindAndDims(network.addShuffle(*x)), "SHUFFLE [1, 2, 6, 6]");
}

TEST(Weights, CountAlignAndCopy) {
  const std::vector<int16_t> values = {1, 2, 3};
  const Weights weights = Weights::copyOf(DType::kInt16, {3}, values.data());
  EXPECT_EQ(weights.count(), 3u);
  EXPECT_EQ(weights.bytes(), 6u);
  EXPECT_EQ(weights.as<int16_t>()[2], 3);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(weights.data.get()) % 64, 0u);
  void* memory = nullptr;
  EXPECT_EQ(Weights::allocate(DType::kFloat32, {0, 5}, &memory).data, nullptr);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(Weights::allocate(DType::kFloat32, {}, &memory).count(), 1u);
  EXPECT_THROW(Weights::allocate(DType::kFloat32, {-1}, &memory), InternalError);
}

}  // namespace
}  // namespace torchtrt::network
