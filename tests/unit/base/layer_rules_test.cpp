// The rules of layers on symbols (D = Dim) and on numbers (D = Number): for concrete shapes, both are of one mind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "base/concrete_layers.h"
#include "base/layer_rules/kinds.h"

namespace torchtrt::layer_rules {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

// Computes as PyTorch does (pooling_output_shape in aten/src/ATen/native/Pool.h).
int64_t pytorchPoolingSize(int64_t input, int64_t window, int64_t pre, int64_t post, int64_t stride, int64_t dilation,
                           bool ceil_mode) {
  const auto floor_div = [](int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); };
  int64_t size = floor_div(input + pre + post - dilation * (window - 1) - 1 + (ceil_mode ? stride - 1 : 0), stride) + 1;
  if (ceil_mode && (size - 1) * stride >= input + pre) {
    --size;
  }
  return size;
}

TEST(PoolingSize, IsPyTorchsForAllSmallWindows) {
  int compared = 0;
  for (int64_t window = 1; window <= 4; ++window) {
    for (int64_t stride = 1; stride <= 5; ++stride) {
      for (int64_t dilation = 1; dilation <= 2; ++dilation) {
        const int64_t reach = dilation * (window - 1);
        for (int64_t pre = 0; pre <= std::min<int64_t>(reach, 3); ++pre) {
          for (int64_t post = 0; post <= std::min<int64_t>(reach, 3); ++post) {
            for (const bool ceil_mode : {false, true}) {
              const Window<Dim> on_symbols = {window, stride, pre, post, dilation};
              const Window<Number> on_numbers = {window, stride, pre, post, dilation};
              const Dim symbolic = poolingSize(Dim::symbol("s"), on_symbols, ceil_mode);
              for (int64_t input = 1; input <= 20; ++input) {
                const int64_t expected = pytorchPoolingSize(input, window, pre, post, stride, dilation, ceil_mode);
                ASSERT_EQ(symbolic.evaluate([&](const std::string&) { return input; }), expected)
                    << symbolic.toString() << " window " << window << " stride " << stride << " dilation " << dilation
                    << " padding " << pre << "," << post << " ceil " << ceil_mode << " input " << input;
                ASSERT_EQ(poolingSize<Dim>(input, on_symbols, ceil_mode), Dim(expected));
                ASSERT_EQ(poolingSize<Number>(input, on_numbers, ceil_mode), Number(expected));
                ++compared;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 5000);
}

// The first broken rule in all its words, else the outputs; `rule` is its name or "".
template <typename D>
std::string verdictOn(const Layer& layer, std::string& rule) {
  const ConcreteView<D> view(layer);
  const Kind<D>& kind = *findKind<D>(layer.kind);
  for (const Rule<D>& each : kind.rules) {
    if (const Problem problem = each.check(view)) {
      rule = each.name;
      return rule + ": " + problem.text + " / " + problem.damage + (problem.is_unknown_word ? " (unknown)" : "");
    }
  }
  rule.clear();
  std::string outputs;
  for (const auto& type : kind.outputs(view)) {
    outputs += std::string(toString(type.dtype)) + type.dims.toString() + " ";
  }
  return outputs;
}

TEST(LayerRules, AreOfEveryKindButConstantsAndPlugins) {
  std::set<std::string> with_rules;
  std::set<std::string> with_example;
  for (const Kind<Dim>& kind : kinds<Dim>()) {
    EXPECT_TRUE(with_rules.insert(kind.name).second) << kind.name;
    EXPECT_NE(findKind<Number>(kind.name), nullptr);
  }
  for (const Example& example : examples()) {
    with_example.insert(example.layer.kind);
  }
  EXPECT_EQ(with_rules, with_example);
  with_rules.insert({"constant", "plugin_v2"});
  std::set<std::string> of_table;
  for (const auto& [name, row] : layerTable()) {
    of_table.insert(name);
  }
  EXPECT_EQ(with_rules, of_table);
  EXPECT_EQ(findKind<Dim>("constant"), nullptr);
}

TEST(LayerRules, HoldForAnExampleOfEveryKind) {
  std::string rule;
  for (const Example& example : examples()) {
    EXPECT_EQ(verdictOn<Dim>(example.layer, rule), example.outputs) << example.layer.kind;
    EXPECT_EQ(verdictOn<Number>(example.layer, rule), example.outputs) << example.layer.kind;
  }
}

// A few changes of an example.
class Changes {
 public:
  explicit Changes(uint64_t seed) : random_(seed) {}

  Layer changed(Layer layer) {
    for (int64_t i = pick(1, 4); i > 0; --i) {
      if (!layer.operands.empty() && pick(0, 1) == 0) {
        changeOperand(layer);
      } else {
        changeAttribute(layer);
      }
    }
    return layer;
  }
  size_t index(size_t count) {
    return static_cast<size_t>(random_() % count);
  }

 private:
  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }

  void changeList(Ints& list, int64_t low, int64_t high) {
    const int64_t what = pick(0, 5);
    if (what == 0) {
      list.insert(list.begin() + pick(0, static_cast<int64_t>(list.size())), pick(low, high));
    } else if (!list.empty() && what == 1) {
      list.erase(list.begin() + pick(0, static_cast<int64_t>(list.size()) - 1));
    } else if (!list.empty()) {
      int64_t& entry = list[index(list.size())];
      entry = what == 2 ? entry + pick(-1, 1) : pick(low, high);
    }
  }

  DType dtype() {
    return static_cast<DType>(pick(0, kDTypeCount - 1));
  }

  static bool isOptional(const Layer& layer, size_t operand) {
    const TableRow& row = layerTable().at(layer.kind);
    return row.max_operands >= 0 && operand >= static_cast<size_t>(row.min_operands);
  }

  void changeOperand(Layer& layer) {
    const size_t at = index(layer.operands.size());
    Operand& operand = layer.operands[at];
    const int64_t what = pick(0, 7);
    if (what == 0) {
      operand.dtype = dtype();
    } else if (what == 1) {
      const DType of_all = dtype();
      for (Operand& each : layer.operands) {
        each.dtype = of_all;
      }
    } else if (what == 2 && isOptional(layer, at)) {
      operand.present = !operand.present;
    } else if (what == 3 && !operand.dims.empty()) {
      const int64_t old_size = operand.dims[index(operand.dims.size())];
      const int64_t new_size = pick(0, 1) == 0 ? pick(0, 7) : pick(0, 1 << 20);
      for (Operand& each : layer.operands) {
        std::replace(each.dims.begin(), each.dims.end(), old_size, new_size);
      }
    } else {
      changeList(operand.dims, 0, 7);
      for (int64_t& dim : operand.dims) {
        dim = std::max<int64_t>(dim, 0);
      }
    }
  }

  std::string word(const AttributeSpec& spec) {
    std::vector<std::string> words = spec.choices;
    if (words.empty()) {
      words = {"swish", "", "sum", "avg", "all"};
      for (const auto table : {activations(), unaryOperations(), binaryOperations()}) {
        words.emplace_back(table[index(table.size())].name);
      }
    }
    return words[index(words.size())];
  }

  void changeAttribute(Layer& layer) {
    const std::vector<AttributeSpec>& specs = layerTable().at(layer.kind).attributes.list;
    if (specs.empty()) {
      return;
    }
    const AttributeSpec& spec = specs[index(specs.size())];
    const auto given = layer.attributes.find(spec.name);
    AttributeValue value = given != layer.attributes.end() ? given->second
                           : spec.fallback                 ? *spec.fallback
                                                           : AttributeValue(Dims{});
    if (auto* const flag = std::get_if<bool>(&value)) {
      *flag = !*flag;
    } else if (auto* const number = std::get_if<int64_t>(&value)) {
      *number = pick(0, 3) == 0 ? pick(-130, 260) : pick(-1, 4);
    } else if (auto* const real = std::get_if<double>(&value)) {
      const Doubles reals = {0, -1, 0.5, 1e39, std::numeric_limits<double>::quiet_NaN()};
      *real = reals[index(reals.size())];
    } else if (auto* const text = std::get_if<std::string>(&value)) {
      *text = word(spec);
    } else if (auto* const type = std::get_if<DType>(&value)) {
      *type = dtype();
    } else if (auto* const ints = std::get_if<Ints>(&value)) {
      changeList(*ints, -2, 4);
    } else if (auto* const doubles = std::get_if<Doubles>(&value)) {
      doubles->push_back(doubles->empty() ? 1 : -1);
    } else {
      Ints dims = std::get<Dims>(value).constants();
      changeList(dims, -2, 7);
      value = Dims::of(dims);
    }
    layer.attributes[spec.name] = value;
  }

  std::mt19937_64 random_;
};

// True if networks and plans differ: only a network has 0 and -1 in reshape_dims, and only it refuses to look for the
// largest or smallest of nothing (see MovingRules and ReducingRules).
bool isNetworksAlone(const Layer& layer, const std::string& rule) {
  const auto wanted = layer.attributes.find("reshape_dims");
  const Ints dims = wanted == layer.attributes.end() ? Ints() : std::get<Dims>(wanted->second).constants();
  return rule == "not-empty" ||
         std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim == 0 || dim == -1; });
}

TEST(LayerRules, GiveOneVerdictOnSymbolsAndOnNumbers) {
  std::map<std::string, int> held;
  std::set<std::string> broken_rules;
  int left_out = 0;
  const int tries = 5000;
  for (const Example& example : examples()) {
    for (uint64_t seed = 1; seed <= tries; ++seed) {
      const Layer layer = Changes(seed).changed(example.layer);
      std::string rule;
      std::string rule_on_numbers;
      const std::string on_symbols = verdictOn<Dim>(layer, rule);
      const std::string on_numbers = verdictOn<Number>(layer, rule_on_numbers);
      if (isNetworksAlone(layer, rule)) {
        ++left_out;
      } else {
        ASSERT_EQ(on_symbols, on_numbers) << layer.kind << " seed " << seed;
      }
      held[layer.kind] += rule.empty() ? 1 : 0;
      broken_rules.insert(layer.kind + " " + rule);
    }
  }
  EXPECT_LT(left_out, tries);
  for (const Kind<Dim>& kind : kinds<Dim>()) {
    EXPECT_GT(held[kind.name], tries / 20) << kind.name;
    for (const Rule<Dim>& rule : kind.rules) {
      EXPECT_EQ(broken_rules.count(std::string(kind.name) + " " + rule.name), 1U) << kind.name << " " << rule.name;
    }
  }
}

// The attributes of a window that takes every place of 2 dims, and those given, which win.
std::map<std::string, AttributeValue> everyPlace(std::map<std::string, AttributeValue> given) {
  given.insert(
      {{"stride", Ints{1, 1}}, {"pre_padding", Ints{0, 0}}, {"post_padding", Ints{0, 0}}, {"dilation", Ints{1, 1}}});
  return given;
}

// Sums that leave int64 give no dim that a tensor can have.
TEST(LayerRules, MakeNoDimOfASumThatDoesNotFit) {
  const std::vector<Layer> layers = {
      {"concatenation", {floats({kHuge}), floats({kHuge}), floats({3})}, {{"axis", int64_t{0}}}},
      {"padding", {floats({kHuge})}, {{"pre", Dims{kHuge}}, {"post", Dims{3}}}},
      {"deconvolution",
       {floats({0, 1, kHuge, 1}), floats({1, 1, 1, 1})},
       everyPlace({{"stride", Ints{int64_t{1} << 40, 1}}, {"output_padding", Ints{0, 0}}})}};
  for (const Layer& layer : layers) {
    const ConcreteView<Number> view(layer);
    const Kind<Number>& kind = *findKind<Number>(layer.kind);
    for (const Rule<Number>& rule : kind.rules) {
      EXPECT_FALSE(rule.check(view)) << layer.kind << " " << rule.name;
    }
    const NumbersType output = kind.outputs(view)[0];
    EXPECT_TRUE(std::any_of(output.dims.begin(), output.dims.end(), [](const Number& dim) { return dim > kHuge; }))
        << layer.kind;
  }
}

TEST(LayerRules, RefuseSumsBehindTheEndOfInt64) {
  const std::vector<std::pair<Layer, const char*>> layers = {
      {{"slice", {floats({5})}, {{"start", Dims{4}}, {"size", Dims{kHuge}}, {"stride", Ints{kHuge}}}},
       "it reaches outside of its input"},
      {{"convolution", {floats({1, kHuge, 4, 4}), floats({2, kHuge, 1, 1})}, everyPlace({{"groups", int64_t{2}}})},
       "the kernel's channels are not the input's"},
      {{"convolution",
        {floats({1, 1, 4, 4}), floats({1, 1, kHuge, 1})},
        everyPlace({{"dilation", Ints{int64_t{1} << 40, 1}}})},
       "the window is larger than the padded input"},
      {{"shuffle", {floats({2, 3})}, {{"reshape_dims", Dims{kHuge, kHuge, kHuge, kHuge, kHuge}}}},
       "it reshapes [2, 3] to another number of elements"},
      {{"quantized_matrix_multiply",
        {of(DType::kInt8, {1, kHuge}), of(DType::kInt8, {kHuge, 5}), floats({5})},
        {{"to", DType::kFloat32}}},
       "its sums are too long for int32"}};
  for (const auto& [layer, damage] : layers) {
    std::string rule;
    EXPECT_THAT(verdictOn<Number>(layer, rule), ::testing::HasSubstr(damage)) << layer.kind;
  }
}

}  // namespace
}  // namespace torchtrt::layer_rules
