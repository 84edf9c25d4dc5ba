#include <algorithm>
#include <cmath>

#include "optimization/passes.h"
#include "optimization/shuffle_form.h"
#include "torchtrt/matchers.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// Each of these returns the tensor that the layer's output is always equal to, bit by bit, or null.

Tensor* identity(const Layer& layer) {
  return layer.getInput(0);
}

// True if every value of `narrow` is a value of `wide`.
bool holdsExactly(DType wide, DType narrow) {
  if (wide == narrow || narrow == DType::kBool) {
    return true;
  }
  const auto digits = [](DType dtype) {  // of a whole number, without sign
    switch (dtype) {
      case DType::kFloat64:
        return 53;
      case DType::kFloat32:
        return 24;
      case DType::kFloat16:
        return 11;
      case DType::kBFloat16:
        return 8;
      case DType::kInt64:
        return 63;
      case DType::kInt32:
        return 31;
      case DType::kInt16:
        return 15;
      case DType::kInt8:
        return 7;
      case DType::kUInt8:
        return 8;
      case DType::kBool:
        return 0;
    }
    return 0;
  };
  if (isFloating(narrow)) {
    // float16 has more digits than bfloat16 and less range, so neither holds the other.
    return wide == DType::kFloat64 || (wide == DType::kFloat32 && narrow != DType::kFloat64);
  }
  // uint8 has no negative values, and of bool only bool itself, above, is known to be 0 or 1.
  return wide != DType::kUInt8 && wide != DType::kBool && digits(wide) >= digits(narrow);
}

// cast to the same dtype; cast back from a dtype that held every value
Tensor* cast(const Layer& layer) {
  Tensor* input = layer.getInput(0);
  const DType to = layer.attributes().getDType("to");
  if (input->getType() == to) {
    return input;
  }
  const Layer* before = input->producer();
  if (before && before->getType() == LayerType::kCAST && before->getInput(0)->getType() == to &&
      holdsExactly(input->getType(), to)) {
    return before->getInput(0);
  }
  return nullptr;
}

Tensor* shuffle(const Layer& layer) {
  const Dims& dims = layer.getInput(0)->getDimensions();
  const auto form = ShuffleForm::of(layer);
  return form && form->simplified(dims).isIdentity() ? layer.getInput(0) : nullptr;
}

Tensor* slice(const Layer& layer) {
  const Dims& start = layer.attributes().getDims("start");
  const std::vector<int64_t>& stride = layer.attributes().getInts("stride");
  const bool from_zero = std::all_of(start.begin(), start.end(), [](const Dim& dim) { return dim == Dim(0); });
  const bool every = std::all_of(stride.begin(), stride.end(), [](int64_t step) { return step == 1; });
  return from_zero && every ? layer.getInput(0) : nullptr;
}

Tensor* padding(const Layer& layer) {
  const auto none = [&](const char* name) {
    const Dims& dims = layer.attributes().getDims(name);
    return std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim == Dim(0); });
  };
  return none("pre") && none("post") ? layer.getInput(0) : nullptr;
}

Tensor* concatenation(const Layer& layer) {
  return layer.getNbInputs() == 1 ? layer.getInput(0) : nullptr;
}

// windows of one element
Tensor* pooling(const Layer& layer) {
  const Attributes& attributes = layer.attributes();
  const auto all = [&](const char* name, int64_t value) {
    const std::vector<int64_t> values = attributes.getInts(name, {});
    return std::all_of(values.begin(), values.end(), [value](int64_t v) { return v == value; });
  };
  const bool whole = all("window", 1) && all("stride", 1) && all("pre_padding", 0) && all("post_padding", 0);
  return whole && attributes.getInt("divisor", 0) <= 1 && !attributes.getBool("return_indices", false)
             ? layer.getInput(0)
             : nullptr;
}

// every window is one element where input and output are of one size
Tensor* adaptivePooling(const Layer& layer) {
  return layer.attributes().getBool("return_indices", false) ? nullptr : layer.getInput(0);
}

// nearest to the same size; linear and cubic multiply neighbours by 0, which an infinity there does not survive
Tensor* resize(const Layer& layer) {
  const std::string& mode = layer.attributes().getString("mode");
  const AttributeValue* scales = layer.attributes().find("scales");
  const auto* values = scales ? std::get_if<std::vector<double>>(scales) : nullptr;
  const bool unscaled =
      !values || std::all_of(values->begin(), values->end(), [](double s) { return s == 0 || s == 1; });
  return (mode == "nearest" || mode == "nearest_exact") && unscaled ? layer.getInput(0) : nullptr;
}

