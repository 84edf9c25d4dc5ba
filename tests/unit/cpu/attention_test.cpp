// The attention plugins against sums in double, whatever the strides, sizes and numbers of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "cpu/storage/half_rows.h"
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
  const Problem problems[] = {{2, 3, 5, 7, 8, 4},      {1, 1, 1, 1, 1, 1},    {1, 2, 70, 33, 17, 19},
                              {3, 1, 33, 100, 64, 64}, {2, 3, 1, 40, 64, 64}, {1, 2, 4, 129, 40, 72},
                              {1, 2, 8, 17, 65, 33}};
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

// A decoder's cache: keys and values in rows, of which only the first ones hold something yet.
TEST(Attention, OfFewQueriesReadsNoKeysBehindTheLastVisibleOne) {
  for (const int64_t rows : {1, 3, 8}) {
    const Problem p = {1, 2, rows, 50, 24, 40};
    std::vector<Operand> operands = {Operand({1, 2, rows, 24}, 1), Operand({1, 2, 50, 24}, 2),
                                     Operand({1, 2, 50, 40}, 3), Operand({rows, 50}, 4)};
    const int64_t seen = 13;
    for (int64_t i = 0; i < rows * 50; ++i) {
      if (i % 50 >= seen) {
        operands[3].values[static_cast<size_t>(i)] = -INFINITY;
      }
    }
    const std::vector<double> wanted = expected(operands, true, p);
    for (Operand* cache : {&operands[1], &operands[2]}) {
      const int64_t width = cache->dims[3];
      for (int64_t i = 0; i < 2 * 50 * width; ++i) {
        if (i / width % 50 >= seen) {
          cache->values[static_cast<size_t>(i)] = NAN;
        }
      }
    }
    const std::vector<float> got = run(operands, true, p, 2);
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], wanted[i], 1e-5);
    }
  }
}

