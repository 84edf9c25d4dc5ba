#include "runtime/execute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "runtime/small_engine.h"
#include "torchtrt/runtime.h"

namespace torchtrt::runtime {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Through the dispatcher, as TorchScript calls it.
std::vector<at::Tensor> call(const std::vector<at::Tensor>& inputs, const c10::intrusive_ptr<Engine>& engine) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("tensorrt::execute_engine", "");
  torch::jit::Stack stack{inputs, engine};
  op.callBoxed(stack);
  return stack.front().toTensorVector();
}

void expectError(const std::vector<at::Tensor>& inputs, ErrorCode code, const std::vector<std::string>& parts) {
  const auto engine = smallEngine();
  try {
    call(inputs, engine);
    FAIL() << "expected " << torchtrt::toString(code);
  } catch (const TorchEngineError& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& part : parts) {
      EXPECT_THAT(error.what(), HasSubstr(part));
    }
  }
}

TEST(ExecuteEngine, AnswersAsPyTorch) {
  const auto engine = smallEngine();
  for (const int64_t n : {1, 4, 8}) {
    const at::Tensor x = at::randn({n, 3});
    EXPECT_TRUE(at::equal(call({x}, engine).at(0), smallAnswer(x)));
  }
}

TEST(ExecuteEngine, ReadsInputsAsTheyLie) {
  const auto engine = smallEngine();
  const at::Tensor wide = at::randn({3, 8});
  const at::Tensor row = at::randn({3});
  const std::vector<at::Tensor> inputs = {wide.t(), wide.t().slice(0, 1, 8, 2), row.expand({5, 3}),
                                          at::randn({4, 6}).slice(1, 0, 6, 2)};
  for (const at::Tensor& x : inputs) {
    EXPECT_TRUE(at::equal(call({x}, engine).at(0), smallAnswer(x)));
  }
}

TEST(ExecuteEngine, ResolvesLazyNegationAndZeroTensors) {
  const auto engine = smallEngine();
  const at::Tensor negated = at::_neg_view(at::randn({2, 3}));
  EXPECT_TRUE(at::equal(call({negated}, engine).at(0), smallAnswer(negated.clone())));
  const at::Tensor zeros = at::_efficientzerotensor({2, 3}, at::kFloat);
  EXPECT_TRUE(at::equal(call({zeros}, engine).at(0), smallAnswer(at::zeros({2, 3}))));
}

TEST(ExecuteEngine, OutputsNeverRequireGrad) {
  const at::Tensor x = at::randn({2, 3}).requires_grad_();
  const at::Tensor y = call({x}, smallEngine()).at(0);
  EXPECT_FALSE(y.requires_grad());
  EXPECT_TRUE(at::equal(y, smallAnswer(x.detach())));
}

TEST(ExecuteEngine, WorksInInferenceMode) {
  const c10::InferenceMode inference;
  const at::Tensor x = at::randn({2, 3});
  EXPECT_TRUE(at::equal(call({x}, smallEngine()).at(0), smallAnswer(x)));
}

TEST(ExecuteEngine, GivesShapesOnMeta) {
  const at::Tensor y = call({at::empty({7, 3}, at::kMeta)}, smallEngine()).at(0);
  EXPECT_TRUE(y.is_meta());
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{7, 3}));
  EXPECT_EQ(y.scalar_type(), at::kFloat);
}

TEST(ExecuteEngine, OutputsAreAligned) {
  const at::Tensor y = call({at::randn({1, 3})}, smallEngine()).at(0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(y.const_data_ptr()) % 64, 0U);
}

TEST(ExecuteEngine, NamesWhatIsWrongWithItsInputs) {
  expectError({}, ErrorCode::kInputCount, {"[E003]"});
  expectError({at::randn({2, 3}), at::randn({2, 3})}, ErrorCode::kInputCount, {"[E003]"});
  expectError({at::randn({2, 3}, at::kDouble)}, ErrorCode::kInputDType, {"[E004]", "x", "float32", "float64"});
  expectError({at::randn({2, 3}, at::kComplexFloat)}, ErrorCode::kInputDType, {"[E004]", "\"x\"", "ComplexFloat"});
  expectError({at::randn({2, 3}).to_sparse()}, ErrorCode::kInputDType, {"[E004]", "\"x\"", "Sparse", "to_dense"});
  expectError({at::randn({2, 3, 1})}, ErrorCode::kInputShape, {"[E005]", "x"});
  expectError({at::randn({2, 4})}, ErrorCode::kInputShape, {"[E005]", "x"});
  expectError({at::randn({9, 3})}, ErrorCode::kInputShape, {"[E005]", "x", "9"});
}

TEST(ExecuteEngine, ManyThreadsMayCallOneEngine) {
  const auto engine = smallEngine();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const at::Tensor x = at::full({1 + i, 3}, static_cast<double>(i));
      const at::Tensor expected = smallAnswer(x);
      for (int round = 0; round < 200; ++round) {
        wrong += at::equal(call({x}, engine).at(0), expected) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}

TEST(ProfileEngine, NamesEveryStep) {
  const auto steps = profileEngine({at::randn({2, 3})}, *smallEngine(), 3);
  ASSERT_EQ(steps.size(), 1U);  // both take turns on pieces
  EXPECT_EQ(std::get<0>(steps[0]), "elementwise0 + activation1");
  EXPECT_EQ(std::get<1>(steps[0]), "activation");
  EXPECT_FALSE(std::get<2>(steps[0]).empty());
}

}  // namespace
}  // namespace torchtrt::runtime
