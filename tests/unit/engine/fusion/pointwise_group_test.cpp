// Pointwise steps that take turns on pieces of tensors: the results are those of the steps one after the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "engine/fusion/pointwise_nets.h"

namespace torchtrt::engine {
namespace {

using namespace nets;  // NOLINT(google-build-using-namespace): the words of these tests

TEST(PointwiseGroup, EveryNumberOfElements) {
  for (const int64_t count : {1, 2, 15, 17, 2047, 2048, 2049, 4096, 5000, 70001}) {
    SCOPED_TRACE(count);
    multiplyAdd({{count}, {count}, {count}}).expectActions("{prod + sum + relu + sub}");
  }
  multiplyAdd({{}, {}, {}}).expectActions("{prod + sum + relu + sub}");
  multiplyAdd({{3, 5, 7, 11}, {3, 5, 7, 11}, {3, 5, 7, 11}}).expectActions("{prod + sum + relu + sub}");
}

TEST(PointwiseGroup, OperandsFromOutsideAreBroadcast) {
  for (const Ints& other : std::vector<Ints>{{}, {1}, {50}, {70, 1}, {3, 1, 1}, {3, 1, 50}, {1, 70, 1}, {1, 70, 50}}) {
    SCOPED_TRACE(other.size());
    multiplyAdd({{3, 70, 50}, other, {50}}).expectGroups("prod + sum + relu + sub");
    multiplyAdd({{3, 70, 50}, {3, 70, 1}, other}).expectGroups("prod + sum + relu + sub");
  }
  multiplyAdd({{2, 5000}, {5000}, {2, 1}}).expectGroups("prod + sum + relu + sub");
}

TEST(PointwiseGroup, AResultIsReadTwice) {
  const Net net({{3000}}, [](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
    const int32_t gate = result(make.activation("sigmoid", in[0]));
    const int32_t scaled = result(make.elementwise("prod", gate, in[0]));
    return make.elementwise("sum", scaled, gate);
  });
  net.expectActions("sigmoid + {prod + sum}");
}

// Values among which are NaN, infinities, zeros of both signs and equals.
Net special(std::vector<Ints> inputs, Net::Body body) {
  return Net(std::move(inputs), std::move(body), 0.3);
}

int32_t compared(PlanMaker& make, const std::string& op, int32_t a, int32_t b) {
  return make.step("elementwise", {a, b}, make.at(a).dims, {{"op", op}}, DType::kBool);
}

int32_t chosen(PlanMaker& make, int32_t condition, int32_t a, int32_t b) {
  return make.step("select", {condition, a, b}, make.at(condition).dims, {}, make.at(a).dtype);
}

int32_t unary(PlanMaker& make, const std::string& op, int32_t tensor) {
  return make.step("unary", {tensor}, make.at(tensor).dims, {{"op", op}}, make.at(tensor).dtype);
}

int32_t binary(PlanMaker& make, const std::string& op, int32_t a, int32_t b) {
  return make.step("elementwise", {a, b}, make.at(a).dims, {{"op", op}}, make.at(a).dtype);
}

TEST(PointwiseGroup, ArithmeticInRegisters) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16}) {
    for (const std::string op : {"sum", "sub", "prod", "div", "max", "min"}) {
      SCOPED_TRACE(op);
      // The result at hand is the first operand, the second, both; then an older one.
      special({{301}, {301}}, [dtype, op](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
        const int32_t x = result(castTo(make, in[0], dtype));
        const int32_t y = result(castTo(make, in[1], dtype));
        const int32_t first = result(binary(make, op, x, y));
        const int32_t second = result(binary(make, op, first, x));
        const int32_t third = result(binary(make, op, y, second));
        const int32_t fourth = result(binary(make, op, third, third));
        const int32_t fifth = result(binary(make, op, fourth, first));
        return castTo(make, result(binary(make, op, second, fifth)), DType::kFloat32);
      }).expectEqualBits();
    }
    for (const std::string op : {"abs", "neg", "square", "sqrt", "reciprocal", "rsqrt"}) {
      SCOPED_TRACE(op);
      special({{70}, {70}}, [dtype, op](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
        const int32_t product =
            result(binary(make, "prod", result(castTo(make, in[0], dtype)), result(castTo(make, in[1], dtype))));
        return castTo(make, result(unary(make, op, result(unary(make, op, product)))), DType::kFloat32);
      }).expectEqualBits();
    }
    for (const std::string op : {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}) {
      SCOPED_TRACE(op);
      special({{301}, {301}}, [dtype, op](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
        const int32_t x = result(castTo(make, in[0], dtype));
        const int32_t y = result(castTo(make, in[1], dtype));
        const int32_t sum = result(binary(make, "sum", x, y));
        const int32_t one = result(compared(make, op, x, sum));
        const int32_t other = result(compared(make, op, sum, x));
        const int32_t first = result(chosen(make, one, sum, x));
        const int32_t second = result(chosen(make, other, y, first));
        return castTo(make, result(chosen(make, one, first, second)), DType::kFloat32);
      }).expectEqualBits();
    }
  }
}

