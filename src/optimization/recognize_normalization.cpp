#include <cmath>
#include <numeric>

#include "optimization/constant_vector.h"
#include "optimization/passes.h"
#include "torchtrt/matchers.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// Returns the number of last axes that a reduction goes over if it keeps them; 0 for any other reduction.
int lastAxes(const Layer& reduce) {
  const std::vector<int64_t>& axes = reduce.attributes().getInts("axes");
  const int rank = reduce.getInput(0)->rank(), count = static_cast<int>(axes.size());
  std::vector<int64_t> last(axes.size());
  std::iota(last.begin(), last.end(), rank - count);
  return axes == last ? count : 0;
}

auto average(Tensor** of) {
  return m::layer(LayerType::kREDUCE).op("avg").attribute("keep_dims", true).input(0, m::tensor(of));
}

// x of square(x), x * x or x ^ 2, and how many of its uses that is.
struct Square {
  Tensor* x = nullptr;
  size_t uses = 1;
};

std::optional<Square> squareOf(const Tensor* tensor) {
  Square square;
  const Layer* layer = tensor->producer();
  if (!layer || m::countUses(*tensor) != 1) {
    return std::nullopt;
  }
  if (m::match(*layer, m::unary("square").input(0, m::tensor(&square.x))) ||
      m::match(*layer, m::elementwise("pow").input(0, m::tensor(&square.x)).input(1, m::scalar(2)))) {
    return square;
  }
  square.uses = 2;
  if (m::match(*layer, m::elementwise("prod").input(0, m::tensor(&square.x)).input(1, m::same(&square.x)))) {
    return square;
  }
  return std::nullopt;
}

// numerator / sqrt(spread + eps), in its three spellings.
struct Quotient {
  Tensor *numerator = nullptr, *spread = nullptr;
  double eps = 0;
};

std::optional<Quotient> quotientOf(const Layer& layer) {
  Quotient quotient;
  Tensor* eps = nullptr;
  const auto sum = m::elementwise("sum").oneUse().eitherWay(m::tensor(&quotient.spread), m::constant(&eps));
  const auto root = m::unary("sqrt").oneUse().input(0, sum);
  const auto numerator = m::tensor(&quotient.numerator);
  if (!m::match(layer, m::elementwise("div").input(0, numerator).input(1, root)) &&
      !m::match(layer, m::elementwise("prod").eitherWay(numerator, m::unary("rsqrt").oneUse().input(0, sum))) &&
      !m::match(layer, m::elementwise("prod").eitherWay(numerator, m::unary("reciprocal").oneUse().input(0, root)))) {
    return std::nullopt;
  }
  const auto value = m::uniformValue(*eps);
  if (!value || !(*value >= 0) || !std::isfinite(*value) || m::countUses(*quotient.spread) != 1) {
    return std::nullopt;
  }
  quotient.eps = *value;
  return quotient;
}

// x of x - average(x) over the last `count` axes.
Tensor* centeredFrom(const Tensor& centered, int count) {
  Tensor *x = nullptr, *averaged = nullptr;
  const Layer* mean = nullptr;
  const auto pattern =
      m::elementwise("sub").input(0, m::tensor(&x)).input(1, average(&averaged).oneUse().capture(&mean));
  const bool matches = centered.producer() && m::match(*centered.producer(), pattern);
  return matches && averaged == x && lastAxes(*mean) == count ? x : nullptr;
}

struct Found {
  Tensor* x;
  const char* mode;
  int rank;
};

std::optional<Found> normalizedBy(const Quotient& quotient) {
  const Layer* reduce = quotient.spread->producer();
  if (!reduce || reduce->getType() != LayerType::kREDUCE) {
    return std::nullopt;
  }
  const int rank = lastAxes(*reduce);
  Tensor* reduced = nullptr;
  if (rank == 0) {
    return std::nullopt;
  }
  if (m::match(*reduce, average(&reduced))) {
    const auto square = squareOf(reduced);
    if (!square || square->x != quotient.numerator) {
      return std::nullopt;
    }
    Tensor* x = centeredFrom(*square->x, rank);
    if (x && m::countUses(*square->x) == square->uses + 1) {
      return Found{x, "layer", rank};
    }
    return Found{square->x, "rms", rank};
  }
  const auto variance = m::layer(LayerType::kREDUCE).op("var").attribute("keep_dims", true);
  if (m::match(*reduce, variance.attribute("correction", 0.0)) && m::countUses(*quotient.numerator) == 1 &&
      centeredFrom(*quotient.numerator, rank) == reduce->getInput(0)) {
    return Found{reduce->getInput(0), "layer", rank};
  }
  return std::nullopt;
}

class RecognizeNormalization : public PatternRewriter {
 public:
  RecognizeNormalization() : PatternRewriter("normalization", {LayerType::kELEMENTWISE}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    if (!isFloating(layer.getOutput(0)->getType())) {
      return false;
    }
    const auto quotient = quotientOf(layer);
    const auto found = quotient ? normalizedBy(*quotient) : std::nullopt;
    if (!found || !(found->x->getDimensions() == layer.getOutput(0)->getDimensions())) {
      return false;
    }
    Attributes attributes;
    attributes.set("mode", std::string(found->mode));
    attributes.set("eps", quotient->eps);
    attributes.set("normalized_rank", int64_t{found->rank});
    Layer& normalization = rewriter.create(LayerType::kNORMALIZATION, {found->x}, attributes);
    rewriter.replaceLayer(layer, {normalization.getOutput(0)});
    return true;
  }
};

// normalization(x) * scale and normalization(x) + bias, for constants of the normalized shape
class AbsorbScaleAndBias : public PatternRewriter {
 public:
  AbsorbScaleAndBias() : PatternRewriter("scale_and_bias", {LayerType::kELEMENTWISE}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const bool is_bias = layer.attributes().getString("op") == "sum";
    Tensor* constant = nullptr;
    const Layer* normalization = nullptr;
    const auto is_plain = [&](const Layer& candidate) {
      const std::string& mode = candidate.attributes().getString("mode");
      return (mode == "layer" || mode == "rms") && !candidate.getInput(2) && (is_bias || !candidate.getInput(1));
    };
    const auto pattern = m::layer(LayerType::kNORMALIZATION)
                             .noActivation()
                             .oneUse()
                             .where("has that operand", is_plain)
                             .capture(&normalization);
    if (!m::match(layer, m::elementwise(is_bias ? "sum" : "prod").eitherWay(pattern, m::constant(&constant)))) {
      return false;
    }
    const Dims& dims = normalization->getOutput(0)->getDimensions();
    const auto vector =
        asVector(constant, dims, static_cast<int>(normalization->attributes().getInt("normalized_rank")));
    if (!vector || !(dims == layer.getOutput(0)->getDimensions())) {
      return false;
    }
    Tensor* operand = &rewriter.createConstant(*vector);
    std::vector<Tensor*> inputs = {normalization->getInput(0), normalization->getInput(1)};
    if (is_bias) {
      inputs.push_back(operand);
    } else {
      inputs[1] = operand;
    }
    Layer& created = rewriter.create(LayerType::kNORMALIZATION, inputs, normalization->attributes());
    rewriter.replaceLayer(layer, {created.getOutput(0)});
    return true;
  }
};

}  // namespace

PassPtr createRecognizeNormalization(const Options&) {
  auto pass = std::make_unique<PatternPass>("recognize_normalization");
  pass->add<RecognizeNormalization>().add<AbsorbScaleAndBias>();
  return pass;
}

}  // namespace torchtrt::optimization
