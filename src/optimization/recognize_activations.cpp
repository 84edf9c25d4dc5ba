#include <cmath>
#include <functional>

#include "optimization/passes.h"
#include "torchtrt/matchers.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// The result of a recognizer: op(x) with its parameters.
struct Found {
  Tensor* x;
  const char* op;
  double alpha = 0;
  double beta = 0;
};

// a * b where one is `a` and the other is `b`, whatever their order.
template <typename A, typename B>
auto product(A a, B b) {
  return m::elementwise("prod").eitherWay(std::move(a), std::move(b));
}
template <typename A>
auto plus(A a, double value) {
  return m::elementwise("sum").eitherWay(std::move(a), m::scalar(value));
}
template <typename A>
auto dividedBy(A a, double value) {
  return m::elementwise("div").input(0, std::move(a)).input(1, m::scalar(value));
}
auto clip(double low, double high) {
  return m::activation("clip").attribute("alpha", low).attribute("beta", high);
}
// clip(x + 3, 0, 6)
template <typename X>
auto reluSixOfShifted(X x) {
  return clip(0, 6).oneUse().input(0, plus(std::move(x), 3).oneUse());
}

std::optional<Found> silu(const Layer& layer) {
  Tensor* x = nullptr;
  if (m::match(layer, product(m::tensor(&x), m::activation("sigmoid").oneUse().input(0, m::same(&x))))) {
    return Found{x, "silu"};
  }
  return std::nullopt;
}

std::optional<Found> mish(const Layer& layer) {
  Tensor* x = nullptr;
  const auto softplus = m::activation("softplus").attribute("alpha", 1.0).attribute("beta", 20.0).oneUse();
  if (m::match(layer,
               product(m::tensor(&x), m::activation("tanh").oneUse().input(0, softplus.input(0, m::same(&x)))))) {
    return Found{x, "mish"};
  }
  return std::nullopt;
}

// clip(x + 3, 0, 6) / 6
std::optional<Found> hardSigmoid(const Layer& layer) {
  Tensor* x = nullptr;
  const auto clipped = reluSixOfShifted(m::tensor(&x));
  if (m::match(layer, dividedBy(clipped, 6)) || m::match(layer, product(clipped, m::scalar(1.0 / 6)))) {
    return Found{x, "hard_sigmoid", 1.0 / 6, 0.5};
  }
  return std::nullopt;
}

// x * hard_sigmoid(x), x * clip(x + 3, 0, 6) / 6
std::optional<Found> hardSwish(const Layer& layer) {
  Tensor* x = nullptr;
  const auto is_sixth = [](const Layer& hard) {
    return std::abs(hard.attributes().getDouble("alpha", 0.0) - 1.0 / 6) < 1e-6 &&
           hard.attributes().getDouble("beta", 0.0) == 0.5;
  };
  const auto hard = m::activation("hard_sigmoid").where("is not that of hard_swish", is_sixth).oneUse();
  if (m::match(layer, product(m::tensor(&x), hard.input(0, m::same(&x))))) {
    return Found{x, "hard_swish"};
  }
  const auto unscaled = product(m::tensor(&x), reluSixOfShifted(m::same(&x))).oneUse();
  if (m::match(layer, dividedBy(unscaled, 6)) || m::match(layer, product(unscaled, m::scalar(1.0 / 6)))) {
    return Found{x, "hard_swish"};
  }
  return std::nullopt;
}

// An operand whose pattern's type is hidden: gelu's factors come in many orders, and each pattern that holds another's
// type is compiled with all of it.
using Part = m::TensorMatcher<std::function<bool(Tensor*, m::Failure*)>>;
template <typename Matcher>
Part part(Matcher matcher) {
  return Part([matcher = std::move(matcher)](Tensor* tensor, m::Failure* failure) {
    return matcher.matchesTensor(tensor, failure);
  });
}

// x * 0.5 * twice_cdf, in the orders in which the three factors may be multiplied
bool isGelu(const Layer& layer, Tensor** x, const Part& twice_cdf) {
  return m::match(layer, product(product(m::tensor(x), m::scalar(0.5)).oneUse(), twice_cdf)) ||
         m::match(layer, product(m::tensor(x), product(twice_cdf, m::scalar(0.5)).oneUse())) ||
         m::match(layer, product(product(m::tensor(x), twice_cdf).oneUse(), m::scalar(0.5)));
}

// x * 0.5 * (1 + erf(x / sqrt(2)))
std::optional<Found> geluErf(const Layer& layer) {
  Tensor* x = nullptr;
  const auto cdf = [](const Part& scaled) { return part(plus(m::unary("erf").oneUse().input(0, scaled), 1).oneUse()); };
  if (isGelu(layer, &x, cdf(part(dividedBy(m::same(&x), std::sqrt(2.0)).oneUse()))) ||
      isGelu(layer, &x, cdf(part(product(m::same(&x), m::scalar(std::sqrt(0.5))).oneUse())))) {
    return Found{x, "gelu_erf"};
  }
  return std::nullopt;
}

