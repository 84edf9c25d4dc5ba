// torchtrt::Attention on the device against sums in double, whatever the strides, sizes, dtypes and masks.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cpu/harness.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Sizes {
  int64_t batch, heads, rows, keys, size, columns;
};

struct Heads {
  Values q, k, v;  // [batch, heads, rows or keys, size or columns]
};

Heads headsFor(const Sizes& s, DType dtype) {
  const int64_t heads = s.batch * s.heads;
  return {mixedValues(heads * s.rows * s.size, dtype, 1), mixedValues(heads * s.keys * s.size, dtype, 2),
          mixedValues(heads * s.keys * s.columns, dtype, 3)};
}

// `mask` gives what is added to the score of (head, row, key).
template <typename Mask>
Values expectedOf(const Sizes& s, const Heads& of, double scale, const Mask& mask, bool safe = false) {
  Values out;
  for (int64_t head = 0; head < s.batch * s.heads; ++head) {
    for (int64_t row = 0; row < s.rows; ++row) {
      Values weights;
      double highest = -kInfinity, total = 0;
      for (int64_t key = 0; key < s.keys; ++key) {
        double score = 0;
        for (int64_t i = 0; i < s.size; ++i) {
          score += of.q[static_cast<size_t>((head * s.rows + row) * s.size + i)] *
                   of.k[static_cast<size_t>((head * s.keys + key) * s.size + i)];
        }
        weights.push_back(score * scale + mask(head, row, key));
        highest = std::max(highest, weights.back());
      }
      for (double& weight : weights) {
        weight = safe && highest == -kInfinity ? 0 : std::exp(weight - highest);
        total += weight;
      }
      for (int64_t column = 0; column < s.columns; ++column) {
        double sum = 0;
        for (int64_t key = 0; key < s.keys; ++key) {
          sum +=
              weights[static_cast<size_t>(key)] * of.v[static_cast<size_t>((head * s.keys + key) * s.columns + column)];
        }
        out.push_back(total == 0 && (safe || s.keys == 0) ? 0 : sum / total);
      }
    }
  }
  return out;
}

double noMask(int64_t, int64_t, int64_t) {
  return 0;
}

Attributes fieldsOf(double scale, bool transpose_k) {
  plugin::registerBuiltinPlugins();
  return makeAttributes({{"namespace", std::string("torchtrt")},
                         {"type", std::string("Attention")},
                         {"version", std::string("1")},
                         {"scale", scale},
                         {"transpose_k", transpose_k}});
}

Case caseOf(const Sizes& s, const Heads& of, DType dtype, double scale) {
  return {"plugin_v2",
          fieldsOf(scale, true),
          {makeTensor(dtype, {s.batch, s.heads, s.rows, s.size}, of.q),
           makeTensor(dtype, {s.batch, s.heads, s.keys, s.size}, of.k),
           makeTensor(dtype, {s.batch, s.heads, s.keys, s.columns}, of.v)},
          {{dtype, {s.batch, s.heads, s.rows, s.columns}}}};
}

bool hasDeviceCode(const Case& layer) {
  const std::string implementation = createKernel(problemOf(layer)).implementation;
  return implementation == "attention" || implementation == "cudnn" || implementation == "tensor_cores";
}

TEST(Attention, AgreesWithSumsInDouble) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    for (const Sizes& s :
         {Sizes{1, 1, 1, 1, 1, 1}, Sizes{2, 3, 5, 7, 4, 3}, Sizes{1, 2, 17, 33, 20, 70}, Sizes{1, 1, 3, 16, 16, 64},
          Sizes{1, 2, 70, 130, 64, 64}, Sizes{1, 1, 65, 65, 128, 128}, Sizes{1, 1, 2, 3, 129, 8}}) {
      const Heads heads = headsFor(s, dtype);
      const Case layer = caseOf(s, heads, dtype, 0.25);
      EXPECT_TRUE(hasDeviceCode(layer));
      expectOutputs(layer, {expectedOf(s, heads, 0.25, noMask)});
    }
  }
}

