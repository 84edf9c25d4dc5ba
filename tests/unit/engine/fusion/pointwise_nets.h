// Plans of pointwise steps that may take turns on pieces, for the tests of this folder that hold them together and
// apart.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/load.h"
#include "engine/schedule/schedule.h"
#include "engine/schedule_text.h"
#include "plan/families.h"

namespace torchtrt::engine::nets {

using testing::HostTensor;
using testing::PlanMaker;
using Ints = std::vector<int64_t>;
using Registers = PlanMaker::Registers;

inline int64_t product(const Ints& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) {
    count *= dim;
  }
  return count;
}

// A share of them special.
inline testing::HostTensor random(const Ints& dims, unsigned seed, double share) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr std::array<float, 8> kSpecial = {
      kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 0.0F, -0.0F, 1.0F, 0.5F, -0.5F};
  std::mt19937 generator(seed);
  std::vector<float> values(static_cast<size_t>(product(dims)));
  for (float& value : values) {
    value = std::bernoulli_distribution(share)(generator) ? kSpecial[generator() % kSpecial.size()]
                                                          : std::uniform_real_distribution<float>(-2, 2)(generator);
  }
  return testing::HostTensor(dims, values);
}

// A plan of one function of its inputs, built once as it is and once with every result read through a view, which keeps
// steps apart.
class Net {
 public:
  using Body = std::function<int32_t(PlanMaker& make, const std::vector<int32_t>& inputs,
                                     const std::function<int32_t(int32_t)>& result)>;

  Net(std::vector<Ints> inputs, Body body, double special = 0)
      : inputs_(std::move(inputs)), body_(std::move(body)), special_(special) {}

  plan::Plan plan(bool apart) const {
    PlanMaker make("net");
    std::vector<int32_t> inputs;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Registers dims;
      for (const int64_t dim : inputs_[i]) {
        dims.push_back(make.number(dim));
      }
      inputs.push_back(make.input("x" + std::to_string(i), dims));
    }
    int views = 0;
    const auto result = [&](int32_t tensor) {
      return apart ? make.view("view" + std::to_string(views++), tensor, make.at(tensor).dims) : tensor;
    };
    make.output("y", body_(make, inputs, result));
    plan::fillDefaults(make.plan());
    return make.plan();
  }

  std::vector<HostTensor> values() const {
    std::vector<HostTensor> values;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      values.push_back(random(inputs_[i], static_cast<unsigned>(i + 1), special_));
    }
    return values;
  }

  // Returns the actions of a call, as in schedule_text.h.
  std::string actions(bool apart = false, const LoadOptions& options = {}) const {
    const plan::Plan made = plan(apart);
    const auto engine = loadBytes(plan::serialize(made), options, device::cpu());  // fusion rules are the CPU's
    const std::vector<HostTensor> given = values();
    return actionsOf(made, *engine->scheduleFor(testing::viewsOf(given), 2));
  }

  std::vector<std::vector<uint32_t>> bits(bool apart, int threads, const LoadOptions& options = {}) const {
    const auto engine = loadBytes(plan::serialize(plan(apart)), options);
    std::vector<std::vector<uint32_t>> all;
    for (const testing::KeptOutputs::Output& output : testing::callEngine(*engine, values(), threads)) {
      std::vector<uint32_t>& bits = all.emplace_back();
      for (const float value : output.values()) {
        bits.push_back(std::isnan(value) ? 0x7FC00000U : std::bit_cast<uint32_t>(value));
      }
    }
    return all;
  }

  // The steps run so, with the bits that they have one by one.
  void expectActions(const std::string& together) const {
    EXPECT_EQ(actions(), together);
    std::string groups = together;
    std::erase_if(groups, [](char c) { return c == '{' || c == '}'; });
    expectGroups(groups);
  }

  // The same without a word about registers: `groups` has no braces. Each rule may be switched off.
  void expectGroups(const std::string& groups) const {
    EXPECT_EQ(actions(true).find('+'), std::string::npos);
    LoadOptions no_groups;
    no_groups.disabled_fusions = {"pointwise_group"};
    EXPECT_EQ(actions(false, no_groups).find('+'), std::string::npos);
    LoadOptions no_registers;
    no_registers.disabled_fusions = {"register_unit"};
    EXPECT_EQ(actions(false, no_registers), groups);
    EXPECT_EQ(bits(false, 2, no_registers), bits(true, 1));
    expectEqualBits();
  }

  void expectEqualBits() const {
    const auto wanted = bits(true, 1);
    EXPECT_EQ(bits(false, 1), wanted);
    EXPECT_EQ(bits(false, 3), wanted);
  }

 private:
  std::vector<Ints> inputs_;
  Body body_;
  double special_;
};

inline int32_t castTo(PlanMaker& make, int32_t tensor, DType dtype) {
  return make.step("cast", {tensor}, make.at(tensor).dims, {{"to", dtype}}, dtype);
}

// Keeps the axes, of one element each.
inline int32_t reduced(PlanMaker& make, const std::string& op, int32_t tensor, const Ints& axes) {
  Registers dims = make.at(tensor).dims;
  for (const int64_t axis : axes) {
    dims[static_cast<size_t>(axis)] = make.number(1);
  }
  return make.step("reduce", {tensor}, dims, {{"op", op}, {"axes", axes}, {"keep_dims", true}});
}

inline int32_t softmax(PlanMaker& make, int32_t tensor, int64_t axis) {
  return make.step("softmax", {tensor}, make.at(tensor).dims, {{"axis", axis}, {"log", false}});
}

// relu(a * b + c) - a
inline Net multiplyAdd(const std::vector<Ints>& dims) {
  return {dims, [](PlanMaker& make, const std::vector<int32_t>& in, const auto& result) {
            const int32_t product = result(make.elementwise("prod", in[0], in[1]));
            const int32_t sum = result(make.elementwise("sum", product, in[2]));
            const int32_t relu = result(make.activation("relu", sum));
            return make.elementwise("sub", relu, in[0]);
          }};
}

}  // namespace torchtrt::engine::nets
