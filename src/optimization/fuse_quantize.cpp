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

// Every window has an element: the reach of none is all padding, nor do gaps step over a narrow input.
bool poolsSomething(const Layer& pooling) {
  const Attributes& attributes = pooling.attributes();
  const std::vector<int64_t>& window = attributes.getInts("window");
  const std::vector<int64_t>& pre = attributes.getInts("pre_padding");
  const std::vector<int64_t>& post = attributes.getInts("post_padding");
  const std::vector<int64_t>& dilation = attributes.getInts("dilation");
  for (size_t i = 0; i < window.size(); ++i) {
    if (dilation[i] != 1 || pre[i] >= window[i] || post[i] >= window[i]) {
      return false;
    }
  }
  return true;
}

// Gives elements of its operand, whatever they stand for: steps as well as numbers, of which the greatest has the
// greatest step.
bool passesOn(const Layer& layer) {
  if (!m::match(layer, m::layerOf(LayerType::kSHUFFLE, LayerType::kPOOLING).oneUse())) {
    return false;
  }
  return layer.getType() == LayerType::kSHUFFLE ||
         (layer.attributes().getString("op") == "max" && layer.getNbOutputs() == 1 && poolsSomething(layer));
}

// quantize(f(x)) -> f(quantize(x)) for shuffles and max pooling, where behind one of them or several there is a product
// to take it.
class MoveQuantizeToProduct : public PatternRewriter {
 public:
  MoveQuantizeToProduct() : PatternRewriter("move_quantize_to_product", {LayerType::kQUANTIZE}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const Layer* last = layer.getInput(0)->producer();
    const Layer* first = last;
    bool compares = false;
    while (first != nullptr && passesOn(*first)) {
      compares = compares || first->getType() == LayerType::kPOOLING;
      first = first->getInput(0)->producer();
    }
    if (first == nullptr || first == last || !m::match(*first, productInFloat())) {
      return false;
    }
    // A NaN is the greatest number and the smallest step. Sums of integers are none, a residual may hold one.
    const Tensor* residual = first->getInput(4);
    if (compares && residual != nullptr && isFloating(residual->getType())) {
      return false;
    }
    Layer& quantize = rewriter.create(LayerType::kQUANTIZE, {last->getInput(0)}, layer.attributes());
    Layer& moved = rewriter.create(last->getType(), {quantize.getOutput(0)}, last->attributes());
    rewriter.replaceLayer(layer, {moved.getOutput(0)});
    return true;
  }
};

}  // namespace

PassPtr createFuseQuantize(const Options&) {
  auto pass = std::make_unique<PatternPass>("fuse_quantize");
  pass->add<FuseQuantize>();
  pass->add<MoveQuantizeToProduct>();
  return pass;
}

}  // namespace torchtrt::optimization
