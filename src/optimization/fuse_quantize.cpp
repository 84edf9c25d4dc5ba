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

// The product whose result the layer passes on, through others or not, if it can take a quantize layer; else null.
const Layer* productBehind(const Layer* layer) {
  bool compares = false;
  while (layer != nullptr && passesOn(*layer)) {
    compares = compares || layer->getType() == LayerType::kPOOLING;
    layer = layer->getInput(0)->producer();
  }
  if (layer == nullptr || !m::match(*layer, productInFloat())) {
    return nullptr;
  }
  // A NaN is the greatest number and the smallest step. Sums of integers are none, a residual may hold one.
  const Tensor* residual = layer->getInput(4);
  return compares && residual != nullptr && isFloating(residual->getType()) ? nullptr : layer;
}

// quantize(f(x)) -> f(quantize(x)) for shuffles and max pooling, where behind one of them or several there is a product
// to take it. The same for concatenations of a few tensors, whatever makes them: bytes are joined in a quarter of the
// time.
class MoveQuantizeToProduct : public PatternRewriter {
 public:
  MoveQuantizeToProduct() : PatternRewriter("move_quantize_to_product", {LayerType::kQUANTIZE}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const Layer* mover = layer.getInput(0)->producer();
    if (mover == nullptr || !canMoveBefore(*mover)) {
      return false;
    }
    std::vector<Tensor*> inputs;
    for (int i = 0; i < mover->getNbInputs(); ++i) {
      inputs.push_back(rewriter.create(LayerType::kQUANTIZE, {mover->getInput(i)}, layer.attributes()).getOutput(0));
    }
    rewriter.replaceLayer(layer, {rewriter.create(mover->getType(), inputs, mover->attributes()).getOutput(0)});
    return true;
  }

 private:
  static bool canMoveBefore(const Layer& mover) {
    constexpr int kFew = 4;  // each operand becomes a layer more
    if (!m::match(mover, m::layer(LayerType::kCONCATENATION).oneUse())) {
      return passesOn(mover) && productBehind(&mover) != nullptr;
    }
    if (mover.getNbInputs() <= kFew) {
      return true;
    }
    for (int i = 0; i < mover.getNbInputs(); ++i) {
      if (productBehind(mover.getInput(i)->producer()) == nullptr) {
        return false;
      }
    }
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
