#include <cstddef>
#include <optional>
#include <vector>

#include "optimization/attention_pieces.h"
#include "optimization/heads_view.h"
#include "optimization/passes.h"
#include "torchtrt/matchers.h"
#include "torchtrt/plugin.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

bool isHalf(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

// Undoes multiplications of queries or keys by a number, which then is a part of the scale of the scores.
Tensor* unscaled(Tensor* tensor, double& scale) {
  while (const Layer* const producer = tensor->producer()) {
    const std::optional<double> factor = factorOf(*producer);
    if (!factor) {
      break;
    }
    scale *= *factor;
    tensor = producer->getInput(0);
  }
  return tensor;
}

// The cast to 16 bits that alone reads attention in float32 whose operands are casts from these 16 bits; else null. The
// kernel widens operands, scales scores and rounds results in float32, too: `pieces` become the operands in 16 bits.
Layer* absorbCasts(const Layer& layer, AttentionPieces& pieces) {
  const std::vector<Layer*> users = m::usersOf(layer);
  if (m::countUses(*layer.getOutput(0)) != 1 || users.size() != 1 || users[0]->getType() != LayerType::kCAST) {
    return nullptr;
  }
  const DType half = users[0]->getOutput(0)->getType();
  double scale = pieces.scale;
  std::vector<Tensor*> narrow;
  for (const Tensor* operand : {unscaled(pieces.q, scale), unscaled(pieces.k, scale), pieces.v}) {
    const Layer* producer = operand->producer();
    if (!isHalf(half) || !producer || producer->getType() != LayerType::kCAST ||
        producer->getInput(0)->getType() != half) {
      return nullptr;
    }
    narrow.push_back(producer->getInput(0));
  }
  if (!isFloatScale(scale)) {
    return nullptr;
  }
  pieces.scale = scale;
  pieces.q = narrow[0];
  pieces.k = narrow[1];
  pieces.v = narrow[2];
  return users[0];
}

// Removes masks that are constants and hide nothing: tracing turns one that a model makes of ones into such. Without a
// mask no row is empty, and softmax needs no care for those.
void dropIdleMasks(AttentionPieces& pieces) {
  for (size_t i = pieces.masks.size(); i-- > 0;) {
    const Tensor& mask = *pieces.masks[i];
    const auto value = mask.constant() ? m::uniformValue(mask) : std::nullopt;
    if (value && *value == (mask.getType() == DType::kBool ? 1.0 : 0.0)) {
      pieces.masks.erase(pieces.masks.begin() + static_cast<std::ptrdiff_t>(i));
      pieces.mask_dims.erase(pieces.mask_dims.begin() + static_cast<std::ptrdiff_t>(i));
      pieces.safe = pieces.safe && !pieces.masks.empty();
    }
  }
}

// The heads of q, k and v where all three lie in channels in the same way.
struct Heads {
  HeadsView q, k, v;
  bool sequence_first = false;
};

std::optional<Heads> findHeadsOf(const AttentionPieces& pieces) {
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
        min_keys_(options.min_attention_keys),
        max_unpacked_(options.max_unpacked_queries) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const DType dtype = layer.getOutput(0)->getType();
    if (dtype != DType::kFloat32 && !isHalf(dtype)) {
      return false;
    }
    std::optional<AttentionPieces> found = findAttention(layer);
    if (!found || !isWorthIt(*found)) {
      return false;
    }
    AttentionPieces& pieces = *found;
    dropIdleMasks(pieces);
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
  // Few queries are packed for, too, where the elements of a key do not lie side by side.
  bool isWorthIt(const AttentionPieces& pieces) const {
    const Tensor& scores = *pieces.scores;
    const auto rangeOf = [&](int axis) {
      const auto symbol = [&](const std::string& name) { return *scores.network()->findSymbol(name); };
      return scores.getDimensions()[axis].range(symbol);
    };
    const auto queries = rangeOf(scores.rank() - 2), keys = rangeOf(scores.rank() - 1);
    return (queries.first >= min_queries_ && keys.first >= min_keys_) ||
           (pieces.transpose_k && queries.second <= max_unpacked_ && keys.second >= min_keys_);
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

  static void addMasks(Rewriter& rewriter, const AttentionPieces& pieces, std::vector<Tensor*>& operands) {
    for (size_t i = 0; i < pieces.masks.size(); ++i) {
      operands.push_back(&shuffled(rewriter, *pieces.masks[i], pieces.mask_dims[i]));
    }
  }

  static void rewriteHeads(Layer& layer, Rewriter& rewriter, const AttentionPieces& pieces, const Heads& heads,
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
    // A reader as [B, T, heads * size] undoes these shuffles, and merge_shuffles removes both.
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

  int64_t min_queries_, min_keys_, max_unpacked_;
};

}  // namespace

PassPtr createFuseAttention(const Options& options) {
  plugin::registerBuiltinPlugins();
  auto pass = std::make_unique<PatternPass>("fuse_attention");
  pass->add<FuseAttention>(options);
  return pass;
}

}  // namespace torchtrt::optimization