TEST(PointwiseGroup, SixteenBitsOutsideOfRegisters) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (const int64_t count : {1, 63, 64, 301, 5000}) {
      const auto net = [&](bool chooses) {
        return special({{count}, {count}, {count}}, [=](PlanMaker& make, const auto& in, const auto& result) {
          std::vector<int32_t> wide;
          for (const int32_t input : in) {
            wide.push_back(result(castTo(make, result(castTo(make, input, dtype)), DType::kFloat32)));
          }
          const int32_t product = result(make.elementwise("prod", wide[1], wide[2]));
          const int32_t sum = result(make.elementwise("sub", wide[0], product));
          const int32_t squared = result(make.elementwise("prod", wide[2], wide[2]));
          const int32_t less = result(compared(make, "less", sum, squared));
          const int32_t end = chooses ? result(chosen(make, less, wide[0], wide[1])) : sum;
          const int32_t narrow = result(castTo(make, result(make.elementwise("sum", end, squared)), dtype));
          return castTo(make, narrow, DType::kFloat32);
        });
      };
      net(true).expectEqualBits();
      net(false).expectEqualBits();
    }
  }
}

TEST(PointwiseGroup, LimitsInRegisters) {
  special({{1000}}, [](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
    const Registers dims = make.at(in[0]).dims;
    const int32_t clipped =
        result(make.step("activation", {in[0]}, dims, {{"op", std::string("clip")}, {"alpha", -0.75}, {"beta", 0.1}}));
    const int32_t sum = result(make.step("elementwise", {clipped, in[0]}, dims,
                                         {{"op", std::string("sub")},
                                          {"activation", std::string("clip")},
                                          {"activation_alpha", -0.5},
                                          {"activation_beta", 1.25}}));
    const int32_t relu = result(make.step("elementwise", {in[0], sum}, dims,
                                          {{"op", std::string("prod")}, {"activation", std::string("relu")}}));
    return make.activation("tanh", result(make.elementwise("sum", relu, in[0])));
  }).expectActions("{clip + sub + prod + sum} + tanh");
}

TEST(PointwiseGroup, SingleElementsInRegisters) {
  for (const int64_t count : {1, 63, 64, 129, 2048, 4097}) {
    for (const Ints& weights : {Ints{count}, Ints{1}}) {
      const auto lerp = [&](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
        const auto number = [&](const char* name, float value) { return make.floats(name, {}, {value}); };
        const int32_t difference = result(make.elementwise("sub", in[1], in[0]));
        const Registers dims = make.at(in[0]).dims;
        const auto all = [&](const std::string& op, int32_t a, int32_t b) {
          return result(make.step("elementwise", {a, b}, dims, {{"op", op}}));
        };
        const int32_t weight = all("sum", in[2], in[0]);
        const int32_t low = result(make.elementwise("sum", in[0], all("prod", in[2], difference)));
        const int32_t rest = all("sub", number("one", 1), weight);
        const int32_t high = result(make.elementwise("sub", in[1], result(make.elementwise("prod", difference, rest))));
        const int32_t is_small = result(compared(make, "less", weight, number("half", 0.5F)));
        return chosen(make, is_small, low, high);
      };
      SCOPED_TRACE(count);
      special({{count}, {count}, weights}, lerp)
          .expectActions("{sub + sum + prod + sum + sub + prod + sub + less + select}");
    }
  }
}

TEST(PointwiseGroup, ConditionsFromOutsideAndForOthers) {
  const Net net = special({{3000}, {3000}}, [](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
    const int32_t less = result(compared(make, "less", in[0], in[1]));
    const int32_t same = result(compared(make, "equal", in[0], in[1]));
    const int32_t either =
        result(make.step("elementwise", {less, same}, make.at(less).dims, {{"op", std::string("or")}}, DType::kBool));
    const int32_t sum = result(make.elementwise("sum", in[0], in[1]));
    const int32_t one = result(chosen(make, either, sum, in[1]));
    return make.elementwise("sub", result(chosen(make, less, one, in[0])), castTo(make, less, DType::kFloat32));
  });
  net.expectEqualBits();
}

TEST(PointwiseGroup, WhatOthersReadIsStored) {
  const Net net({{3000}, {3000}}, [](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
    const int32_t sum = make.elementwise("sum", in[0], in[1]);
    make.output("sum", sum);
    const int32_t tanh = result(make.activation("tanh", result(sum)));
    make.output("tanh", tanh);
    return make.elementwise("prod", tanh, in[1]);
  });
  EXPECT_EQ(net.actions(), "sum + tanh + prod");
  const auto wanted = net.bits(true, 1);
  ASSERT_EQ(wanted.size(), 3U);
  EXPECT_EQ(net.bits(false, 1), wanted);
  EXPECT_EQ(net.bits(false, 3), wanted);
}

