#include "optimization/passes.h"
#include "torchtrt/matchers.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// activation(layer(...)) -> layer(...) {activation=...}, for the kinds with "fused" attributes in the layer table.
class FuseActivation : public PatternRewriter {
 public:
  FuseActivation() : PatternRewriter("fuse_activation", {LayerType::kACTIVATION}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const Layer* producer = nullptr;
    const auto pattern =
        m::layer(LayerType::kACTIVATION)
            .input(0, m::layerOf(LayerType::kCONVOLUTION, LayerType::kDECONVOLUTION, LayerType::kMATRIX_MULTIPLY,
                                 LayerType::kELEMENTWISE, LayerType::kNORMALIZATION)
                          .oneUse()
                          .noActivation()
                          .capture(&producer));
    if (!isFloating(layer.getOutput(0)->getType()) || !m::match(layer, pattern)) {
      return false;
    }
    Attributes attributes = producer->attributes();
    attributes.set("activation", layer.attributes().getString("op"));
    attributes.set("activation_alpha", layer.attributes().getDouble("alpha", 0.0));
    attributes.set("activation_beta", layer.attributes().getDouble("beta", 0.0));
    std::vector<Tensor*> inputs;
    for (int i = 0; i < producer->getNbInputs(); ++i) {
      inputs.push_back(producer->getInput(i));
    }
    Layer& fused = rewriter.create(producer->getType(), inputs, attributes);
    rewriter.replaceLayer(layer, {fused.getOutput(0)});
    return true;
  }
};

}  // namespace

PassPtr createFuseActivation(const Options&) {
  auto pass = std::make_unique<PatternPass>("fuse_activation");
  pass->add<FuseActivation>();
  return pass;
}

}  // namespace torchtrt::optimization
