#include "compiler/spec_values.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <sstream>

namespace torchtrt::compiler {
namespace {

// Returns the spec as a file gives it back.
ts::CompileSpec saved(const ts::CompileSpec& spec) {
  const c10::IValue value(settingsOf(spec));
  return specOfPickled(torch::jit::pickle_load(torch::jit::pickle_save(value)));
}

std::string text(const Input& input) {
  std::ostringstream out;
  out << input;
  return out.str();
}

TEST(SpecValues, KeepEveryOption) {
  Input range({1, 3}, {2, 3}, {4, 3}, DataType(DataType::kHalf), TensorFormat(TensorFormat::kChannelsLast));
  range.dim_names = {"batch", ""};
  Input sample(at::arange(6).reshape({2, 3}));
  ts::CompileSpec spec(std::vector<Input>{range, sample});
  spec.enabled_precisions = {DataType::kHalf, DataType::kFloat};
  spec.op_precision = DataType::kHalf;
  spec.precision = {{"encoder.*", DataType::kFloat}};
  spec.refit = spec.tune = spec.require_full_compilation = spec.batch_invariant = true;
  spec.check_results = spec.keep_methods = false;
  spec.device = {Device::DeviceType::kGPU, 1, 0, true};
  spec.target = "sm_90";
  spec.timing_cache = "kernels.txt";
  spec.min_block_size = 5;
  spec.workspace_size = 7;
  spec.torch_executed_ops = {"aten::relu"};
  spec.torch_executed_modules = {"layer1"};
  spec.optional_weights = {"positions"};
  spec.tuning_seconds = 3;
  spec.sample_inputs = {at::ones({2}), 3.5};

  const ts::CompileSpec read = saved(spec);
  ASSERT_EQ(read.graph_inputs.inputs.size(), 2U);
  EXPECT_EQ(text(read.graph_inputs.inputs[0]), text(range));
  EXPECT_EQ(read.graph_inputs.inputs[0].dim_names, range.dim_names);
  EXPECT_TRUE(at::equal(read.graph_inputs.inputs[1].sample, sample.sample));
  EXPECT_EQ(read.enabled_precisions, spec.enabled_precisions);
  EXPECT_EQ(read.op_precision, DataType::kHalf);
  ASSERT_EQ(read.precision.size(), 1U);
  EXPECT_EQ(read.precision[0].pattern, "encoder.*");
  EXPECT_TRUE(read.refit && read.tune && read.require_full_compilation && read.batch_invariant);
  EXPECT_FALSE(read.check_results || read.keep_methods);
  EXPECT_EQ(read.device.gpu_id, 1);
  EXPECT_EQ(read.target, "sm_90");
  EXPECT_EQ(read.timing_cache, "kernels.txt");
  EXPECT_TRUE(read.min_block_size.isGiven());
  EXPECT_EQ(read.min_block_size, 5U);
  EXPECT_EQ(read.workspace_size, 7U);
  EXPECT_EQ(read.torch_executed_ops, spec.torch_executed_ops);
  EXPECT_EQ(read.torch_executed_modules, spec.torch_executed_modules);
  EXPECT_EQ(read.optional_weights, spec.optional_weights);
  EXPECT_EQ(read.tuning_seconds, 3);
  ASSERT_EQ(read.sample_inputs.size(), 2U);
  EXPECT_TRUE(at::equal(read.sample_inputs[0].toTensor(), at::ones({2})));
  EXPECT_EQ(read.sample_inputs[1].toDouble(), 3.5);
}

TEST(SpecValues, KeepWhatWasNotGiven) {
  const ts::CompileSpec read = saved(ts::CompileSpec(std::vector<Input>{Input({2, 3})}));
  EXPECT_FALSE(read.min_block_size.isGiven());
  EXPECT_FALSE(read.graph_inputs.inputs[0].sample.defined());
  EXPECT_TRUE(read.sample_inputs.empty());
  EXPECT_TRUE(read.graph_inputs.input_signature.isNone());
}

TEST(SpecValues, OfAnEarlierReleaseLackWhatIsNewer) {
  Settings settings = settingsOf(ts::CompileSpec(std::vector<Input>{Input({2, 3})}));
  EXPECT_EQ(settings.erase("batch_invariant"), 1);
  EXPECT_FALSE(specOf(settings).batch_invariant);
}

TEST(SpecValues, KeepNestedSignatures) {
  const auto input = [](std::vector<int64_t> shape) {
    return torch::jit::IValue(c10::make_intrusive<Input>(Input(std::move(shape))));
  };
  c10::impl::GenericList list(c10::AnyType::get());
  list.push_back(input({2, 3}));
  list.push_back(torch::jit::IValue());
  const ts::CompileSpec spec(
      torch::jit::IValue(c10::ivalue::Tuple::create({c10::ivalue::Tuple::create({input({4}), 2.0}), list})));
  const ts::CompileSpec read = saved(spec);
  ASSERT_EQ(read.graph_inputs.inputs.size(), 2U);
  EXPECT_EQ(read.graph_inputs.inputs[0].shape, (std::vector<int64_t>{4}));
  EXPECT_EQ(read.graph_inputs.inputs[1].shape, (std::vector<int64_t>{2, 3}));
  const auto& elements = read.graph_inputs.input_signature.toTupleRef().elements();
  EXPECT_EQ(elements[0].toTupleRef().elements()[1].toDouble(), 2.0);
  EXPECT_TRUE(elements[1].toListRef()[1].isNone());
}

}  // namespace
}  // namespace torchtrt::compiler
