#include "optimization/passes.h"
#include "torchtrt/matchers.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// A layer of one or two operands in place of the matched one.
struct Simpler {
  LayerType type;
  const char* op;
  std::vector<Tensor*> operands;
};

// x ^ 2 -> square(x), x ^ -1 -> reciprocal(x), floating x
std::optional<Simpler> power(const Layer& layer) {
  Tensor* x = nullptr;
  const auto to = [&](double exponent) {
    return m::match(layer, m::elementwise("pow").input(0, m::tensor(&x)).input(1, m::scalar(exponent)));
  };
  if (!isFloating(layer.getOutput(0)->getType())) {
    return std::nullopt;
  }
  if (to(2)) {
    return Simpler{LayerType::kUNARY, "square", {x}};
  }
  if (to(-1)) {
    return Simpler{LayerType::kUNARY, "reciprocal", {x}};
  }
  return std::nullopt;
}

// 1 / x -> reciprocal(x)
std::optional<Simpler> reciprocal(const Layer& layer) {
  Tensor* x = nullptr;
  if (m::match(layer, m::elementwise("div").input(0, m::scalar(1)).input(1, m::tensor(&x)))) {
    return Simpler{LayerType::kUNARY, "reciprocal", {x}};
  }
  return std::nullopt;
}

// x + -y -> x - y, x - -y -> x + y
std::optional<Simpler> negatedOperand(const Layer& layer) {
  Tensor* x = nullptr;
  Tensor* y = nullptr;
  const auto negated = m::unary("neg").input(0, m::tensor(&y));
  if (m::match(layer, m::elementwise("sum").eitherWay(m::tensor(&x), negated))) {
    return Simpler{LayerType::kELEMENTWISE, "sub", {x, y}};
  }
  if (m::match(layer, m::elementwise("sub").input(0, m::tensor(&x)).input(1, negated))) {
    return Simpler{LayerType::kELEMENTWISE, "sum", {x, y}};
  }
  return std::nullopt;
}

class Simplify : public PatternRewriter {
 public:
  using Recognizer = std::optional<Simpler> (*)(const Layer&);
  Simplify(const char* name, Recognizer recognizer)
      : PatternRewriter(name, {LayerType::kELEMENTWISE}), recognizer_(recognizer) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const auto simpler = recognizer_(layer);
    // A scalar of higher rank than x would have enlarged it.
    const bool alone = simpler && simpler->operands.size() == 1;
    if (!simpler || (alone && !(simpler->operands[0]->getDimensions() == layer.getOutput(0)->getDimensions()))) {
      return false;
    }
    Attributes attributes;
    attributes.set("op", std::string(simpler->op));
    Layer& created = rewriter.create(simpler->type, simpler->operands, attributes);
    rewriter.replaceLayer(layer, {created.getOutput(0)});
    return true;
  }

 private:
  Recognizer recognizer_;
};

}  // namespace

PassPtr createSimplifyArithmetic(const Options&) {
  auto pass = std::make_unique<PatternPass>("simplify_arithmetic");
  pass->add<Simplify>("power", power)
      .add<Simplify>("reciprocal", reciprocal)
      .add<Simplify>("negated_operand", negatedOperand);
  return pass;
}

}  // namespace torchtrt::optimization
