#include "runtime/masks.h"

#include <gtest/gtest.h>

#include <vector>

namespace torchtrt::runtime {
namespace {

void expectAsPyTorch(const std::vector<at::Tensor>& tensors, const at::Tensor& mask) {
  const std::vector<at::Tensor> got = indexByMask(tensors, mask);
  ASSERT_EQ(got.size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_TRUE(at::equal(got[i], tensors[i].index({mask})));
  }
}

TEST(IndexByMask, OfTheFirstDims) {
  const at::Tensor x = at::arange(24).view({4, 6}), y = at::arange(48).view({4, 6, 2}).to(at::kHalf);
  expectAsPyTorch({x, y}, x.remainder(5).gt(2));
  expectAsPyTorch({x, y, x.t().contiguous().t()}, x.select(1, 0).gt(6));
  expectAsPyTorch({x, y}, x.select(1, 0).gt(100));
}

TEST(IndexByMask, OfIndicesThatAreNoMask) {
  const at::Tensor x = at::arange(12).view({4, 3});
  expectAsPyTorch({x, x}, at::tensor({2, 0, 2}, at::kLong));
}

TEST(IndexByMask, HasTheErrorsOfPyTorch) {
  const at::Tensor x = at::zeros({4, 3});
  EXPECT_THROW(indexByMask({x, at::zeros({5, 3})}, at::ones({4}, at::kBool)), c10::IndexError);
  EXPECT_THROW(indexByMask({x}, at::ones({3, 4}, at::kBool)), c10::IndexError);
}

TEST(IndexByMask, IsAnOperatorWithGradients) {
  const at::Tensor x = at::tensor({1.0, -2.0, 3.0}).requires_grad_();
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(kIndexByMask, "");
  torch::jit::Stack stack{c10::List<at::Tensor>({x, x}), x.gt(0)};
  op.callBoxed(stack);
  const std::vector<at::Tensor> results = stack.at(0).toTensorVector();
  (results[0].sum() + results[1].sum()).backward();
  EXPECT_TRUE(at::equal(x.grad(), at::tensor({2.0, 0.0, 2.0})));
}

}  // namespace
}  // namespace torchtrt::runtime