Tensor* expand(const Layer& layer) {
  return layer.getInput(0);
}

Tensor* select(const Layer& layer) {
  return layer.getInput(1) == layer.getInput(2) ? layer.getInput(1) : nullptr;
}

// x * 1, x / 1, x ^ 1, x - 0, and x + 0 for integers. For floating x, -0.0 + 0.0 is 0.0 and -0.0 - -0.0 too, so only
// adding -0.0 and subtracting 0.0 change nothing.
Tensor* elementwise(const Layer& layer) {
  if (!m::match(layer, m::layer(LayerType::kELEMENTWISE).noActivation())) {
    return nullptr;
  }
  const std::string& op = layer.attributes().getString("op");
  for (int operand = 0; operand < 2; ++operand) {
    const auto value = m::uniformValue(*layer.getInput(1 - operand));
    const bool right = operand == 0;  // the constant is the right operand
    if (!value) {
      continue;
    }
    const bool is_floating = isFloating(layer.getInput(operand)->getType());
    const bool is_neutral_zero = *value == 0 && (!is_floating || std::signbit(*value) == (op == "sum"));
    const bool is_neutral = (op == "prod" && *value == 1) || (op == "sum" && is_neutral_zero) ||
                            (right && op == "sub" && is_neutral_zero) ||
                            (right && *value == 1 && (op == "div" || op == "pow")) ||
                            (right && *value == 1 && !is_floating && (op == "floor_div" || op == "trunc_div"));
    if (is_neutral) {
      return layer.getInput(operand);
    }
  }
  return nullptr;
}

struct Kind {
  LayerType type;
  Tensor* (*unchanged)(const Layer& layer);
};
constexpr Kind kKinds[] = {
    {LayerType::kIDENTITY, identity}, {LayerType::kCAST, cast},       {LayerType::kSHUFFLE, shuffle},
    {LayerType::kSLICE, slice},       {LayerType::kEXPAND, expand},   {LayerType::kCONCATENATION, concatenation},
    {LayerType::kPADDING, padding},   {LayerType::kPOOLING, pooling}, {LayerType::kADAPTIVE_POOLING, adaptivePooling},
    {LayerType::kRESIZE, resize},     {LayerType::kSELECT, select},   {LayerType::kELEMENTWISE, elementwise},
};

class RemoveNoOp : public PatternRewriter {
 public:
  explicit RemoveNoOp(const Kind& kind)
      : PatternRewriter(std::string("remove_") + network::layerInfo(kind.type).name, {kind.type}), kind_(kind) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    Tensor* same = kind_.unchanged(layer);
    const Tensor& output = *layer.getOutput(0);
    // Whatever the kind: a layer that changes shape or dtype, by broadcasting for instance, does something.
    if (!same || !(same->getDimensions() == output.getDimensions()) || same->getType() != output.getType()) {
      return false;
    }
    rewriter.replaceLayer(layer, {same});
    return true;
  }

 private:
  Kind kind_;
};

// cast(cast(x, wider), y) -> cast(x, y)
class SkipWideningCast : public PatternRewriter {
 public:
  SkipWideningCast() : PatternRewriter("skip_widening_cast", {LayerType::kCAST}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const Layer* before = nullptr;
    if (!m::match(layer, m::layer(LayerType::kCAST).input(0, m::layer(LayerType::kCAST).capture(&before)))) {
      return false;
    }
    Tensor* input = before->getInput(0);
    if (!holdsExactly(before->getOutput(0)->getType(), input->getType())) {
      return false;
    }
    Layer& direct = rewriter.create(LayerType::kCAST, {input}, layer.attributes());
    rewriter.replaceLayer(layer, {direct.getOutput(0)});
    return true;
  }
};

}  // namespace

PassPtr createRemoveNoOps(const Options&) {
  auto pass = std::make_unique<PatternPass>("remove_no_ops");
  for (const Kind& kind : kKinds) {
    pass->add<RemoveNoOp>(kind);
  }
  pass->add<SkipWideningCast>();
  return pass;
}

}  // namespace torchtrt::optimization
