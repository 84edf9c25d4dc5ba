#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "optimization/heads_view.h"
#include "optimization/passes.h"
#include "torchtrt/matchers.h"
#include "torchtrt/plugin.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

constexpr size_t kMostMasks = 2;  // that the kernel takes

struct Pieces {
  Tensor *q = nullptr, *k = nullptr, *v = nullptr;
  std::vector<Tensor*> masks;   // in the order in which they are applied
  std::vector<Dims> mask_dims;  // that each has to have: what was masked may have been of another shape
  bool transpose_k = false;
  bool safe = false;
  double scale = 1;
};

bool isHalf(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

// The cast to 16 bits that alone reads attention in float32 whose operands are casts from these 16 bits; else null. The
// kernel widens operands and rounds results in the same way, so `pieces` become the operands in 16 bits.
Layer* absorbCasts(const Layer& layer, Pieces& pieces) {
  const std::vector<Layer*> users = m::usersOf(layer);
  if (m::countUses(*layer.getOutput(0)) != 1 || users.size() != 1 || users[0]->getType() != LayerType::kCAST) {
    return nullptr;
  }
  const DType half = users[0]->getOutput(0)->getType();
  std::vector<Tensor*> narrow;
  for (const Tensor* operand : {pieces.q, pieces.k, pieces.v}) {
    const Layer* producer = operand->producer();
    if (!isHalf(half) || !producer || producer->getType() != LayerType::kCAST ||
        producer->getInput(0)->getType() != half) {
      return nullptr;
    }
    narrow.push_back(producer->getInput(0));
  }
  pieces.q = narrow[0];
  pieces.k = narrow[1];
  pieces.v = narrow[2];
  return users[0];
}

// Whether float32, in which the kernel scales, loses nothing of it but the usual rounding.
bool isFloatScale(double scale) {
  const double size = std::abs(scale);
  return size == 0 || (size >= std::numeric_limits<float>::min() && size <= std::numeric_limits<float>::max());
}

bool isMinusInfinity(const Tensor& tensor) {
  const auto value = tensor.constant() ? m::uniformValue(tensor) : std::nullopt;
  return value && *value == -INFINITY;
}

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
  pieces.scale = 1;
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
  if (!product || !isFloatScale(pieces.scale)) {
    return false;
  }
  pieces.q = product->getInput(0);
  pieces.k = product->getInput(1);
  pieces.transpose_k = product->attributes().getBool("transpose_b");
  return true;
}

// The dims that a mask of `mask`, which broadcasts to `from`, has where the axes before the last two are grouped into
// those of `to`. Within a group it has all elements or one; in the first it may also repeat.
std::optional<Dims> regrouped(const Dims& mask, const Dims& from, const Dims& to) {
  const auto axisOfMask = [&](int axis) {
    const int at = axis - (from.rank() - mask.rank());
    return at < 0 ? Dim(1) : mask[at];
  };
  if (to.rank() < 3 || from.rank() < 3 || !(from[from.rank() - 1] == to[to.rank() - 1]) ||
      !(from[from.rank() - 2] == to[to.rank() - 2])) {
    return std::nullopt;
  }
  std::vector<Dim> dims;
  int axis = 0;
  for (int i = 0; i < to.rank() - 2; ++i) {
    Dim group = 1, kept = 1;
    bool started = false, whole = true;
    while (!(group == to[i])) {
      if (axis == from.rank() - 2) {
        return std::nullopt;
      }
      const bool has = axisOfMask(axis) == from[axis];
      if (!has && started) {
        return std::nullopt;
      }
      started = started || (has && !(from[axis] == Dim(1)));
      whole = whole && has;
      kept = kept * axisOfMask(axis);
      group = group * from[axis++];
    }
    if (!whole && started && i > 0) {
      return std::nullopt;
    }
    dims.push_back(kept);
  }
  for (; axis < from.rank() - 2; ++axis) {
    if (!(from[axis] == Dim(1))) {
      return std::nullopt;
    }
  }
  dims.push_back(axisOfMask(from.rank() - 2));
  dims.push_back(axisOfMask(from.rank() - 1));
  return Dims(std::move(dims));
}

bool maskFits(const Dims& mask, const Dims& scores) {
  const int missing = scores.rank() - mask.rank();
  for (int i = 0; missing >= 0 && i < mask.rank(); ++i) {
    if (!(mask[i] == Dim(1)) && !(mask[i] == scores[i + missing])) {
      return false;
    }
  }
  return missing >= 0 && mask.rank() >= 2;
}

