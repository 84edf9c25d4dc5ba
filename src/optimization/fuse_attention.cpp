#include <cmath>

#include "optimization/passes.h"
#include "torchtrt/matchers.h"
#include "torchtrt/plugin.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

struct Pieces {
  Tensor *q = nullptr, *k = nullptr, *v = nullptr, *mask = nullptr;
  bool transpose_k = false;
  double scale = 1;
};

// A product that nothing was fused into.
auto plainProduct() {
  return m::matrixMultiply()
      .noActivation()
      .attribute("transpose_a", false)
      .where("has a bias or a residual", [](const Layer& layer) { return !layer.getInput(2) && !layer.getInput(3); });
}

const Layer* scoresOf(const Tensor* tensor) {
  const Layer* producer = tensor->producer();
  return producer && m::match(*producer, plainProduct().oneUse()) ? producer : nullptr;
}

// q k^T, q k^T * scale or q k^T / scale
bool matchScaledScores(const Tensor* tensor, Pieces& pieces) {
  const Layer* product = scoresOf(tensor);
  const Layer* producer = tensor->producer();
  if (!product && producer && m::countUses(*tensor) == 1) {
    Tensor *scores = nullptr, *factor = nullptr;
    const bool multiplied =
        m::match(*producer, m::elementwise("prod").input(0, m::tensor(&scores)).input(1, m::constant(&factor)));
    const bool divided =
        !multiplied &&
        m::match(*producer, m::elementwise("div").input(0, m::tensor(&scores)).input(1, m::constant(&factor)));
    const auto value = multiplied || divided ? m::uniformValue(*factor) : std::nullopt;
    if (!value || !(scores->getDimensions() == tensor->getDimensions()) || (divided && *value == 0)) {
      return false;
    }
    pieces.scale = multiplied ? *value : 1 / *value;
    product = scoresOf(scores);
  }
  if (!product || !std::isfinite(pieces.scale)) {
    return false;
  }
  pieces.q = product->getInput(0);
  pieces.k = product->getInput(1);
  pieces.transpose_k = product->attributes().getBool("transpose_b");
  return true;
}

// The same, plus a mask that does not enlarge it.
bool matchMaskedScores(const Tensor* tensor, Pieces& pieces) {
  if (matchScaledScores(tensor, pieces)) {
    return true;
  }
  const Layer* sum = tensor->producer();
  if (!sum || m::countUses(*tensor) != 1 || !m::match(*sum, m::elementwise("sum"))) {
    return false;
  }
  for (int i = 0; i < 2; ++i) {
    const Tensor* scores = sum->getInput(i);
    Tensor* mask = sum->getInput(1 - i);
    pieces.scale = 1;
    if (mask->rank() >= 2 && scores->getDimensions() == tensor->getDimensions() && matchScaledScores(scores, pieces)) {
      pieces.mask = mask;
      return true;
    }
  }
  return false;
}

bool sameLeadingDims(const Tensor& a, const Tensor& b) {
  if (a.rank() != b.rank()) {
    return false;
  }
  for (int i = 0; i < a.rank() - 2; ++i) {
    if (!(a.getDimensions()[i] == b.getDimensions()[i])) {
      return false;
    }
  }
  return true;
}

// The kernel asks for equal sizes, where a matrix multiplication also takes such as are equal for every call.
bool sizesAgree(const Pieces& pieces) {
  const Dims &q = pieces.q->getDimensions(), &k = pieces.k->getDimensions(), &v = pieces.v->getDimensions();
  const int last = q.rank() - 1;
  return k[pieces.transpose_k ? last : last - 1] == q[last] && k[pieces.transpose_k ? last - 1 : last] == v[last - 1];
}

bool maskFits(const Pieces& pieces) {
  const Dims& q = pieces.q->getDimensions();
  std::vector<Dim> scores = q.vec();
  scores.back() = pieces.v->getDimensions()[q.rank() - 2];
  const Dims& mask = pieces.mask->getDimensions();
  const int missing = q.rank() - mask.rank();
  for (int i = 0; i < mask.rank(); ++i) {
    if (!(mask[i] == Dim(1)) && !(mask[i] == scores[static_cast<size_t>(i + missing)])) {
      return false;
    }
  }
  return missing >= 0;
}

// softmax(q k^T * scale + mask) v
class FuseAttention : public PatternRewriter {
 public:
  explicit FuseAttention(const Options& options)
      : PatternRewriter("fuse_attention", {LayerType::kMATRIX_MULTIPLY}),
        min_queries_(options.min_attention_queries),
        min_keys_(options.min_attention_keys) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const Layer* softmax = nullptr;
    const auto weights = m::layer(LayerType::kSOFTMAX).attribute("log", false).oneUse().capture(&softmax);
    if (!m::match(layer, plainProduct().attribute("transpose_b", false).input(0, weights))) {
      return false;
    }
    Pieces pieces;
    pieces.v = layer.getInput(1);
    const Tensor& scores = *softmax->getInput(0);
    if (layer.getOutput(0)->getType() != DType::kFloat32 || scores.rank() < 3 ||
        softmax->attributes().getInt("axis") != scores.rank() - 1 || !matchMaskedScores(&scores, pieces) ||
        !sameLeadingDims(*pieces.q, *pieces.k) || !sameLeadingDims(*pieces.q, *pieces.v) || !sizesAgree(pieces) ||
        (pieces.mask && !maskFits(pieces)) || !isLarge(scores)) {
      return false;
    }
    Attributes fields;
    fields.set("namespace", std::string("torchtrt"));
    fields.set("type", std::string("Attention"));
    fields.set("version", std::string("1"));
    fields.set("scale", pieces.scale);
    fields.set("transpose_k", pieces.transpose_k);
    std::vector<Tensor*> operands = {pieces.q, pieces.k, pieces.v};
    if (pieces.mask) {
      operands.push_back(pieces.mask);
    }
    rewriter.replaceLayer(layer, {rewriter.create(LayerType::kPLUGIN_V2, operands, fields).getOutput(0)});
    return true;
  }

 private:
  bool isLarge(const Tensor& scores) const {
    const auto least = [&](int axis) {
      const auto symbol = [&](const std::string& name) { return *scores.network()->findSymbol(name); };
      return scores.getDimensions()[axis].range(symbol).first;
    };
    return least(scores.rank() - 2) >= min_queries_ && least(scores.rank() - 1) >= min_keys_;
  }

  int64_t min_queries_, min_keys_;
};

}  // namespace

PassPtr createFuseAttention(const Options& options) {
  plugin::registerBuiltinPlugins();
  auto pass = std::make_unique<PatternPass>("fuse_attention");
  pass->add<FuseAttention>(options);
  return pass;
}

}  // namespace torchtrt::optimization