TEST(Attention, GivesARowTheSameBitsBesideOthers) {
  const Problem p = {1, 1, 7, 45, 33, 70};
  const std::vector<Operand> operands = {Operand({1, 1, 7, 33}, 1), Operand({1, 1, 45, 33}, 2),
                                         Operand({1, 1, 45, 70}, 3)};
  const std::vector<float> together = run(operands, true, p, 1);
  for (int64_t row = 0; row < 7; ++row) {
    std::vector<Operand> alone = operands;
    alone[0] = Operand({1, 1, 1, 33}, 1);
    std::copy_n(operands[0].values.begin() + row * 33, 33, alone[0].values.begin());
    const std::vector<float> got = run(alone, true, {1, 1, 1, 45, 33, 70}, 1);
    EXPECT_TRUE(std::equal(got.begin(), got.end(), together.begin() + row * 70)) << "row " << row;
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

// The weights of windows that a mask of -100 keeps apart: e^-95 is no normal number.
TEST(Attention, KeepsInfiniteValuesWithTheLeastWeights) {
  const Problem p = {1, 1, 1, 3, 4, 2};
  std::vector<Operand> operands = {Operand({1, 1, 1, 4}, 1), Operand({1, 1, 4, 3}, 2), Operand({1, 1, 3, 2}, 3),
                                   Operand({1, 3}, 4)};
  operands[0].values = {0, 0, 0, 0};
  operands[2].values = {0, 0, 0.5F, 1e30F, 0.5F, 0.25F};
  operands[3].values = {0, -95, -120};
  std::vector<float> got = run(operands, false, p, 1);
  EXPECT_EQ(got[0], 0) << "no denormal number";
  EXPECT_NEAR(got[1], 0, 1e-7);
  operands[2].values[2] = INFINITY;
  got = run(operands, false, p, 1);
  EXPECT_EQ(got[0], INFINITY);
  operands[2].values[4] = INFINITY;
  EXPECT_TRUE(std::isnan(run(operands, false, p, 1)[0])) << "0 * infinity";
}

// Operands in 16 bits, and the same numbers as float32.
struct Halves {
  HalfRows rows;
  DType dtype;
  std::vector<std::vector<uint16_t>> stored;
  std::vector<Operand> widened;

  Halves(DType half, const std::vector<Operand>& operands) : rows(halfRows(half)), dtype(half), widened(operands) {
    for (Operand& operand : widened) {
      const auto count = static_cast<int64_t>(operand.values.size());
      std::vector<uint16_t>& bits = stored.emplace_back(operand.values.size());
      rows.narrow(operand.values.data(), bits.data(), count);
      rows.widen(bits.data(), operand.values.data(), count);
    }
  }
  std::vector<InputView> views() const {
    std::vector<InputView> views;
    for (size_t i = 0; i < stored.size(); ++i) {
      views.push_back({dtype, widened[i].dims, widened[i].strides, stored[i].data()});
    }
    return views;
  }
  std::vector<uint16_t> narrowed(const std::vector<float>& values) const {
    std::vector<uint16_t> bits(values.size());
    rows.narrow(values.data(), bits.data(), static_cast<int64_t>(values.size()));
    return bits;
  }
};

// One rounding of what float32 gives.
TEST(Attention, SixteenBitsAreFloat32RoundedOnce) {
  plugin::registerBuiltinPlugins();
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (const Problem& p : {Problem{2, 3, 5, 7, 8, 4}, {1, 1, 1, 1, 1, 1}, {1, 2, 70, 33, 17, 19}}) {
      for (const bool transpose_k : {false, true}) {
        const std::vector<int64_t> key_dims =
            transpose_k ? std::vector{p.batch, p.heads, p.keys, p.size} : std::vector{p.batch, p.heads, p.size, p.keys};
        const Halves halves(
            dtype, {Operand({p.batch, p.heads, p.rows, p.size}, 1, {0, 1, 3, 2}), Operand(key_dims, 2, {0, 2, 1, 3}),
                    Operand({p.batch, p.heads, p.keys, p.out_size}, 3, {1, 3, 0, 2}), Operand({p.rows, p.keys}, 4)});
        const std::vector<uint16_t> wanted = halves.narrowed(run(halves.widened, transpose_k, p, 1));
        Attributes fields;
        fields.set("namespace", std::string("torchtrt"));
        fields.set("type", std::string("Attention"));
        fields.set("scale", 0.25);
        fields.set("transpose_k", transpose_k);
        const auto attention = plugin::PluginRegistry::global().create(fields);
        const std::vector<int64_t> dims = {p.batch, p.heads, p.rows, p.out_size}, strides = denseStrides(dims);
        for (const int threads : {1, 3}) {
          std::vector<uint16_t> got(wanted.size(), uint16_t{0xFFFF});
          const std::vector<OutputView> outputs = {{dtype, dims, strides, got.data()}};
          attention->enqueue(halves.views(), outputs, nullptr, threads);
          EXPECT_EQ(got, wanted) << toString(dtype) << " of " << p.rows << " rows on " << threads << " threads";
          std::vector<InputView> inputs = halves.views();
          inputs[3] = halves.widened[3].view();  // a mask in float32
          attention->enqueue(inputs, outputs, nullptr, threads);
          EXPECT_EQ(got, wanted);
        }
      }
    }
  }
}

// q, k and v as the heads of one tensor's channels: [batch, rows, 3 * heads * size], or with the sequence first.
struct InChannels {
  Problem p;
  bool sequence_first;

  Attributes fields(bool safe) const {
    Attributes fields;
    fields.set("namespace", std::string("torchtrt"));
    fields.set("type", std::string("Attention"));
    fields.set("scale", 0.25);
    fields.set("transpose_k", true);
    fields.set("safe", safe);
    fields.set("heads", p.heads);
    fields.set("head_size", p.size);
    fields.set("value_size", p.out_size);
    fields.set("q_channel", int64_t{1});
    fields.set("k_channel", 1 + p.heads * p.size);
    fields.set("v_channel", 1 + 2 * p.heads * p.size);
    fields.set("sequence_first", sequence_first);
    return fields;
  }
  int64_t channels() const {
    return 1 + p.heads * (2 * p.size + p.out_size);
  }
  // The heads that begin at a channel, as the matrices that the other form takes.
  Operand heads(const Operand& x, int64_t channel, int64_t size) const {
    Operand result({p.batch, p.heads, p.rows, size}, 0);
    for (size_t i = 0; i < result.values.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const int64_t e = at % size, row = at / size % p.rows, h = at / size / p.rows % p.heads,
                    b = at / size / p.rows / p.heads;
      const int64_t place = sequence_first ? row * p.batch + b : b * p.rows + row;
      result.values[i] = x.values[static_cast<size_t>(place * channels() + channel + h * size + e)];
    }
    return result;
  }
};

TEST(Attention, ReadsHeadsSideBySideAndWritesThemSo) {
  for (const Problem& p :
       {Problem{2, 3, 49, 49, 32, 32}, {1, 2, 7, 7, 5, 3}, {3, 2, 65, 65, 16, 24}, {2, 1, 1, 1, 4, 4}}) {
    for (const bool sequence_first : {false, true}) {
      const InChannels form{p, sequence_first};
      const std::vector<int64_t> dims = sequence_first ? std::vector{p.rows, p.batch, form.channels()}
                                                       : std::vector{p.batch, p.rows, form.channels()};
      const Operand x(dims, 1);
      // The bias repeats over the batch, the mask of windows over its halves where it has any.
      const int64_t windows = p.batch % 2 == 0 ? p.batch / 2 : p.batch;
      const Operand bias({1, p.heads, p.rows, p.rows}, 2), mask({windows, 1, p.rows, p.rows}, 3);
      std::vector<Operand> matrices = {form.heads(x, 1, p.size), form.heads(x, 1 + p.heads * p.size, p.size),
                                       form.heads(x, 1 + 2 * p.heads * p.size, p.out_size)};
      const auto call = [&](int threads) {
        plugin::registerBuiltinPlugins();
        const auto attention = plugin::PluginRegistry::global().create(form.fields(false));
        const std::vector<InputView> inputs = {x.view(), x.view(), x.view(), bias.view(), mask.view()};
        std::vector<int64_t> out_dims = dims;
        out_dims[2] = p.heads * p.out_size;
        const std::vector<int64_t> strides = denseStrides(out_dims);
        std::vector<float> out(static_cast<size_t>(p.batch * p.rows * out_dims[2]), NAN);
        const std::vector<OutputView> outputs = {{DType::kFloat32, out_dims, strides, out.data()}};
        attention->enqueue(inputs, outputs, nullptr, threads);
        return out;
      };
      const std::vector<float> got = call(1);
      EXPECT_EQ(call(2), got);
      EXPECT_EQ(call(3), got);
      for (int64_t b = 0; b < p.batch; ++b) {
        for (int64_t h = 0; h < p.heads; ++h) {
          for (int64_t row = 0; row < p.rows; ++row) {
            std::vector<double> weights;
            for (int64_t key = 0; key < p.rows; ++key) {
              double score = 0;
              for (int64_t d = 0; d < p.size; ++d) {
                score += matrices[0].at(b, h, row, d) * matrices[1].at(b, h, key, d);
              }
              weights.push_back(std::exp(score * 0.25 + bias.at(0, h, row, key) + mask.at(b % windows, 0, row, key)));
            }
            const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
            for (int64_t e = 0; e < p.out_size; ++e) {
              double value = 0;
              for (int64_t key = 0; key < p.rows; ++key) {
                value += weights[static_cast<size_t>(key)] / sum * matrices[2].at(b, h, key, e);
              }
              const int64_t place = sequence_first ? row * p.batch + b : b * p.rows + row;
              ASSERT_NEAR(got[static_cast<size_t>((place * p.heads + h) * p.out_size + e)], value, 1e-5)
                  << "batch " << b << ", head " << h << ", row " << row << " of " << p.rows;
            }
          }
        }
      }
    }
  }
}

TEST(Attention, ReadsHeadsOfSixteenBitsSideBySide) {
  plugin::registerBuiltinPlugins();
  for (const bool sequence_first : {false, true}) {
    const InChannels form{{3, 2, 33, 33, 16, 24}, sequence_first};
    const Problem& p = form.p;
    const std::vector<int64_t> dims =
        sequence_first ? std::vector{p.rows, p.batch, form.channels()} : std::vector{p.batch, p.rows, form.channels()};
    std::vector<int64_t> out_dims = dims;
    out_dims[2] = p.heads * p.out_size;
    const std::vector<int64_t> strides = denseStrides(out_dims);
    const Halves halves(DType::kBFloat16, {Operand(dims, 1)});
    const auto attention = plugin::PluginRegistry::global().create(form.fields(false));
    std::vector<float> wide(static_cast<size_t>(p.batch * p.rows * out_dims[2]), NAN);
    const InputView floats = halves.widened[0].view();
    const std::vector<OutputView> float_outputs = {{DType::kFloat32, out_dims, strides, wide.data()}};
    attention->enqueue(std::vector{floats, floats, floats}, float_outputs, nullptr, 1);
    std::vector<uint16_t> got(wide.size(), uint16_t{0xFFFF});
    const InputView bits = halves.views()[0];
    const std::vector<OutputView> outputs = {{DType::kBFloat16, out_dims, strides, got.data()}};
    attention->enqueue(std::vector{bits, bits, bits}, outputs, nullptr, 2);
    EXPECT_EQ(got, halves.narrowed(wide));
  }
}

TEST(Attention, TakesOneDtypeForAllButMasks) {
  plugin::registerBuiltinPlugins();
  const auto attention = plugin::PluginRegistry::global().create(InChannels{{1, 1, 1, 1, 1, 1}, false}.fields(false));
  const auto takes = [&](std::vector<DType> dtypes) { return attention->supports(dtypes); };
  EXPECT_TRUE(takes({DType::kBFloat16, DType::kBFloat16, DType::kBFloat16, DType::kBool, DType::kBFloat16}));
  EXPECT_TRUE(takes({DType::kFloat16, DType::kFloat16, DType::kFloat16}));
  EXPECT_FALSE(takes({DType::kFloat16, DType::kFloat16, DType::kBFloat16}));
  EXPECT_TRUE(takes({DType::kFloat16, DType::kFloat16, DType::kFloat16, DType::kFloat32}));
  EXPECT_FALSE(takes({DType::kFloat32, DType::kFloat32, DType::kFloat32, DType::kFloat16}));
  EXPECT_FALSE(takes({DType::kFloat64, DType::kFloat64, DType::kFloat64}));
}

TEST(Attention, ChoosesKeysAndGivesZeroWhereThereAreNone) {
  plugin::registerBuiltinPlugins();
  constexpr int64_t kKeys = 19;
  const Operand q({1, 1, 3, 4}, 1), k({1, 1, kKeys, 4}, 2), v({1, 1, kKeys, 2}, 3);
  // The first row keeps key 17 alone, which lies behind the last whole vector; the second none; the third all.
  std::vector<uint8_t> keep(3 * kKeys, 0);
  keep[17] = 1;
  std::fill(keep.begin() + 2 * kKeys, keep.end(), uint8_t{1});
  const std::vector<int64_t> mask_dims = {3, kKeys}, mask_strides = {kKeys, 1}, out_dims = {1, 1, 3, 2},
                             out_strides = {6, 6, 2, 1};
  for (const bool safe : {false, true}) {
    Attributes fields;
    fields.set("namespace", std::string("torchtrt"));
    fields.set("type", std::string("Attention"));
    fields.set("scale", 1.0);
    fields.set("transpose_k", true);
    fields.set("safe", safe);
    Operand spoilt = k;
    spoilt.values[4 * 3] = NAN;  // of key 3: only the third row meets it
    std::vector<float> out(6, -1.0F);
    const std::vector<InputView> inputs = {
        q.view(), spoilt.view(), v.view(), {DType::kBool, mask_dims, mask_strides, keep.data()}};
    const std::vector<OutputView> outputs = {{DType::kFloat32, out_dims, out_strides, out.data()}};
    plugin::PluginRegistry::global().create(fields)->enqueue(inputs, outputs, nullptr, 1);
    EXPECT_FLOAT_EQ(out[0], v.values[2 * 17]);
    EXPECT_FLOAT_EQ(out[1], v.values[2 * 17 + 1]);
    EXPECT_EQ(std::isnan(out[2]), !safe);
    EXPECT_TRUE(!safe || (out[2] == 0 && out[3] == 0));
    EXPECT_TRUE(std::isnan(out[4]) && std::isnan(out[5]));
  }
}

TEST(Attention, GivesNaNForInfiniteScoresAndZerosForNoKeys) {
  const Problem p = {1, 1, 2, 3, 4, 2};
  std::vector<Operand> operands = {Operand({1, 1, 2, 4}, 1), Operand({1, 1, 3, 4}, 2), Operand({1, 1, 3, 2}, 3)};
  operands[0].values = {1, 0, 0, 0, 0, 1, 0, 0};
  operands[1].values[0] = INFINITY;
  operands[1].values[1] = operands[1].values[5] = operands[1].values[9] = 0;
  const std::vector<float> got = run(operands, true, p, 1);
  EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[1]));
  const Problem none = {1, 1, 2, 0, 4, 2};
  EXPECT_EQ(run({Operand({1, 1, 2, 4}, 1), Operand({1, 1, 0, 4}, 2), Operand({1, 1, 0, 2}, 3)}, true, none, 1),
            std::vector<float>(4, 0.0F));
}

