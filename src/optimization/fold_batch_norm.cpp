#include "optimization/affine.h"
#include "optimization/passes.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// normalization(batch)(convolution(x, w, b)) -> convolution(x, w * s, b * s + t); the same for deconvolution and for
// the product of matrices. The normalization's activation stays.
class FoldBatchNorm : public PatternRewriter {
 public:
  FoldBatchNorm() : PatternRewriter("fold_batch_norm", {LayerType::kNORMALIZATION}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    return absorbIntoWeightsBefore(rewriter, layer);
  }
};

}  // namespace

PassPtr createFoldBatchNorm(const Options&) {
  auto pass = std::make_unique<PatternPass>("fold_batch_norm");
  pass->add<FoldBatchNorm>();
  return pass;
}

}  // namespace torchtrt::optimization
