#include "torchtrt/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torchtrt/error.h"

namespace torchtrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Sizes = std::vector<int64_t>;

template <typename Body>
void expectInvalid(Body&& body, const std::string& part) {
  try {
    body();
    ADD_FAILURE() << "expected an error that says " << part;
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidInputSpec);
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(InputValue, OfOneShapeIsStatic) {
  const Sizes sizes = {1, 3};
  for (const Input& input : {Input(sizes), Input(c10::ArrayRef<int64_t>(sizes))}) {
    EXPECT_THAT(input.shape, ElementsAre(1, 3));
    EXPECT_EQ(input.min_shape, sizes);
    EXPECT_EQ(input.max_shape, sizes);
    EXPECT_FALSE(input.isDynamic());
    EXPECT_EQ(input.dtype, DataType::kUnknown);
    EXPECT_EQ(input.format, TensorFormat::kContiguous);
    EXPECT_THAT(input.tensor_domain, ElementsAre(0, 2));
  }
}

TEST(InputValue, OfARangeHasMinusOneWhereItIsDynamic) {
  const Input input(Sizes{1, 3}, Sizes{2, 3}, Sizes{4, 3}, DataType::kHalf, {-1, 1}, TensorFormat::kChannelsLast);
  EXPECT_TRUE(input.isDynamic());
  EXPECT_THAT(input.shape, ElementsAre(-1, 3));
  EXPECT_THAT(input.opt_shape, ElementsAre(2, 3));
  EXPECT_EQ(input.dtype, DataType::kHalf);
  EXPECT_THAT(input.tensor_domain, ElementsAre(-1, 1));
}

TEST(InputValue, OfProfilesIsTheSmallestRangeAroundThem) {
  const Input input = Input::ofProfiles({{{4, 8}, {6, 8}, {8, 16}}, {{1, 8}, {1, 8}, {1, 64}}}, DataType::kHalf);
  EXPECT_EQ(input.min_shape, (std::vector<int64_t>{1, 8}));
  EXPECT_EQ(input.opt_shape, (std::vector<int64_t>{6, 8}));
  EXPECT_EQ(input.max_shape, (std::vector<int64_t>{8, 64}));
  EXPECT_EQ(input.dtype, DataType::kHalf);
  EXPECT_THROW(Input::ofProfiles({}), CompileError);
  EXPECT_THROW(Input::ofProfiles({{{4}, {6}, {8}}, {{1, 8}, {1, 8}, {1, 64}}}), CompileError);
  EXPECT_THROW(Input::ofProfiles({{{4}, {6}, {8}}, {{3}, {2}, {8}}}), CompileError);
}

TEST(InputValue, AnOpenSizeStartsAtZero) {
  const Input input(Sizes{-1, 3});
  EXPECT_THAT(input.min_shape, ElementsAre(0, 3));
  EXPECT_THAT(input.shape, ElementsAre(-1, 3));
}

TEST(InputValue, OfATensorHasItsShapeDtypeAndLayout) {
  const at::Tensor tensor = at::zeros({1, 3, 4, 4}, at::kHalf).contiguous(at::MemoryFormat::ChannelsLast);
  const Input input(tensor);
  EXPECT_THAT(input.shape, ElementsAre(1, 3, 4, 4));
  EXPECT_EQ(input.dtype, DataType::kHalf);
  EXPECT_EQ(input.format, TensorFormat::kChannelsLast);
  EXPECT_TRUE(input.sample.is_same(tensor));
}

TEST(InputValue, RejectsWhatContradictsItself) {
  expectInvalid([] { Input(Sizes{1}, Sizes{1, 2}, Sizes{1}); }, "differ in rank");
  expectInvalid([] { Input(Sizes{2}, Sizes{1}, Sizes{3}); }, "2, 1, 3");
  expectInvalid([] { Input(Sizes{-3}); }, "-3");
  expectInvalid([] { Input(Sizes{1}, Input::Domain{2, 1}); }, "low < high");
  expectInvalid([] { Input(at::Tensor()); }, "undefined tensor");
  expectInvalid([] { Input(Sizes{1}, DataType(at::kComplexFloat)); }, "ComplexFloat");
}

TEST(DataTypeValue, ComesFromTorchs) {
  EXPECT_EQ(DataType(torch::kHalf), DataType::kHalf);
  EXPECT_EQ(DataType(at::kLong), DataType::kLong);
  EXPECT_EQ(static_cast<int>(DataType::kUnknown), 7);
}

TEST(GraphInputsValue, FlattensASignatureInOrder) {
  const auto input = [](int64_t size) { return c10::IValue(c10::make_intrusive<Input>(Sizes{size})); };
  c10::impl::GenericList list(c10::AnyType::get());
  list.push_back(input(2));
  list.push_back(input(3));
  c10::impl::GenericDict dictionary(c10::StringType::get(), c10::AnyType::get());
  dictionary.insert("z", input(5));
  dictionary.insert("a", input(6));
  const GraphInputs inputs(
      c10::ivalue::Tuple::create({input(1), list, at::zeros({4}), dictionary, "text", 3, 0.5, c10::IValue()}));
  ASSERT_EQ(inputs.inputs.size(), 6U);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_THAT(inputs.inputs[i].shape, ElementsAre(static_cast<int64_t>(i) + 1));
  }
  expectInvalid([] { GraphInputs(c10::IValue(c10::Device("cpu"))); }, "Device");
}

TEST(CompileSpecValue, HasTheReferencesDefaults) {
  const ts::CompileSpec spec(std::vector<Sizes>{{1, 3}});
  EXPECT_THAT(spec.enabled_precisions, ElementsAre(DataType::kFloat));
  EXPECT_EQ(spec.min_block_size, 3U);
  EXPECT_FALSE(spec.min_block_size.isGiven());
  EXPECT_EQ(spec.num_avg_timing_iters, 1U);
  EXPECT_EQ(spec.dla_sram_size, 1048576U);
  EXPECT_EQ(spec.device.device_type, Device::DeviceType::kAUTO);
  EXPECT_THAT(spec.graph_inputs.inputs.at(0).shape, ElementsAre(1, 3));
}

// Document 000 prints it so: the vector's element type is deduced.
TEST(CompileSpecValue, TakesAVectorOfSizes) {
  const at::Tensor in = at::zeros({1, 3, 224, 224});
  auto input_sizes = std::vector{{in.sizes()}};
  const ts::CompileSpec spec(input_sizes);
  EXPECT_THAT(spec.graph_inputs.inputs.at(0).shape, ElementsAre(1, 3, 224, 224));
}

}  // namespace
}  // namespace torchtrt
