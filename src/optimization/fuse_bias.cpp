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
    return layer.attributes().getString("op") == "sum" && absorbIntoWeightsBefore(rewriter, layer);
  }
};

}  // namespace

PassPtr createFuseBias(const Options&) {
  auto pass = std::make_unique<PatternPass>("fuse_bias");
  pass->add<FuseBias>();
  return pass;
}

}  // namespace torchtrt::optimization
