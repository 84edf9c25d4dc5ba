// The attention plugins against sums in double, whatever the strides, sizes and numbers of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "kernels/kernel.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::testing {
namespace {

using plugin::InputView;
using plugin::OutputView;

// A float tensor whose axes lie in memory in the given order.
struct Operand {
  std::vector<int64_t> dims, strides;
  std::vector<float> values;

  Operand(std::vector<int64_t> shape, uint32_t seed, const std::vector<size_t>& order = {}) : dims(std::move(shape)) {
    std::vector<size_t> axes(dims.size());
    std::iota(axes.begin(), axes.end(), size_t{0});
    strides.resize(dims.size());
    int64_t stride = 1;
    for (size_t i = dims.size(); i-- > 0;) {
      const size_t axis = order.empty() ? axes[i] : order[i];
      strides[axis] = stride;
      stride *= dims[axis];
    }
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    values.resize(static_cast<size_t>(stride));
    std::generate(values.begin(), values.end(), [&] { return normal(random); });
  }
  InputView view() const {
    return {DType::kFloat32, dims, strides, values.data()};
  }
  double at(int64_t b, int64_t h, int64_t row, int64_t column) const {
    return values[static_cast<size_t>(b * strides[0] + h * strides[1] + row * strides[2] + column * strides[3])];
  }
};

struct Problem {
  int64_t batch, heads, rows, keys, size, out_size;
};

std::vector<float> run(const std::vector<Operand>& operands, bool transpose_k, const Problem& p, int threads) {
  plugin::registerBuiltinPlugins();
  Attributes fields;
  fields.set("namespace", std::string("torchtrt"));
  fields.set("type", std::string("Attention"));
  fields.set("scale", 0.25);
  fields.set("transpose_k", transpose_k);
  const auto attention = plugin::PluginRegistry::global().create(fields);
  std::vector<InputView> inputs;
  for (const Operand& operand : operands) {
    inputs.push_back(operand.view());
  }
  const std::vector<int64_t> dims = {p.batch, p.heads, p.rows, p.out_size}, strides = denseStrides(dims);
  std::vector<float> out(static_cast<size_t>(p.batch * p.heads * p.rows * p.out_size), NAN);
  const std::vector<OutputView> outputs = {{DType::kFloat32, dims, strides, out.data()}};
  attention->enqueue(inputs, outputs, nullptr, threads);
  return out;
}

std::vector<double> expected(const std::vector<Operand>& operands, bool transpose_k, const Problem& p) {
  const Operand &q = operands[0], &k = operands[1], &v = operands[2];
  std::vector<double> out;
  for (int64_t i = 0; i < p.batch * p.heads * p.rows; ++i) {
    const int64_t b = i / (p.heads * p.rows), h = i / p.rows % p.heads, row = i % p.rows;
    std::vector<double> weights;
    for (int64_t key = 0; key < p.keys; ++key) {
      double score = 0;
      for (int64_t d = 0; d < p.size; ++d) {
        score += q.at(b, h, row, d) * (transpose_k ? k.at(b, h, key, d) : k.at(b, h, d, key));
      }
      const double mask =
          operands.size() < 4 ? 0 : operands[3].values[static_cast<size_t>(row * operands[3].strides[0] + key)];
      weights.push_back(std::exp(score * 0.25 + mask));
    }
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (int64_t e = 0; e < p.out_size; ++e) {
      double value = 0;
      for (int64_t key = 0; key < p.keys; ++key) {
        value += weights[static_cast<size_t>(key)] / sum * v.at(b, h, key, e);
      }
      out.push_back(value);
    }
  }
  return out;
}

TEST(Attention, AgreesWithSumsInDouble) {
  const Problem problems[] = {{2, 3, 5, 7, 8, 4}, {1, 1, 1, 1, 1, 1}, {1, 2, 70, 33, 17, 19}, {3, 1, 33, 100, 64, 64}};
  for (const Problem& p : problems) {
    for (const bool transpose_k : {false, true}) {
      for (const bool has_mask : {false, true}) {
        const std::vector<int64_t> key_dims =
            transpose_k ? std::vector{p.batch, p.heads, p.keys, p.size} : std::vector{p.batch, p.heads, p.size, p.keys};
        std::vector<Operand> operands = {Operand({p.batch, p.heads, p.rows, p.size}, 1, {0, 2, 1, 3}),
                                         Operand(key_dims, 2, {0, 2, 1, 3}),
                                         Operand({p.batch, p.heads, p.keys, p.out_size}, 3, {1, 3, 0, 2})};
        if (has_mask) {
          operands.emplace_back(std::vector{p.rows, p.keys}, 4);
        }
        const std::vector<double> wanted = expected(operands, transpose_k, p);
        const std::vector<float> got = run(operands, transpose_k, p, 1);
        ASSERT_EQ(got.size(), wanted.size());
        for (size_t i = 0; i < got.size(); ++i) {
          ASSERT_NEAR(got[i], wanted[i], 1e-5) << "element " << i << " with " << p.rows << " rows";
        }
        EXPECT_EQ(run(operands, transpose_k, p, 3), got) << "numbers do not depend on the threads";
      }
    }
  }
}

TEST(Attention, ReadsTransposedQueries) {
  const Problem p = {1, 2, 5, 7, 8, 4};
  const std::vector<Operand> operands = {Operand({1, 2, 5, 8}, 1, {0, 1, 3, 2}), Operand({1, 2, 8, 7}, 2),
                                         Operand({1, 2, 7, 4}, 3)};
  const std::vector<double> wanted = expected(operands, false, p);
  const std::vector<float> got = run(operands, false, p, 1);
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], wanted[i], 1e-5);
  }
}

