#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Case reduce(const std::string& op, const Ints& axes, Tensor in, const Ints& out, bool keep_dims = false) {
  const bool is_predicate = op == "any" || op == "all";
  const DType dtype = is_predicate ? DType::kBool : in.desc.dtype;
  return {"reduce",
          makeAttributes({{"op", op}, {"axes", axes}, {"keep_dims", keep_dims}}),
          {std::move(in)},
          {{dtype, out}}};
}

TEST(Reduce, EveryOperatorOnFloatingTypes) {
  const std::map<std::string, Values> expected = {
      {"sum", {6, 3}},
      {"prod", {6, -4}},
      {"max", {3, 4}},
      {"min", {1, -1}},
      {"avg", {2, 1}},
      {"var", {1, 7}},
      {"std", {1, std::sqrt(7.0)}},
      {"norm1", {6, 5}},
      {"norm2", {std::sqrt(14.0), std::sqrt(17.0)}},
      {"logsumexp", {std::log(std::exp(1) + std::exp(2) + std::exp(3)), std::log(std::exp(4) + 1 + std::exp(-1))}},
      {"any", {1, 1}},
      {"all", {1, 0}}};
  for (const auto& [op, values] : expected) {
    for (const DType dtype : kFloatingDTypes) {
      const Values second = op == "prod" ? Values{4, 1, -1} : Values{4, 0, -1};
      Values in = {1, 2, 3};
      in.insert(in.end(), second.begin(), second.end());
      expectOutputs(reduce(op, {1}, makeTensor(dtype, {2, 3}, in), {2}), {values});
    }
  }
}

TEST(Reduce, IntegersAndBool) {
  for (const DType dtype : kIntegerDTypes) {
    const Tensor in = makeTensor(dtype, {2, 2}, {3, 2, 0, 7});
    expectOutputs(reduce("sum", {0, 1}, in, {}), {{12}});
    expectOutputs(reduce("prod", {1}, in, {2}), {{6, 0}});
    expectOutputs(reduce("max", {0}, in, {2}), {{3, 7}});
    expectOutputs(reduce("min", {0}, in, {2}), {{0, 2}});
    expectOutputs(reduce("any", {1}, in, {2}), {{1, 1}});
    expectOutputs(reduce("all", {1}, in, {2}), {{1, 0}});
  }
  expectOutputs(reduce("sum", {0}, makeTensor(DType::kInt8, {2}, {100, 100}), {}), {{-56}});
  expectOutputs(reduce("max", {0}, makeTensor(DType::kInt8, {2}, {-100, -3}), {}), {{-3}});
  expectOutputs(reduce("sum", {0}, makeTensor(DType::kBool, {3}, {1, 1, 0}), {}), {{1}});
  expectOutputs(reduce("all", {0}, makeTensor(DType::kBool, {3}, {1, 1, 0}), {}), {{0}});
}

TEST(Reduce, AxesInAnyCombination) {
  const Tensor in = makeTensor(DType::kInt64, {2, 3, 2}, iota(12));
  expectOutputs(reduce("sum", {0}, in, {3, 2}), {{6, 8, 10, 12, 14, 16}});
  expectOutputs(reduce("sum", {1}, in, {2, 2}), {{6, 9, 24, 27}});
  expectOutputs(reduce("sum", {0, 2}, in, {3}), {{14, 22, 30}});
  expectOutputs(reduce("sum", {0, 2}, in, {1, 3, 1}, true), {{14, 22, 30}});
  expectOutputs(reduce("sum", {0, 1, 2}, in, {1, 1, 1}, true), {{66}});
}

TEST(Reduce, ManyOutputsAndManyTerms) {
  const Values in = mixedValues(700 * 300, DType::kFloat64);
  Values columns(300, 0), rows(700, 0);
  for (size_t i = 0; i < in.size(); ++i) {
    columns[i % 300] += in[i];
    rows[i / 300] += in[i];
  }
  expectOutputs(reduce("sum", {0}, makeTensor(DType::kFloat64, {700, 300}, in), {300}), {columns});
  expectOutputs(reduce("sum", {1}, makeTensor(DType::kFloat64, {700, 300}, in), {700}), {rows});
}