TEST(PointwiseGroup, LongOnesAreSeveral) {
  const Net net({{3000}}, [](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
    std::vector<int32_t> made = {in[0]};
    for (int i = 0; i < 30; ++i) {  // each reads the last one and an old one
      made.push_back(result(make.elementwise(i % 3 == 0 ? "sub" : "sum", made.back(), made[made.size() / 2])));
    }
    return make.activation("tanh", made.back());
  });
  net.expectActions(
      "sub + sum + sum + sub + sum + sum + sub + sum + sum + sub + sum + sum + sub; "
      "sum + sum + {sub + sum + sum + sub + sum + sum + sub + sum + sum + sub + sum}; {sum + sub + sum + sum} + tanh");
}

TEST(PointwiseGroup, OtherDtypesJoin) {
  const Net net({{3000}, {3000}}, [](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
    const Registers dims = make.at(in[0]).dims;
    const int32_t less =
        result(make.step("elementwise", {in[0], in[1]}, dims, {{"op", std::string("less")}}, DType::kBool));
    const int32_t chosen = result(make.step("select", {less, in[0], in[1]}, dims));
    const int32_t half = result(castTo(make, chosen, DType::kFloat16));
    const int32_t doubled =
        result(make.step("elementwise", {half, half}, dims, {{"op", std::string("sum")}}, DType::kFloat16));
    return castTo(make, doubled, DType::kFloat32);
  });
  net.expectActions("{less + select + cast} + sum + cast");
}

TEST(PointwiseGroup, AnyMemoryOrderThatAllHave) {
  const auto net = [](const std::vector<uint8_t>& second) {
    return Net({{2, 3, 8, 9}, {3, 1, 1}},
               [second](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
                 const int32_t moved = make.step("reformat", {in[0]}, make.at(in[0]).dims);
                 const int32_t scaled = make.elementwise("prod", moved, in[1]);
                 const int32_t relu = make.activation("relu", result(scaled));
                 make.at(moved).order = make.at(scaled).order = {0, 2, 3, 1};
                 make.at(relu).order = second;
                 return make.step("reformat", {relu}, make.at(in[0]).dims);
               });
  };
  EXPECT_EQ(net({0, 2, 3, 1}).actions(), "reformat; prod + relu; reformat");
  EXPECT_EQ(net({0, 2, 3, 1}).bits(false, 3), net({}).bits(false, 1));
  EXPECT_EQ(net({}).actions(), "reformat; prod; relu; reformat")
      << "what lies in another order stays a step of its own";
}

TEST(PointwiseGroup, OtherShapesStayApart) {
  const Net wider({{3000}, {2, 3000}}, [](PlanMaker& make, const std::vector<int32_t>& in, const auto&) {
    const int32_t relu = make.activation("relu", in[0]);
    return make.step("elementwise", {relu, in[1]}, make.at(in[1]).dims, {{"op", std::string("sum")}});
  });
  EXPECT_EQ(wider.actions(), "relu; sum");
  const Net across({{30, 40}}, [](PlanMaker& make, const std::vector<int32_t>& in, const auto&) {
    const int32_t relu = make.activation("relu", in[0]);
    return make.elementwise("prod", softmax(make, relu, 0), relu);
  });
  EXPECT_EQ(across.actions(), "relu; softmax; prod");
}

TEST(PointwiseGroup, ErrorsNameTheirStep) {
  PlanMaker make("net");
  const Registers dims = make.dims({4});
  const int32_t x = castTo(make, make.input("x", dims), DType::kInt64);
  const int32_t sum = make.step("elementwise", {x, x}, dims, {{"op", std::string("sum")}}, DType::kInt64);
  const int32_t ratio = make.step("elementwise", {x, sum}, dims, {{"op", std::string("floor_div")}}, DType::kInt64);
  make.lastStep().location = {"net.py", 7, 0, "", ""};
  const int32_t rest = make.step("elementwise", {ratio, x}, dims, {{"op", std::string("sub")}}, DType::kInt64);
  make.lastStep().location = {"net.py", 8, 0, "", ""};
  make.output("y", castTo(make, rest, DType::kFloat32));
  plan::fillDefaults(make.plan());
  const auto engine = loadMade(make, {}, device::cpu());
  EXPECT_THAT(testing::errorOf([&] {
                testing::callEngine(*engine, {HostTensor({4}, {1, 2, 0, 4})});
              }),
              ::testing::HasSubstr("net.py:7"));
}

}  // namespace
}  // namespace torchtrt::engine
