#include "network/undecided.h"

#include <gtest/gtest.h>

namespace torchtrt::network {
namespace {

// "a, b" of the dims that keep the operands of a sum from being broadcast; n, m and d from 1, k from 2.
std::string undecidedOf(const Dims& a, const Dims& b) {
  Network network;
  for (const char* name : {"n", "m", "d"}) {
    network.addSymbol({name, 1, 4, 8});
  }
  network.addSymbol({"k", 2, 4, 8});
  Tensor* x = network.addInput("x", DType::kFloat32, a);
  Tensor* y = network.addInput("y", DType::kFloat32, b);
  network.addLayer(LayerType::kACTIVATION, {x}, {})->setAttribute("op", std::string("relu"));
  network.addLayer(LayerType::kELEMENTWISE, {x, y}, {})->setAttribute("op", std::string("sum"));
  const auto dims = undecidedDims(network);
  return dims ? dims->first.toString() + ", " + dims->second.toString() : "none";
}

const Dim n = Dim::symbol("n");
const Dim m = Dim::symbol("m");
const Dim k = Dim::symbol("k");

TEST(UndecidedDims, AreThoseThatMayEachBeOne) {
  EXPECT_EQ(undecidedOf({n, 3}, {m, 3}), "n, m");
  EXPECT_EQ(undecidedOf({n, 3}, {Dim::symbol("d") * m, 3}), "n, d*m");
  EXPECT_EQ(undecidedOf({7, n}, {m}), "n, m");
}

TEST(UndecidedDims, AreNoneWhereTheOperandsBroadcast) {
  EXPECT_EQ(undecidedOf({n, 3}, {n, 3}), "none");
  EXPECT_EQ(undecidedOf({n, 3}, {1, 3}), "none");
  EXPECT_EQ(undecidedOf({n, 3}, {k, 3}), "none");
}

TEST(UndecidedDims, AreNoneWhereAnotherRuleIsBroken) {
  EXPECT_EQ(undecidedOf({n, 3}, {n, 4}), "none");
}

}  // namespace
}  // namespace torchtrt::network