TEST(Attention, RefusesHeadsThatChannelsDoNotHold) {
  plugin::registerBuiltinPlugins();
  const InChannels form{{2, 3, 5, 5, 4, 4}, false};
  const auto attention = plugin::PluginRegistry::global().create(form.fields(false));
  const auto infer = [&](const Dims& x, const Dims& v, const Dims& mask) {
    const std::vector<TensorType> inputs = {
        {DType::kFloat32, x}, {DType::kFloat32, x}, {DType::kFloat32, v}, {DType::kBool, mask}};
    return attention->inferOutputs(inputs)[0].dims;
  };
  EXPECT_EQ(infer({2, 5, 37}, {2, 5, 37}, {2, 1, 5, 5}), (Dims{2, 5, 12}));
  EXPECT_EQ(infer({4, 5, 37}, {4, 5, 37}, {2, 1, 5, 5}), (Dims{4, 5, 12}));
  EXPECT_THROW(infer({2, 5, 36}, {2, 5, 36}, {1, 5}), EngineError);
  EXPECT_THROW(infer({2, 5, 37}, {2, 6, 37}, {1, 5}), EngineError);
  EXPECT_THROW(infer({2, 5, 37}, {1, 5, 37}, {1, 5}), EngineError);
  EXPECT_THROW(infer({3, 5, 37}, {3, 5, 37}, {2, 1, 5, 5}), EngineError);
  EXPECT_THROW(infer({2, 3, 5, 37}, {2, 3, 5, 37}, {1, 5}), EngineError);
  Attributes fields = form.fields(false);
  fields.set("transpose_k", false);
  EXPECT_THROW(plugin::PluginRegistry::global().create(fields), EngineError);
}

TEST(Attention, RefusesFieldsOutOfRange) {
  plugin::registerBuiltinPlugins();
  const InChannels form{{2, 3, 5, 5, 4, 4}, false};
  const auto with = [&](const char* name, int64_t value) {
    Attributes fields = form.fields(false);
    fields.set(name, value);
    return fields;
  };
  const auto create = [](const Attributes& fields) { return plugin::PluginRegistry::global().create(fields); };
  for (const char* name : {"heads", "head_size", "value_size", "q_channel", "k_channel", "v_channel"}) {
    EXPECT_THROW(create(with(name, -1)), EngineError);
    EXPECT_THROW(create(with(name, int64_t{1} << 62)), EngineError) << name << " overflows times another";
  }
  EXPECT_THROW(create(with("head_size", 0)), EngineError);
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
