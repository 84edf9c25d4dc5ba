#include "optimization/affine.h"
#include "optimization/passes.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// convolution(x, w, b) + t -> convolution(x, w, b + t), for a constant t per output channel; the same for deconvolution
// and matrix multiplication.
class FuseBias : public PatternRewriter {
 public:
  FuseBias() : PatternRewriter("fuse_bias", {LayerType::kELEMENTWISE}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    if (layer.attributes().getString("op") != "sum") {
      return false;
    }
    for (int operand = 0; operand < 2; ++operand) {
      const auto weighted = asAbsorbing(layer.getInput(operand));
      const auto affine = weighted ? asAffine(layer, weighted->output_axis) : std::nullopt;
      if (!affine || affine->input != layer.getInput(operand)) {
        continue;
      }
      if (Layer* fused = createWithOutputAffine(rewriter, *weighted, affine->affine)) {
        copyActivation(rewriter, layer, *fused);
        rewriter.replaceLayer(layer, {fused->getOutput(0)});
        return true;
      }
    }
    return false;
  }
};

}  // namespace

PassPtr createFuseBias(const Options&) {
  auto pass = std::make_unique<PatternPass>("fuse_bias");
  pass->add<FuseBias>();
  return pass;
}

}  // namespace torchtrt::optimization
