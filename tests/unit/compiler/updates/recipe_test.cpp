#include "compiler/updates/recipe.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include "compiler/module/source.h"
#include "torchtrt/error.h"

namespace torchtrt::compiler {
namespace {

// Multiplies by a parameter and adds a buffer.
Source scaled() {
  torch::jit::Module module("Net");
  module.register_parameter("weight", at::full({3, 4}, 2.0F), false);
  module.register_buffer("shift", at::full({4}, 5.0F));
  module.define("def forward(self, x):\n  return x * self.weight + self.shift\n");
  return {std::make_shared<torch::jit::Module>(module), "forward", nullptr};
}

std::string recipeOf(const Source& source) {
  ts::CompileSpec spec(std::vector<Input>{Input(std::vector<int64_t>{3, 4})});
  spec.min_block_size = 2;
  Choices choices;
  choices.refused = {{1, {"slow", "is slower in an engine"}}};
  choices.late = {2};
  choices.kinds = "kinds";
  return serialize(stored(source), spec, choices, "code");
}

TEST(Recipe, ComesBack) {
  const Recipe recipe = parseRecipe(recipeOf(scaled()));
  EXPECT_EQ(recipe.method, "forward");
  EXPECT_EQ(recipe.code, "code");
  EXPECT_EQ(uint64_t{recipe.spec.min_block_size}, 2U);
  ASSERT_EQ(recipe.spec.graph_inputs.inputs.size(), 1U);
  EXPECT_EQ(recipe.spec.graph_inputs.inputs[0].opt_shape, (std::vector<int64_t>{3, 4}));
  ASSERT_EQ(recipe.choices.refused.size(), 1U);
  EXPECT_EQ(recipe.choices.refused[0].first, 1);
  EXPECT_EQ(recipe.choices.refused[0].second.reason, "is slower in an engine");
  EXPECT_EQ(recipe.choices.late, (std::vector<int64_t>{2}));
  EXPECT_EQ(recipe.choices.kinds, "kinds");
}

TEST(Recipe, HasBuffersAndShapesOfParameters) {
  const Recipe recipe = parseRecipe(recipeOf(scaled()));
  EXPECT_TRUE(at::equal(recipe.module.attr("shift").toTensor(), at::full({4}, 5.0F)));
  const at::Tensor weight = recipe.module.attr("weight").toTensor();
  EXPECT_EQ(weight.sizes(), at::IntArrayRef({3, 4}));
  EXPECT_EQ(weight.storage().nbytes(), sizeof(float)) << "one element stands for all";
}

TEST(Recipe, NeedsWeightsWithNames) {
  torch::jit::Module module("Net");
  module.define("def forward(self, x):\n  return x + 1\n");
  EXPECT_THROW(stored({std::make_shared<torch::jit::Module>(module), "forward", nullptr}), CompileError);
}

void expectUnreadable(const std::string& bytes) {
  try {
    parseRecipe(bytes);
    FAIL() << "was read";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPlanCorrupt);
    EXPECT_NE(std::string(error.what()).find("is damaged, or of another release"), std::string::npos) << error.what();
  }
}

TEST(Recipe, RefusesDamagedBytes) {
  const std::string bytes = recipeOf(scaled());
  expectUnreadable("");
  expectUnreadable("no pickle");
  expectUnreadable(bytes.substr(0, bytes.size() / 2));
}

// Another release may record fewer values, or others.
TEST(Recipe, RefusesOtherRecords) {
  const auto pickled = [](const torch::jit::IValue& value) {
    const std::vector<char> bytes = torch::jit::pickle_save(value);
    return std::string(bytes.begin(), bytes.end());
  };
  expectUnreadable(pickled(c10::ivalue::Tuple::create({torch::jit::IValue("forward")})));
  expectUnreadable(pickled(torch::jit::IValue(3)));
}

}  // namespace
}  // namespace torchtrt::compiler
