// Steps that reduce or normalize rows among pointwise ones, whose pieces are whole rows or parts of long ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/fusion/pointwise_nets.h"

namespace torchtrt::engine {
namespace {

using namespace nets;  // NOLINT(google-build-using-namespace): the words of these tests

// (x - mean) / sqrt(mean of squares + 1e-3) * w + x, along the last axes
Net normalizedByHand(const Ints& dims, const Ints& axes) {
  return {
      {dims, {dims.back()}}, [axes](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
        const int32_t mean = result(reduced(make, "avg", in[0], axes));
        const int32_t centred = result(make.elementwise("sub", in[0], mean));
        const int32_t variance = result(reduced(make, "avg", result(make.elementwise("prod", centred, centred)), axes));
        const int32_t raised = result(make.elementwise("sum", variance, make.floats("eps", {}, {1e-3F})));
        const int32_t root = result(make.step("unary", {raised}, make.at(raised).dims, {{"op", std::string("sqrt")}}));
        const int32_t scaled = result(make.elementwise("prod", result(make.elementwise("div", centred, root)), in[1]));
        return make.elementwise("sum", scaled, in[0]);
      }};
}

TEST(RowGroup, RowsAreReducedAndTheirResultsBroadcast) {
  for (const int64_t length : {2, 7, 64, 768, 2048, 2049, 4096}) {
    SCOPED_TRACE(length);
    normalizedByHand({5, 3, length}, {2}).expectGroups("avg + sub + prod + avg + sum + sqrt + div + prod + sum");
    normalizedByHand({1, length}, {1}).expectGroups("avg + sub + prod + avg + sum + sqrt + div + prod + sum");
  }
  normalizedByHand({700, 24}, {1}).expectGroups("avg + sub + prod + avg + sum + sqrt + div + prod + sum");
  normalizedByHand({6, 10, 3, 40}, {2, 3}).expectGroups("avg + sub + prod + avg + sum + sqrt + div + prod + sum");
  normalizedByHand({6, 10, 1, 40}, {1, 2, 3}).expectGroups("avg + sub + prod + avg + sum + sqrt + div + prod + sum");
}

TEST(RowGroup, OtherReductionsStayApart) {
  const Net across = normalizedByHand({6, 10, 40}, {1});
  EXPECT_EQ(across.actions(), "avg; sub + prod; avg; {sum + sqrt}; div + prod + sum");
  EXPECT_EQ(across.bits(false, 3), across.bits(true, 1));
  // A square: the sums of rows lie as a row does, and are broadcast so.
  const Net square({{40, 40}}, [](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
    const int32_t relu = result(make.activation("relu", in[0]));
    const int32_t sums = result(make.step("reduce", {relu}, {make.at(relu).dims[0]},
                                          {{"op", std::string("sum")}, {"axes", Ints{1}}, {"keep_dims", false}}));
    return make.elementwise("sub", relu, sums);
  });
  square.expectActions("relu + sum; sub");
  // Two lengths of rows.
  const Net lengths({{6, 8, 40}}, [](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
    const int32_t whole = result(make.elementwise("sub", in[0], result(reduced(make, "max", in[0], {1, 2}))));
    return make.elementwise("sub", whole, result(reduced(make, "norm2", whole, {2})));
  });
  lengths.expectActions("max + sub; norm2 + sub");
}

TEST(RowGroup, RowsAreNormalized) {
  const auto attention = [](const Ints& dims) {
    return Net({dims, {dims[0], 1, dims[2]}}, [](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
      const int32_t scaled = result(make.elementwise("prod", in[0], make.floats("scale", {}, {0.125F})));
      const int32_t masked = result(make.elementwise("sum", scaled, in[1]));
      return make.activation("tanh", result(softmax(make, masked, 2)));
    });
  };
  for (const int64_t length : {2, 49, 128, 1000, 4096}) {
    SCOPED_TRACE(length);
    attention({3, 41, length}).expectActions("prod + sum + softmax + tanh");
  }
  attention({3, 5, 4097}).expectActions("prod + sum; softmax; tanh");
  const Net norm({{70, 100}, {100}, {100}}, [](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
    const int32_t sum = result(make.elementwise("sum", in[0], in[2]));
    make.output("sum", sum);
    const int32_t normalized = result(make.step("normalization", {sum, in[1], in[2], -1, -1}, make.at(sum).dims,
                                                {{"mode", std::string("layer")}, {"eps", 1e-5}}));
    return make.elementwise("sub", normalized, sum);
  });
  norm.expectActions("sum + layer + sub");
}

// sum of (a - b)^2, or another reduction, of rows too long for a piece
Net folded(const Ints& dims, const Ints& axes, const std::string& op) {
  return {{dims, dims}, [axes, op](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
            const int32_t difference = result(make.elementwise("sub", in[0], in[1]));
            const int32_t square = result(make.elementwise("prod", difference, in[0]));
            return reduced(make, op, square, axes);
          }};
}

TEST(RowGroup, LongRowsAreReducedByParts) {
  for (const char* op : {"sum", "avg", "max", "min", "norm1", "norm2", "prod"}) {
    SCOPED_TRACE(op);
    for (const int64_t length : {4097, 6144, 40000, 70001}) {
      folded({length}, {0}, op).expectActions(std::string("{sub + prod} + ") + op);
      folded({3, 1, length}, {2}, op).expectActions(std::string("{sub + prod} + ") + op);
    }
    folded({20, 5000}, {1}, op).expectActions(std::string("{sub + prod} + ") + op);
    folded({2, 30, 40, 50}, {1, 2, 3}, op).expectActions(std::string("{sub + prod} + ") + op);
  }
  folded({70001}, {0}, "logsumexp").expectActions("{sub + prod}; logsumexp");
}

TEST(RowGroup, NothingFollowsAReductionByParts) {
  const Net net({{2, 40000}}, [](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
    const int32_t relu = result(make.activation("relu", in[0]));
    make.output("relu", relu);
    const int32_t mean = result(reduced(make, "avg", relu, {1}));
    return make.elementwise("sub", relu, mean);
  });
  EXPECT_EQ(net.actions(), "relu + avg; sub");
  EXPECT_EQ(net.bits(false, 3), net.bits(true, 1));
}

TEST(RowGroup, RowsInAnotherMemoryOrder) {
  const auto net = [](const std::vector<uint8_t>& order) {
    return Net({{2, 24, 8, 9}}, [order](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
      const int32_t moved = make.step("reformat", {in[0]}, make.at(in[0]).dims);
      const int32_t largest = reduced(make, "max", moved, {1});
      const int32_t rest = make.elementwise("sub", moved, result(largest));
      make.at(moved).order = make.at(largest).order = make.at(rest).order = order;
      return make.step("reformat", {rest}, make.at(in[0]).dims);
    });
  };
  EXPECT_EQ(net({0, 2, 3, 1}).actions(), "reformat; max + sub; reformat");
  EXPECT_EQ(net({0, 2, 3, 1}).bits(false, 3), net({}).bits(false, 1));
}

// A batch normalization between pointwise steps, with parameters that are constants or not.
Net normalizedChannels(const std::vector<uint8_t>& order, bool constants) {
  constexpr int64_t kChannels = 24;
  return {
      {{2, kChannels, 40, 9}, {kChannels}},
      [order, constants](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
        const Registers dims = make.at(in[0]).dims;
        const int32_t line = constants ? make.floats("line", {kChannels}, std::vector<float>(kChannels, 1.75F)) : in[1];
        const int32_t variance = make.floats("variance", {kChannels}, std::vector<float>(kChannels, 0.5F));
        const auto ordered = [&](int32_t tensor) {
          make.at(tensor).order = order;
          return tensor;
        };
        const int32_t moved = ordered(make.step("reformat", {in[0]}, dims));
        const int32_t even = result(ordered(make.activation("tanh", moved)));
        const int32_t normalized = result(
            ordered(make.step("normalization", {even, line, line, line, variance}, dims,
                              {{"mode", std::string("batch")}, {"eps", 1e-5}, {"activation", std::string("relu")}})));
        return make.step("reformat", {ordered(make.elementwise("sum", normalized, moved))}, dims);
      }};
}

TEST(RowGroup, BatchNormalizationsOfConstantsAreMembers) {
  for (const bool constants : {true, false}) {
    const auto wanted = normalizedChannels({}, constants).bits(true, 1);
    for (const std::vector<uint8_t>& order : {std::vector<uint8_t>{}, std::vector<uint8_t>{0, 2, 3, 1}}) {
      const Net net = normalizedChannels(order, constants);
      const std::string steps = constants ? "tanh + batch + sum" : "tanh; batch; sum";
      EXPECT_EQ(net.actions(), (order.empty() ? "" : "reformat; ") + steps + "; reformat");
      EXPECT_EQ(net.bits(false, 3), wanted);
      EXPECT_EQ(net.bits(false, 1), wanted);
    }
  }
}

}  // namespace
}  // namespace torchtrt::engine
