// Layers of concrete shapes, as rules see them on symbols and on numbers, and an example of every kind.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/layer_rules/layer_view.h"
#include "base/layer_spec.h"

namespace torchtrt::layer_rules {

using Ints = std::vector<int64_t>;
using Doubles = std::vector<double>;

struct Operand {
  bool present = true;
  DType dtype = DType::kFloat32;
  Ints dims;
};

struct Layer {
  std::string kind;
  std::vector<Operand> operands;
  std::map<std::string, AttributeValue> attributes;  // without those that have defaults
};

struct TableRow {
  int min_operands = 0, max_operands = 0;
  AttributeSpecs attributes;
};

inline const std::map<std::string, TableRow>& layerTable() {
  static const auto* const table = new std::map<std::string, TableRow>{
#define LAYER(ENUM, NAME, MIN, MAX, OUTPUTS, ATTRIBUTES, MEANING) {NAME, {MIN, MAX, parseAttributeSpecs(ATTRIBUTES)}},
#include "torchtrt/layer_table.def"
#undef LAYER
  };
  return *table;
}

template <typename D>
class ConcreteView : public LayerView<D> {
 public:
  using typename LayerView<D>::Dims;

  explicit ConcreteView(const Layer& layer) {
    for (const Operand& operand : layer.operands) {
      operands_.push_back({operand.present, operand.dtype, converted(operand.dims)});
    }
    for (const AttributeSpec& spec : layerTable().at(layer.kind).attributes.list) {
      if (spec.fallback) {
        attributes_.set(spec.name, *spec.fallback);
      }
    }
    for (const auto& [name, value] : layer.attributes) {
      if (const auto* dims = std::get_if<torchtrt::Dims>(&value)) {
        dims_.emplace(name, converted(dims->constants()));
      } else {
        attributes_.set(name, value);
      }
    }
  }
  int operands() const override {
    return static_cast<int>(operands_.size());
  }
  bool has(int operand) const override {
    return operand < operands() && operands_[static_cast<size_t>(operand)].present;
  }
  DType dtype(int operand) const override {
    return operands_.at(static_cast<size_t>(operand)).dtype;
  }
  const Dims& dims(int operand) const override {
    return operands_.at(static_cast<size_t>(operand)).dims;
  }
  const Attributes& attributes() const override {
    return attributes_;
  }
  const Dims* findDims(std::string_view attribute) const override {
    const auto found = dims_.find(attribute);
    return found == dims_.end() ? nullptr : &found->second;
  }
  std::pair<int64_t, int64_t> range(const D& dim) const override {
    if constexpr (kIsSymbolic<D>) {
      return {dim.constant(), dim.constant()};
    } else {
      return {dim.clamped(), dim.clamped()};
    }
  }
  void noteUndecided(const D& /*a*/, const D& /*b*/) const override {
    ADD_FAILURE() << "numbers are decided";
  }

