#include "runtime/apart.h"

#include <gtest/gtest.h>

namespace torchtrt::runtime {
namespace {

TEST(LieApart, OfTensorsOfTheirOwn) {
  const at::Tensor a = at::zeros({2, 3}), b = at::zeros({2, 3}), c = at::zeros({4});
  EXPECT_TRUE(lieApart({}, {a, a}));
  EXPECT_TRUE(lieApart({a}, {b, c}));
  EXPECT_TRUE(lieApart({a, b}, {c, c}));
  EXPECT_TRUE(lieApart({a.t()}, {b}));
  EXPECT_TRUE(lieApart({at::zeros({0}), a}, {at::zeros({0})}));
}

TEST(LieApart, OfPartsOfOneTensor) {
  const at::Tensor whole = at::zeros({6, 4});
  EXPECT_TRUE(lieApart({whole.slice(0, 0, 3), whole.slice(0, 3, 6)}, {}));
  EXPECT_TRUE(lieApart({whole.slice(0, 0, 3)}, {whole.slice(0, 3, 6), whole.slice(0, 3, 6)}));
  EXPECT_FALSE(lieApart({whole.slice(0, 0, 4)}, {whole.slice(0, 3, 6)}));
  EXPECT_FALSE(lieApart({whole.slice(0, 3, 6)}, {whole.slice(0, 0, 4)}));
  EXPECT_FALSE(lieApart({whole.slice(0, 0, 4), whole.slice(0, 3, 6)}, {}));
  EXPECT_FALSE(lieApart({whole, whole}, {}));
  EXPECT_FALSE(lieApart({whole}, {whole.view({24})}));
  EXPECT_FALSE(lieApart({whole.slice(0, 2, 3)}, {whole})) << "inside of another";
  EXPECT_FALSE(lieApart({whole.select(1, 0)}, {whole.select(1, 1)})) << "between each other's elements";
}

TEST(LieApart, NotWithOnePlaceForSeveralElements) {
  EXPECT_FALSE(lieApart({at::zeros({1, 3}).expand({2, 3})}, {}));
  EXPECT_TRUE(lieApart({at::zeros({2})}, {at::zeros({1, 3}).expand({2, 3})}));
}

TEST(LieApart, NotOfWhatIsNoPlainTensor) {
  EXPECT_FALSE(lieApart({at::Tensor()}, {}));
  EXPECT_FALSE(lieApart({at::zeros({2, 2}).to_sparse()}, {}));
}

}  // namespace
}  // namespace torchtrt::runtime