// One step from masked scores towards the product: scores + mask, or condition ? scores : -inf. Nothing for others.
const Tensor* unmasked(const Tensor* tensor, Tensor*& mask) {
  const Layer& layer = *tensor->producer();
  if (m::match(layer, m::elementwise("sum"))) {
    for (int i = 0; i < 2; ++i) {
      const Tensor* scores = layer.getInput(i);
      // The product is on one side; where both could be, the one that is no constant.
      if (scores->getDimensions() == tensor->getDimensions() && scores->producer() && !scores->constant() &&
          m::countUses(*scores) == 1 && maskFits(layer.getInput(1 - i)->getDimensions(), tensor->getDimensions())) {
        Pieces ignored;
        if (layer.getInput(1 - i)->constant() || !matchScaledScores(layer.getInput(1 - i), ignored)) {
          mask = layer.getInput(1 - i);
          return scores;
        }
      }
    }
    return nullptr;
  }
  if (m::match(layer, m::layer(LayerType::kSELECT)) && isMinusInfinity(*layer.getInput(2)) &&
      layer.getInput(1)->getDimensions() == tensor->getDimensions() &&
      maskFits(layer.getInput(0)->getDimensions(), tensor->getDimensions())) {
    mask = layer.getInput(0);
    return layer.getInput(1);
  }
  return nullptr;
}

// Scores with masks and with reshapes between them that only cut the axes in front differently. `uses`: by how many
// layers of the pattern the last of them is read.
bool matchMaskedScores(const Tensor* tensor, size_t uses, Pieces& pieces) {
  const Dims& dims = tensor->getDimensions();
  while (!matchScaledScores(tensor, pieces)) {
    const Layer* producer = tensor->producer();
    if (!producer || m::countUses(*tensor) != uses) {
      return false;
    }
    uses = 1;
    if (producer->getType() == LayerType::kSHUFFLE) {
      const Tensor* input = producer->getInput(0);
      if (!producer->attributes().getInts("first_permutation", {}).empty() ||
          !producer->attributes().getInts("second_permutation", {}).empty()) {
        return false;
      }
      tensor = input;
      continue;
    }
    Tensor* mask = nullptr;
    const Tensor* scores = unmasked(tensor, mask);
    if (!scores || pieces.masks.size() == kMostMasks) {
      return false;
    }
    const auto mask_dims = tensor->getDimensions() == dims
                               ? std::optional(mask->getDimensions())
                               : regrouped(mask->getDimensions(), tensor->getDimensions(), dims);
    if (!mask_dims) {
      return false;
    }
    pieces.masks.insert(pieces.masks.begin(), mask);
    pieces.mask_dims.insert(pieces.mask_dims.begin(), *mask_dims);
    tensor = scores;
  }
  return tensor->getDimensions() == dims;
}