TEST(Attention, MasksKeysWithMinusInfinityAndGivesNaNWhereAllAreMasked) {
  const Problem p = {1, 1, 2, 3, 4, 2};
  std::vector<Operand> operands = {Operand({1, 1, 2, 4}, 1), Operand({1, 1, 4, 3}, 2), Operand({1, 1, 3, 2}, 3),
                                   Operand({2, 3}, 4)};
  operands[3].values = {0, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY};
  const std::vector<float> got = run(operands, false, p, 1);
  EXPECT_FLOAT_EQ(got[0], operands[2].values[0]);
  EXPECT_FLOAT_EQ(got[1], operands[2].values[1]);
  EXPECT_TRUE(std::isnan(got[2]) && std::isnan(got[3])) << "as softmax of nothing but minus infinity";
}

TEST(Attention, RefusesShapesThatDoNotFit) {
  plugin::registerBuiltinPlugins();
  Attributes fields;
  fields.set("namespace", std::string("torchtrt"));
  fields.set("type", std::string("Attention"));
  fields.set("scale", 1.0);
  fields.set("transpose_k", false);
  const auto attention = plugin::PluginRegistry::global().create(fields);
  const auto infer = [&](const Dims& q, const Dims& k, const Dims& v, const Dims& mask) {
    const std::vector<TensorType> inputs = {
        {DType::kFloat32, q}, {DType::kFloat32, k}, {DType::kFloat32, v}, {DType::kFloat32, mask}};
    return attention->inferOutputs(inputs)[0].dims;
  };
  EXPECT_EQ(infer({2, 5, 8}, {2, 8, 3}, {2, 3, 4}, {1, 3}), (Dims{2, 5, 4}));
  EXPECT_THROW(infer({2, 5, 8}, {2, 8, 3}, {2, 4, 4}, {1, 3}), EngineError);
  EXPECT_THROW(infer({2, 5, 8}, {1, 8, 3}, {2, 3, 4}, {1, 3}), EngineError);
  EXPECT_THROW(infer({2, 5, 8}, {2, 8, 3}, {2, 3, 4}, {2, 2, 5, 3}), EngineError);
  EXPECT_THROW(infer({2, 5, 8}, {2, 8, 3}, {2, 3, 4}, {4, 3}), EngineError);
}

}  // namespace
}  // namespace torchtrt::kernels::testing
