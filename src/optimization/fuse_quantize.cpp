#include "optimization/passes.h"
#include "torchtrt/matchers.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// The float32 result of a product of integers that one layer reads.
auto productInFloat() {
  return m::layerOf(LayerType::kQUANTIZED_CONVOLUTION, LayerType::kQUANTIZED_MATRIX_MULTIPLY)
      .attribute("to", DType::kFloat32)
      .oneUse();
}

// quantize(product(...)) -> product(...) {to=...}: the same steps to the bit, and no float32 in memory.
class FuseQuantize : public PatternRewriter {
 public:
  FuseQuantize() : PatternRewriter("fuse_quantize", {LayerType::kQUANTIZE}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const Layer* product = nullptr;
    if (!m::match(layer, m::layer(LayerType::kQUANTIZE).input(0, productInFloat().capture(&product)))) {
      return false;
    }
    Attributes attributes = product->attributes();
    attributes.set("to", layer.attributes().getDType("to"));
    attributes.set("output_scale", layer.attributes().getDouble("scale"));
    attributes.set("output_zero_point", layer.attributes().getInt("zero_point", 0));
    attributes.set("low", layer.attributes().getInt("low"));
    attributes.set("high", layer.attributes().getInt("high"));
    std::vector<Tensor*> inputs;
    for (int i = 0; i < product->getNbInputs(); ++i) {
      inputs.push_back(product->getInput(i));
    }
    rewriter.replaceLayer(layer, {rewriter.create(product->getType(), inputs, attributes).getOutput(0)});
    return true;
  }
};

// quantize(shuffle(x)) -> shuffle(quantize(x)), where behind one shuffle or several there is a product to take it.
class MoveQuantizeBeforeShuffle : public PatternRewriter {
 public:
  MoveQuantizeBeforeShuffle() : PatternRewriter("move_quantize_before_shuffle", {LayerType::kQUANTIZE}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const auto one_shuffle = m::layer(LayerType::kSHUFFLE).oneUse();
    const Layer* shuffle = layer.getInput(0)->producer();
    const Layer* first = shuffle;
    while (first != nullptr && m::match(*first, one_shuffle)) {
      first = first->getInput(0)->producer();
    }
    if (first == nullptr || first == shuffle || !m::match(*first, productInFloat())) {
      return false;
    }
    Layer& quantize = rewriter.create(LayerType::kQUANTIZE, {shuffle->getInput(0)}, layer.attributes());
    Layer& moved = rewriter.create(LayerType::kSHUFFLE, {quantize.getOutput(0)}, shuffle->attributes());
    rewriter.replaceLayer(layer, {moved.getOutput(0)});
    return true;
  }
};

}  // namespace

PassPtr createFuseQuantize(const Options&) {
  auto pass = std::make_unique<PatternPass>("fuse_quantize");
  pass->add<FuseQuantize>();
  pass->add<MoveQuantizeBeforeShuffle>();
  return pass;
}

}  // namespace torchtrt::optimization