// softmax(x), or softmax(x) with 0 for rows of nothing but minus infinity. Nothing if it is read elsewhere.
const Layer* matchWeights(const Layer& layer, Pieces& pieces) {
  const Layer* softmax = nullptr;
  const auto plain = m::layer(LayerType::kSOFTMAX).attribute("log", false).oneUse().capture(&softmax);
  if (m::match(layer, plain)) {
    return softmax;
  }
  const Layer* greatest = nullptr;
  Tensor* bound = nullptr;
  const auto empty = m::elementwise("equal").oneUse().input(
      0, m::layer(LayerType::kREDUCE).op("max").attribute("keep_dims", true).oneUse().capture(&greatest));
  if (!m::match(layer,
                m::layer(LayerType::kSELECT).oneUse().input(0, empty).input(1, m::constant(&bound)).input(2, plain)) ||
      m::uniformValue(*bound) != 0.0 || !isMinusInfinity(*layer.getInput(0)->producer()->getInput(1)) ||
      greatest->getInput(0) != softmax->getInput(0) ||
      greatest->attributes().getInts("axes") != std::vector<int64_t>{softmax->attributes().getInt("axis")}) {
    return nullptr;
  }
  pieces.safe = true;
  return softmax;
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

// The heads of q, k and v where all three lie in channels in the same way.
struct Heads {
  HeadsView q, k, v;
  bool sequence_first = false;
};

std::optional<Heads> findHeadsOf(const Pieces& pieces) {
  for (const Dims& mask : pieces.mask_dims) {
    if (pieces.q->rank() == 3 && mask.rank() == 3 && !(mask[0] == Dim(1))) {
      return std::nullopt;  // one for each matrix of all batches, which is no axis of [B, heads, T, L]
    }
  }
  for (const HeadsView& q : findHeads(*pieces.q, false)) {
    for (const HeadsView& k : findHeads(*pieces.k, !pieces.transpose_k)) {
      for (const HeadsView& v : findHeads(*pieces.v, false)) {
        const bool batch_first = q.batch_first && k.batch_first && v.batch_first;
        const bool sequence_first = q.sequence_first && k.sequence_first && v.sequence_first;
        if (q.heads == k.heads && q.heads == v.heads && q.batch == k.batch && q.batch == v.batch && v.scale == 1 &&
            isFloatScale(pieces.scale * q.scale * k.scale) && (batch_first || sequence_first)) {
          return Heads{q, k, v, !batch_first};
        }
      }
    }
  }
  return std::nullopt;
}

// softmax(q k^T * scale + masks) v
class FuseAttention : public PatternRewriter {
 public:
  explicit FuseAttention(const Options& options)
      : PatternRewriter("fuse_attention", {LayerType::kMATRIX_MULTIPLY}),
        min_queries_(options.min_attention_queries),
        min_keys_(options.min_attention_keys) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const DType dtype = layer.getOutput(0)->getType();
    if ((dtype != DType::kFloat32 && !isHalf(dtype)) ||
        !m::match(layer, plainProduct().attribute("transpose_b", false)) || !layer.getInput(0)->producer()) {
      return false;
    }
    Pieces pieces;
    const Layer* softmax = matchWeights(*layer.getInput(0)->producer(), pieces);
    if (!softmax) {
      return false;
    }
    pieces.v = layer.getInput(1);
    const Tensor& scores = *softmax->getInput(0);
    if (scores.rank() < 3 || softmax->attributes().getInt("axis") != scores.rank() - 1 ||
        !matchMaskedScores(&scores, pieces.safe ? 2 : 1, pieces) || !sameLeadingDims(*pieces.q, *pieces.k) ||
        !sameLeadingDims(*pieces.q, *pieces.v) || !sizesAgree(pieces) || !isLarge(scores)) {
      return false;
    }
    Layer* const narrowing = absorbCasts(layer, pieces);
    Layer& replaced = narrowing ? *narrowing : layer;
    Attributes fields;
    fields.set("namespace", std::string("torchtrt"));
    fields.set("type", std::string("Attention"));
    fields.set("version", std::string("1"));
    if (pieces.safe) {
      fields.set("safe", true);
    }
    if (const auto heads = findHeadsOf(pieces)) {
      rewriteHeads(replaced, rewriter, pieces, *heads, fields);
      return true;
    }
    fields.set("scale", pieces.scale);
    fields.set("transpose_k", pieces.transpose_k);
    std::vector<Tensor*> operands = {pieces.q, pieces.k, pieces.v};
    addMasks(rewriter, pieces, operands);
    rewriter.replaceLayer(replaced, {rewriter.create(LayerType::kPLUGIN_V2, operands, fields).getOutput(0)});
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

  static Tensor& shuffled(Rewriter& rewriter, Tensor& tensor, const Dims& dims,
                          const std::vector<int64_t>& order = {}) {
    if (tensor.getDimensions() == dims && order.empty()) {
      return tensor;
    }
    Attributes attributes;
    attributes.set("first_permutation", std::vector<int64_t>());
    attributes.set("reshape_dims", dims);
    attributes.set("second_permutation", order);
    return *rewriter.create(LayerType::kSHUFFLE, {&tensor}, attributes).getOutput(0);
  }

  static void addMasks(Rewriter& rewriter, const Pieces& pieces, std::vector<Tensor*>& operands) {
    for (size_t i = 0; i < pieces.masks.size(); ++i) {
      operands.push_back(&shuffled(rewriter, *pieces.masks[i], pieces.mask_dims[i]));
    }
  }

  static void rewriteHeads(Layer& layer, Rewriter& rewriter, const Pieces& pieces, const Heads& heads,
                           Attributes& fields) {
    const HeadsView &q = heads.q, &k = heads.k, &v = heads.v;
    fields.set("scale", pieces.scale * q.scale * k.scale);
    fields.set("transpose_k", true);
    fields.set("heads", q.heads);
    fields.set("head_size", q.size);
    fields.set("value_size", v.size);
    fields.set("q_channel", q.channel);
    fields.set("k_channel", k.channel);
    fields.set("v_channel", v.channel);
    fields.set("sequence_first", heads.sequence_first);
    std::vector<Tensor*> operands;
    for (const HeadsView* view : {&q, &k, &v}) {
      operands.push_back(&shuffled(rewriter, *view->base, view->baseDims(heads.sequence_first)));
    }
    addMasks(rewriter, pieces, operands);
    Tensor& context = *rewriter.create(LayerType::kPLUGIN_V2, operands, fields).getOutput(0);
    // What reads it as [B, T, heads * size] undoes these, and merge_shuffles removes both.
    const Dims& wanted = layer.getOutput(0)->getDimensions();
    Tensor* result = nullptr;
    if (heads.sequence_first) {
      result = wanted.rank() == 3 ? &shuffled(rewriter, context, {q.sequence, q.batch * q.heads, v.size}, {1, 0, 2})
                                  : &shuffled(rewriter, context, {q.sequence, q.batch, q.heads, v.size}, {1, 2, 0, 3});
    } else {
      result = &shuffled(rewriter, context, {q.batch, q.sequence, q.heads, v.size}, {0, 2, 1, 3});
    }
    rewriter.replaceLayer(layer, {&shuffled(rewriter, *result, wanted)});
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