TEST(Attention, ReadsKeysThatLieInColumns) {
  const Sizes s = {1, 1, 3, 5, 2, 4};
  const Heads heads = headsFor(s, DType::kFloat32);
  Values columns;
  for (int64_t i = 0; i < s.size; ++i) {
    for (int64_t key = 0; key < s.keys; ++key) {
      columns.push_back(heads.k[static_cast<size_t>(key * s.size + i)]);
    }
  }
  expectOutputs(
      {"plugin_v2",
       fieldsOf(0.5, false),
       {makeTensor(DType::kFloat32, {s.rows, s.size}, heads.q), makeTensor(DType::kFloat32, {s.size, s.keys}, columns),
        makeTensor(DType::kFloat32, {s.keys, s.columns}, heads.v)},
       {{DType::kFloat32, {s.rows, s.columns}}}},
      {expectedOf(s, heads, 0.5, noMask)});
}

TEST(Attention, AddsOneMaskAndChoosesByTheOther) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    const Sizes s = {2, 2, 3, 18, 4, 5};
    const Heads heads = headsFor(s, dtype);
    Case layer = caseOf(s, heads, dtype, 0.5);
    const Values added = mixedValues(s.heads * s.rows * s.keys, DType::kFloat32, 4);  // the same for both batches
    const Values chosen = mixedValues(s.keys, DType::kBool, 5);
    layer.inputs.push_back(makeTensor(DType::kFloat32, {s.heads, s.rows, s.keys}, added));
    layer.inputs.push_back(makeTensor(DType::kBool, {1, s.keys}, chosen));
    expectOutputs(layer, {expectedOf(s, heads, 0.5, [&](int64_t head, int64_t row, int64_t key) {
                    const double mask = added[static_cast<size_t>((head % s.heads * s.rows + row) * s.keys + key)];
                    return chosen[static_cast<size_t>(key)] != 0 ? mask : -kInfinity;
                  })});
  }
}

TEST(Attention, RepeatsAMaskOfPartOfTheFirstAxis) {
  const Sizes s = {6, 2, 2, 3, 4, 5};
  const Heads heads = headsFor(s, DType::kFloat16);
  Case layer = caseOf(s, heads, DType::kFloat16, 0.5);
  const Values mask = mixedValues(2 * s.keys, DType::kFloat32, 4);
  layer.inputs.push_back(makeTensor(DType::kFloat32, {2, 1, 1, s.keys}, mask));
  expectOutputs(layer, {expectedOf(s, heads, 0.5, [&](int64_t head, int64_t, int64_t key) {
                  return mask[static_cast<size_t>(head / s.heads % 2 * s.keys + key)];
                })});
}

TEST(Attention, GivesZeroWhereNoKeyIsLeftIfToldTo) {
  const Sizes s = {1, 1, 2, 20, 2, 3};
  const Heads heads = headsFor(s, DType::kFloat32);
  Values chosen(static_cast<size_t>(2 * s.keys), 0);
  chosen[19] = 1;  // the first row sees the last key alone
  Case layer = caseOf(s, heads, DType::kFloat32, 0.5);
  layer.attributes.set("safe", true);
  layer.inputs.push_back(makeTensor(DType::kBool, {2, s.keys}, chosen));
  Values expected(heads.v.end() - 3, heads.v.end());
  expected.insert(expected.end(), 3, 0);
  expectOutputs(layer, {expected});
  layer.attributes.set("safe", false);
  std::fill(expected.begin() + 3, expected.end(), std::numeric_limits<double>::quiet_NaN());
  expectOutputs(layer, {expected});
}

TEST(Attention, OfNoKeysIsZero) {
  const Sizes s = {1, 2, 2, 0, 3, 4};
  expectOutputs(caseOf(s, headsFor(s, DType::kFloat32), DType::kFloat32, 1), {Values(16, 0)});
}