 private:
  struct Converted {
    bool present;
    DType dtype;
    Dims dims;
  };
  static Dims converted(const Ints& dims) {
    return Dims(std::vector<D>(dims.begin(), dims.end()));
  }
  std::vector<Converted> operands_;
  Attributes attributes_;
  std::map<std::string, Dims, std::less<>> dims_;
};

inline Operand floats(const Ints& dims) {
  return {true, DType::kFloat32, dims};
}

inline Operand of(DType dtype, const Ints& dims) {
  return {true, dtype, dims};
}

inline const Operand kAbsent = {false, DType::kFloat32, {}};

struct Example {
  Layer layer;
  const char* outputs;
};

inline std::map<std::string, AttributeValue> windowed(std::map<std::string, AttributeValue> more = {}) {
  more.insert(
      {{"stride", Ints{2, 1}}, {"pre_padding", Ints{1, 0}}, {"post_padding", Ints{0, 1}}, {"dilation", Ints{1, 1}}});
  return more;
}

// A layer of every kind that keeps its rules.
inline const std::vector<Example>& examples() {
  using std::string;
  const DType i8 = DType::kInt8, u8 = DType::kUInt8, i64 = DType::kInt64, b = DType::kBool;
  static const std::vector<Example> all = {
      {{"convolution",
        {floats({2, 4, 6, 5}), floats({6, 2, 3, 2}), floats({6}), floats({2, 6, 3, 5})},
        windowed({{"groups", int64_t{2}}, {"activation", string("relu")}})},
       "float32[2, 6, 3, 5] "},
      {{"convolution",
        {of(DType::kBFloat16, {2, 4, 6, 5}), of(DType::kBFloat16, {6, 2, 3, 2}), floats({6}),
         of(DType::kBFloat16, {2, 6, 3, 5}), floats({6})},
        windowed({{"groups", int64_t{2}}})},
       "bfloat16[2, 6, 3, 5] "},
      {{"deconvolution",
        {floats({2, 4, 3, 5}), floats({4, 3, 3, 2}), floats({6})},
        windowed({{"groups", int64_t{2}}, {"output_padding", Ints{1, 0}}})},
       "float32[2, 6, 7, 5] "},
      {{"pooling",
        {floats({2, 3, 6, 5})},
        windowed({{"op", string("max")}, {"window", Ints{2, 2}}, {"return_indices", true}, {"ceil_mode", true}})},
       "float32[2, 3, 4, 5] int64[2, 3, 4, 5] "},
      {{"pooling", {floats({2, 3, 6, 5})}, windowed({{"op", string("average")}, {"window", Ints{2, 2}}})},
       "float32[2, 3, 3, 5] "},
      {{"adaptive_pooling", {floats({2, 3, 6, 5})}, {{"op", string("average")}, {"output_size", Dims{2, 3}}}},
       "float32[2, 3, 2, 3] "},
      {{"resize",
        {floats({2, 3, 6, 5})},
        {{"mode", string("cubic")}, {"size", Dims{4, 7}}, {"scales", Doubles{0.5, 1.5}}}},
       "float32[2, 3, 4, 7] "},
      {{"grid_sample", {floats({2, 3, 6, 5}), floats({2, 4, 7, 2})}, {}}, "float32[2, 3, 4, 7] "},
      {{"grid_sample", {floats({2, 3, 6, 5, 4}), floats({2, 4, 7, 1, 3})}, {{"mode", string("nearest")}}},
       "float32[2, 3, 4, 7, 1] "},
      {{"activation", {floats({2, 3})}, {{"op", string("sigmoid")}}}, "float32[2, 3] "},
      {{"parametric_relu", {floats({2, 3}), floats({3})}, {}}, "float32[2, 3] "},
      {{"unary", {floats({2, 3})}, {{"op", string("isnan")}}}, "bool[2, 3] "},
      {{"elementwise", {floats({2, 1, 3}), floats({4, 1})}, {{"op", string("sum")}, {"activation", string("tanh")}}},
       "float32[2, 4, 3] "},
      {{"select", {of(b, {3}), floats({2, 1}), floats({2, 3})}, {}}, "float32[2, 3] "},
      {{"cast", {floats({2, 3})}, {{"to", DType::kInt32}}}, "int32[2, 3] "},
      {{"identity", {floats({2, 3})}, {}}, "float32[2, 3] "},
      {{"reformat", {floats({2, 3})}, {}}, "float32[2, 3] "},
      {{"fill", {}, {{"op", string("arange")}, {"dims", Dims{5}}, {"dtype", i64}}}, "int64[5] "},
      {{"shuffle",
        {floats({2, 3, 4})},
        {{"first_permutation", Ints{1, 0, 2}}, {"reshape_dims", Dims{6, 4}}, {"second_permutation", Ints{1, 0}}}},
       "float32[4, 6] "},
      {{"slice", {floats({5, 4})}, {{"start", Dims{4, 1}}, {"size", Dims{3, 2}}, {"stride", Ints{-2, 1}}}},
       "float32[3, 2] "},
      {{"expand", {floats({3, 1})}, {{"dims", Dims{2, 3, 4}}}}, "float32[2, 3, 4] "},
      {{"concatenation", {floats({2, 3}), floats({2, 1}), floats({2, 4})}, {{"axis", int64_t{1}}}}, "float32[2, 8] "},
      {{"gather", {floats({2, 3, 4}), of(i64, {5, 6})}, {{"axis", int64_t{1}}}}, "float32[2, 5, 6, 4] "},
      {{"gather", {floats({2, 3}), of(i64, {2, 2})}, {{"axis", int64_t{1}}, {"mode", string("element")}}},
       "float32[2, 2] "},
      {{"scatter", {floats({5, 3}), of(i64, {2}), floats({2, 3})}, {{"axis", int64_t{0}}}}, "float32[5, 3] "},
      {{"scatter", {of(b, {5, 3}), of(i64, {2}), of(b, {2, 3})}, {{"axis", int64_t{0}}}}, "bool[5, 3] "},
      {{"scatter",
        {floats({5, 3}), of(i64, {2, 2}), floats({2, 2})},
        {{"axis", int64_t{0}}, {"mode", string("element")}, {"reduce", string("sum")}}},
       "float32[5, 3] "},
      {{"padding", {floats({2, 3})}, {{"pre", Dims{1, 2}}, {"post", Dims{0, 1}}, {"mode", string("reflect")}}},
       "float32[3, 6] "},
      {{"padding", {floats({2, 3})}, {{"pre", Dims{-1, 2}}, {"post", Dims{0, -1}}}}, "float32[1, 4] "},
      {{"matrix_multiply", {floats({4, 3}), floats({3, 6})}, {}}, "float32[4, 6] "},
      {{"matrix_multiply",
        {floats({2, 1, 4, 3}), floats({5, 4, 6}), floats({6}), floats({2, 5, 3, 6})},
        {{"transpose_a", true}}},
       "float32[2, 5, 3, 6] "},
      {{"softmax", {floats({2, 3})}, {{"axis", int64_t{1}}}}, "float32[2, 3] "},
      {{"reduce", {floats({2, 3, 4})}, {{"op", string("max")}, {"axes", Ints{0, 2}}, {"keep_dims", true}}},
       "float32[1, 3, 1] "},
      {{"normalization",
        {floats({2, 4, 3}), floats({4}), floats({4}), floats({4}), floats({4})},
        {{"mode", string("batch")}, {"eps", 0.5}}},
       "float32[2, 4, 3] "},
      {{"normalization",
        {floats({2, 4, 3}), floats({4}), kAbsent},
        {{"mode", string("group")}, {"eps", 0.5}, {"groups", int64_t{2}}}},
       "float32[2, 4, 3] "},
      {{"normalization",
        {floats({2, 4, 3}), floats({4, 3})},
        {{"mode", string("layer")}, {"eps", 0.0}, {"normalized_rank", int64_t{2}}}},
       "float32[2, 4, 3] "},
      {{"topk", {floats({2, 5})}, {{"k", Dims{3}}, {"axis", int64_t{1}}}}, "float32[2, 3] int64[2, 3] "},
      {{"cumulative", {floats({2, 5})}, {{"op", string("max")}, {"axis", int64_t{1}}}}, "float32[2, 5] int64[2, 5] "},
      {{"recurrent",
        {floats({5, 2, 12}), floats({12, 3}), floats({12}), floats({2, 3}), floats({2, 3})},
        {{"op", string("lstm")}}},
       "float32[5, 2, 3] float32[2, 3] float32[2, 3] "},
      {{"recurrent", {floats({5, 2, 9}), floats({9, 3}), kAbsent, floats({2, 3})}, {{"op", string("gru")}}},
       "float32[5, 2, 3] float32[2, 3] "},
      {{"quantize",
        {floats({2, 3})},
        {{"to", u8}, {"scale", 0.5}, {"zero_point", int64_t{3}}, {"low", int64_t{0}}, {"high", int64_t{255}}}},
       "uint8[2, 3] "},
      {{"dequantize", {of(i8, {2, 3})}, {{"scale", 0.5}, {"zero_point", int64_t{-3}}}}, "float32[2, 3] "},
      {{"quantized_convolution",
        {of(u8, {2, 4, 6, 5}), of(i8, {6, 2, 3, 2}), floats({6}), floats({6}), of(i8, {2, 6, 3, 5})},
        windowed({{"groups", int64_t{2}}, {"to", DType::kFloat32}})},
       "float32[2, 6, 3, 5] "},
      {{"quantized_matrix_multiply",
        {of(u8, {2, 3, 4}), of(i8, {4, 5}), floats({5}), kAbsent, floats({2, 3, 5})},
        {{"to", i8}, {"low", int64_t{-127}}, {"high", int64_t{127}}}},
       "int8[2, 3, 5] "},
      {{"integer_weight_matrix_multiply",
        {floats({2, 3, 8}), of(u8, {5, 4}), floats({5, 2}), floats({5, 2}), floats({5}), floats({2, 3, 5})},
        {{"bits", int64_t{4}}, {"group_size", int64_t{4}}}},
       "float32[2, 3, 5] "},
      {{"integer_weight_matrix_multiply",
        {floats({3, 8}), of(i8, {5, 8}), floats({5, 1})},
        {{"bits", int64_t{8}}, {"group_size", int64_t{8}}}},
       "float32[3, 5] "},
  };
  return all;
}

}  // namespace torchtrt::layer_rules
