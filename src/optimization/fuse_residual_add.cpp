#include "kernels/scale.h"
#include "optimization/affine.h"
#include "optimization/passes.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// convolution(x, w, b) + r -> convolution(x, w, b, r), for r of the shape of the output; the same for matrix
// multiplication. The new layer stands where the sum stood, so whatever computes r comes before it.
class FuseResidualAdd : public PatternRewriter {
 public:
  FuseResidualAdd() : PatternRewriter("fuse_residual_add", {LayerType::kELEMENTWISE}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    if (layer.attributes().getString("op") != "sum" || !isFloating(layer.getOutput(0)->getType())) {
      return false;
    }
    for (int operand = 0; operand < 2; ++operand) {
      Tensor* residual = layer.getInput(1 - operand);
      const Layer* producer = layer.getInput(operand)->producer();
      if (!producer || !canTake(*producer) || !(residual->getDimensions() == producer->getOutput(0)->getDimensions())) {
        continue;
      }
      std::vector<Tensor*> inputs = {producer->getInput(0), producer->getInput(1), producer->getInput(2), residual};
      if (Tensor* scale = producer->getInput(kernels::kScale)) {
        inputs.push_back(scale);
      }
      Layer& fused = rewriter.create(producer->getType(), inputs, producer->attributes());
      copyActivation(rewriter, layer, fused);
      rewriter.replaceLayer(layer, {fused.getOutput(0)});
      return true;
    }
    return false;
  }

 private:
  // A depthwise convolution does so little work per element that kernels made for it take no residual.
  static bool isDepthwise(const Layer& layer) {
    return layer.getType() == LayerType::kCONVOLUTION && layer.attributes().getInt("groups", 1) > 1 &&
           layer.getInput(1)->getDimensions()[1] == Dim(1);
  }

  static bool canTake(const Layer& producer) {
    return !isDepthwise(producer) && m::match(producer, m::layerOf(LayerType::kCONVOLUTION, LayerType::kMATRIX_MULTIPLY)
                                                            .oneUse()
                                                            .noActivation()
                                                            .input(3, m::absent()));
  }
};

}  // namespace

PassPtr createFuseResidualAdd(const Options&) {
  auto pass = std::make_unique<PatternPass>("fuse_residual_add");
  pass->add<FuseResidualAdd>();
  return pass;
}

}  // namespace torchtrt::optimization