TEST(Reduce, FewTermsBetweenFewOutputs) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16}) {
    const Tensor in = makeTensor(dtype, {3, 2, 2}, {1, 2, 3, 5, kNan, 0, 1, kInf, -4, -8, -6, 4});
    expectOutputs(reduce("sum", {1}, in, {3, 2}), {{4, 7, kNan, kInf, -10, -4}});
    expectOutputs(reduce("avg", {1}, in, {3, 2}), {{2, 3.5, kNan, kInf, -5, -2}});
    expectOutputs(reduce("max", {1}, in, {3, 2}), {{3, 5, kNan, kInf, -4, 4}});
    expectOutputs(reduce("min", {1}, in, {3, 2}), {{1, 2, kNan, 0, -6, -8}});
  }
}

TEST(Reduce, NanAndInfinity) {
  const Tensor in = makeTensor(DType::kFloat32, {2, 3}, {1, kNan, 3, -kInf, -kInf, -kInf});
  expectOutputs(reduce("max", {1}, in, {2}), {{kNan, -kInf}});
  expectOutputs(reduce("min", {1}, in, {2}), {{kNan, -kInf}});
  expectOutputs(reduce("logsumexp", {1}, in, {2}), {{kNan, -kInf}});
  expectOutputs(reduce("any", {1}, in, {2}), {{1, 1}});
  expectOutputs(reduce("logsumexp", {0}, makeTensor(DType::kFloat32, {2}, {kInf, 0}), {}), {{kInf}});
  expectOutputs(reduce("logsumexp", {0}, makeTensor(DType::kFloat32, {2}, {1000, 1000}), {}), {{1000 + std::log(2.0)}});
}

TEST(Reduce, CorrectionOfVariance) {
  Case layer = reduce("var", {0}, makeTensor(DType::kFloat64, {4}, {1, 2, 3, 6}), {});
  for (const auto& [correction, expected] :
       std::map<double, double>{{0, 3.5}, {1, 14 / 3.0}, {2, 7}, {4, kInf}, {5, kInf}}) {
    layer.attributes.set("correction", correction);
    expectOutputs(layer, {{expected}});
  }
  expectOutputs(reduce("var", {0}, makeTensor(DType::kFloat64, {1}, {5}), {}), {{kNan}});
  // Two passes: one pass would lose the variance beside the mean.
  expectOutputs(reduce("var", {0}, makeTensor(DType::kFloat32, {3}, {16777214, 16777215, 16777216}), {}), {{1}});
}

TEST(Reduce, EmptyAxes) {
  const Tensor in = makeTensor(DType::kFloat32, {2, 0}, {});
  const std::map<std::string, double> expected = {{"sum", 0},   {"prod", 1},   {"avg", kNan},
                                                  {"any", 0},   {"all", 1},    {"norm1", 0},
                                                  {"norm2", 0}, {"var", kNan}, {"logsumexp", -kInf}};
  for (const auto& [op, value] : expected) {
    expectOutputs(reduce(op, {1}, in, {2}), {{value, value}});
  }
  for (const char* op : {"max", "min"}) {
    EXPECT_THROW(run(reduce(op, {1}, in, {2})), EngineError) << op;
    expectOutputs(reduce(op, {0}, makeTensor(DType::kFloat32, {2, 0}, {}), {0}), {{}});
  }
}

TEST(Reduce, RefusesWhatIntegersDoNotHave) {
  EXPECT_THROW(run(reduce("avg", {0}, makeTensor(DType::kInt32, {2}, {1, 2}), {})), InternalError);
}

}  // namespace
}  // namespace torchtrt::kernels::testing
