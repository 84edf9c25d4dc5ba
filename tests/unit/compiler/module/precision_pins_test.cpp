// CompileSpec::precision from C++: obeyed, reported, and refused where it names nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torchtrt/compile.h"

namespace torchtrt {
namespace {

using ::testing::HasSubstr;
using torch::jit::Module;

Module makeNet() {
  Module layer("Layer"), net("Net");
  layer.register_attribute("training", c10::BoolType::get(), false);
  layer.register_parameter("weight", at::full({4, 4}, 0.3), /*is_buffer=*/false);
  layer.define("def forward(self, x):\n  return torch.linear(x, self.weight)\n");
  net.register_attribute("training", c10::BoolType::get(), false);
  net.register_module("first", layer);
  net.register_module("second", layer.deepcopy());
  net.define("def forward(self, x):\n  return self.second.forward(torch.relu(self.first.forward(x)))\n");
  return net;
}

ts::CompileSpec makeSpec(std::vector<PrecisionPin> pins) {
  ts::CompileSpec spec(std::vector<Input>{Input(std::vector<int64_t>{2, 4})});
  spec.require_full_compilation = true;
  spec.precision = std::move(pins);
  return spec;
}

TEST(PrecisionPins, AreObeyedAndReported) {
  const at::Tensor x = at::arange(8, at::kFloat).reshape({2, 4}) / 7;
  Report report;
  Module compiled = ts::compile(makeNet(), makeSpec({{"*", at::kBFloat16}, {"second", at::kFloat}}), &report);
  const at::Tensor weight = at::full({4, 4}, 0.3);
  const at::Tensor first = at::relu(at::linear(x.to(at::kBFloat16), weight.to(at::kBFloat16))).to(at::kFloat);
  EXPECT_TRUE(compiled.forward({x}).toTensor().allclose(at::linear(first, weight), 1e-6, 1e-6));
  ASSERT_EQ(report.precision.size(), 2);
  EXPECT_EQ(report.precision[0].dtype, "bfloat16");
  EXPECT_EQ(report.precision[0].nodes, 2);
  EXPECT_EQ(report.precision[1].nodes, 1);
  EXPECT_THAT(report.toText(), HasSubstr("precision second = float32: 1 node\n"));
}

TEST(PrecisionPins, OfNoModuleNameWhatIsNear) {
  try {
    ts::compile(makeNet(), makeSpec({{"secnd", at::kHalf}}));
    FAIL() << "no error";
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidOption);
    EXPECT_THAT(error.what(), HasSubstr("near it are 'second', 'first'"));
  }
}

}  // namespace
}  // namespace torchtrt
