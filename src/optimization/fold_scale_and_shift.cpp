#include <algorithm>

#include "optimization/affine.h"
#include "optimization/passes.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// convolution(x, w, b) * s, / s, - t -> convolution(x, w * s, b * s - t); the same for deconvolution and matrix
// multiplication. Sums are left to fuse_bias.
class FoldIntoLayerBefore : public PatternRewriter {
 public:
  FoldIntoLayerBefore() : PatternRewriter("fold_into_layer_before", {LayerType::kELEMENTWISE}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    return layer.attributes().getString("op") != "sum" && absorbIntoWeightsBefore(rewriter, layer);
  }
};

bool hasPadding(const Layer& layer) {
  const auto any = [&](const char* name) {
    const std::vector<int64_t> padding = layer.attributes().getInts(name, {});
    return std::any_of(padding.begin(), padding.end(), [](int64_t p) { return p != 0; });
  };
  return layer.getType() != LayerType::kMATRIX_MULTIPLY && (any("pre_padding") || any("post_padding"));
}

// convolution(x * s + t, w, b) -> convolution(x, w * s, b + sum(w * t)); a shift only where no window reaches into the
// padding, which is zero whatever the shift. Matrix multiplication likewise; deconvolution takes a scale.
class FoldIntoLayerAfter : public PatternRewriter {
 public:
  FoldIntoLayerAfter()
      : PatternRewriter("fold_into_layer_after",
                        {LayerType::kCONVOLUTION, LayerType::kDECONVOLUTION, LayerType::kMATRIX_MULTIPLY}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const Tensor* input = layer.getInput(0);
    const Layer* producer = input->producer();
    if (!producer || m::countUses(*input) != 1 || !producer->attributes().getString("activation", "").empty()) {
      return false;
    }
    const auto weighted = asWeighted(layer);
    const auto before = weighted ? asAffine(*producer, weighted->input_axis) : std::nullopt;
    if (!before) {
      return false;
    }
    if (before->affine.hasShift() && (hasPadding(layer) || layer.getType() == LayerType::kDECONVOLUTION)) {
      return false;
    }
    Layer* folded = createWithInputAffine(rewriter, *weighted, before->affine, *before->input);
    if (!folded) {
      return false;
    }
    rewriter.replaceLayer(layer, {folded->getOutput(0)});
    return true;
  }
};

}  // namespace

PassPtr createFoldScaleAndShift(const Options&) {
  auto pass = std::make_unique<PatternPass>("fold_scale_and_shift");
  pass->add<FoldIntoLayerBefore>().add<FoldIntoLayerAfter>();
  return pass;
}

}  // namespace torchtrt::optimization