// x * 0.5 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
std::optional<Found> geluTanh(const Layer& layer) {
  Tensor* x = nullptr;
  const double factor = std::sqrt(2.0 / std::acos(-1.0));
  const auto cdf = [&](const Part& cube) {
    const Part scaled = part(product(cube, m::scalar(0.044715)).oneUse());
    const Part inner = part(m::elementwise("sum").eitherWay(m::same(&x), scaled).oneUse());
    const Part tanh = part(m::activation("tanh").oneUse().input(0, product(inner, m::scalar(factor)).oneUse()));
    return part(plus(tanh, 1).oneUse());
  };
  const Part power = part(m::elementwise("pow").input(0, m::same(&x)).input(1, m::scalar(3)).oneUse());
  const Part square = part(m::unary("square").oneUse().input(0, m::same(&x)));
  const Part squared = part(product(square, m::same(&x)).oneUse());
  const Part product_of_two = part(product(m::same(&x), m::same(&x)).oneUse());
  const Part multiplied = part(product(product_of_two, m::same(&x)).oneUse());
  if (isGelu(layer, &x, cdf(power)) || isGelu(layer, &x, cdf(squared)) || isGelu(layer, &x, cdf(multiplied))) {
    return Found{x, "gelu_tanh"};
  }
  return std::nullopt;
}

// min(max(x, a), b) and min(relu(x), b) with a <= b
std::optional<Found> clipOfBounds(const Layer& layer) {
  Tensor* x = nullptr;
  Tensor* low = nullptr;
  Tensor* high = nullptr;
  const auto from_below = m::elementwise("max").oneUse().eitherWay(m::tensor(&x), m::constant(&low));
  const auto rectified = m::activation("relu").oneUse().input(0, m::tensor(&x));
  const bool has_low = m::match(layer, m::elementwise("min").eitherWay(from_below, m::constant(&high)));
  if (!has_low && !m::match(layer, m::elementwise("min").eitherWay(rectified, m::constant(&high)))) {
    return std::nullopt;
  }
  const auto a = has_low ? m::uniformValue(*low) : 0.0, b = m::uniformValue(*high);
  if (!a || !b || !(*a <= *b)) {
    return std::nullopt;
  }
  return Found{x, "clip", *a, *b};
}

std::optional<Found> reluOfMax(const Layer& layer) {
  Tensor* x = nullptr;
  if (m::match(layer, m::elementwise("max").eitherWay(m::tensor(&x), m::scalar(0)))) {
    return Found{x, "relu"};
  }
  return std::nullopt;
}

// clip(relu(x), 0 or less, b) with b >= 0
std::optional<Found> clipOfRelu(const Layer& layer) {
  Tensor* x = nullptr;
  const auto bounds = [](const Layer& outer) {
    return outer.attributes().getDouble("alpha", 0.0) <= 0 && outer.attributes().getDouble("beta", 0.0) >= 0;
  };
  if (m::match(layer, m::activation("clip")
                          .where("has other bounds", bounds)
                          .input(0, m::activation("relu").oneUse().input(0, m::tensor(&x))))) {
    return Found{x, "clip", 0.0, layer.attributes().getDouble("beta")};
  }
  return std::nullopt;
}

class RecognizeActivation : public PatternRewriter {
 public:
  using Recognizer = std::optional<Found> (*)(const Layer&);
  RecognizeActivation(const char* name, LayerType root, Recognizer recognizer)
      : PatternRewriter(name, {root}), recognizer_(recognizer) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    Tensor* output = layer.getOutput(0);
    if (!isFloating(output->getType())) {
      return false;
    }
    const auto found = recognizer_(layer);
    // A scalar of higher rank than x would have enlarged it, and an activation does not.
    if (!found || !(found->x->getDimensions() == output->getDimensions()) || found->x->getType() != output->getType()) {
      return false;
    }
    Attributes attributes;
    attributes.set("op", std::string(found->op));
    attributes.set("alpha", found->alpha);
    attributes.set("beta", found->beta);
    Layer& activation = rewriter.create(LayerType::kACTIVATION, {found->x}, attributes);
    rewriter.replaceLayer(layer, {activation.getOutput(0)});
    return true;
  }

 private:
  Recognizer recognizer_;
};

}  // namespace

PassPtr createRecognizeActivations(const Options&) {
  auto pass = std::make_unique<PatternPass>("recognize_activations");
  pass->add<RecognizeActivation>("silu", LayerType::kELEMENTWISE, silu)
      .add<RecognizeActivation>("mish", LayerType::kELEMENTWISE, mish)
      .add<RecognizeActivation>("hard_swish", LayerType::kELEMENTWISE, hardSwish)
      .add<RecognizeActivation>("hard_sigmoid", LayerType::kELEMENTWISE, hardSigmoid)
      .add<RecognizeActivation>("gelu_erf", LayerType::kELEMENTWISE, geluErf)
      .add<RecognizeActivation>("gelu_tanh", LayerType::kELEMENTWISE, geluTanh)
      .add<RecognizeActivation>("clip_of_bounds", LayerType::kELEMENTWISE, clipOfBounds)
      .add<RecognizeActivation>("clip_of_relu", LayerType::kACTIVATION, clipOfRelu)
      .add<RecognizeActivation>("relu_of_max", LayerType::kELEMENTWISE, reluOfMax);
  return pass;
}

}  // namespace torchtrt::optimization