// Channels of q, k and v in one tensor, heads side by side.
void expectHeadsSideBySide(const Sizes& s, DType dtype) {
  const int64_t width = 3 * s.heads * s.size;
  for (const bool sequence_first : {false, true}) {
    const Values all = mixedValues(s.batch * s.rows * width, dtype);
    const auto placeOf = [&](int64_t b, int64_t row, int64_t channels) {
      return (sequence_first ? row * s.batch + b : b * s.rows + row) * channels;
    };
    Heads heads;
    Values* const parts[] = {&heads.q, &heads.k, &heads.v};
    for (int64_t part = 0; part < 3; ++part) {
      for (int64_t i = 0; i < s.batch * s.heads * s.rows * s.size; ++i) {
        const int64_t b = i / (s.heads * s.rows * s.size), head = i / (s.rows * s.size) % s.heads;
        const int64_t channel = (part * s.heads + head) * s.size + i % s.size;
        parts[part]->push_back(all[static_cast<size_t>(placeOf(b, i / s.size % s.rows, width) + channel)]);
      }
    }
    const Values by_head = expectedOf(s, heads, 0.25, noMask);
    Values expected(by_head.size());
    for (int64_t i = 0; i < static_cast<int64_t>(by_head.size()); ++i) {
      const int64_t b = i / (s.heads * s.rows * s.size), head = i / (s.rows * s.size) % s.heads;
      const int64_t at = placeOf(b, i / s.size % s.rows, s.heads * s.size) + head * s.size + i % s.size;
      expected[static_cast<size_t>(at)] = by_head[static_cast<size_t>(i)];
    }
    const int64_t outer = sequence_first ? s.rows : s.batch, inner = sequence_first ? s.batch : s.rows;
    const Tensor packed = makeTensor(dtype, {outer, inner, width}, all);
    Case layer = {
        "plugin_v2", fieldsOf(0.25, true), {packed, packed, packed}, {{dtype, {outer, inner, s.heads * s.size}}}};
    layer.attributes.set("heads", s.heads);
    layer.attributes.set("head_size", s.size);
    layer.attributes.set("value_size", s.columns);
    layer.attributes.set("q_channel", int64_t{0});
    layer.attributes.set("k_channel", s.heads * s.size);
    layer.attributes.set("v_channel", 2 * s.heads * s.size);
    layer.attributes.set("sequence_first", sequence_first);
    EXPECT_TRUE(hasDeviceCode(layer));
    expectOutputs(layer, {expected});
  }
}

TEST(Attention, ReadsHeadsSideBySideAndWritesThemSo) {
  expectHeadsSideBySide({2, 3, 4, 4, 2, 2}, DType::kFloat32);
}

// Sizes that libraries take.
TEST(Attention, WithTensorCores) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    expectHeadsSideBySide({2, 3, 40, 40, 16, 16}, dtype);
    for (const Sizes& s : {Sizes{2, 3, 17, 70, 64, 64}, Sizes{1, 2, 5, 9, 32, 64}, Sizes{3, 1, 130, 33, 8, 8}}) {
      const Heads heads = headsFor(s, dtype);
      expectOutputs(caseOf(s, heads, dtype, 0.0625), {expectedOf(s, heads, 0.0625, noMask)});
    }
  }
}

TEST(Attention, LeavesOtherPluginsToOthers) {
  Case layer = caseOf({1, 1, 1, 1, 1, 1}, headsFor({1, 1, 1, 1, 1, 1}, DType::kFloat32), DType::kFloat32, 1);
  layer.attributes.set("type", std::string("GroupedProduct"));
  layer.inputs[2] = makeTensor(DType::kInt64, {1}, {1});
  EXPECT_FALSE(hasDeviceCode(layer));
}

TEST(Attention, RefusesShapesOfADamagedPlan) {
  Case layer = caseOf({1, 1, 2, 3, 4, 5}, headsFor({1, 1, 2, 3, 4, 5}, DType::kFloat32), DType::kFloat32, 1);
  layer.outputs[0].dims = {1, 1, 2, 6};
  EXPECT_THROW(run(layer), EngineError);
}

}  // namespace
}  // namespace torchtrt::kernels::testing
