#include "optimization/constant_vector.h"
#include "optimization/passes.h"
#include "torchtrt/matchers.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// gpt_attention(x + bias, ...) -> gpt_attention(x, ..., bias), for a constant bias per channel: the kernel adds it to
// what it reads, which saves a pass over memory.
class FuseAttentionWithBias : public PatternRewriter {
 public:
  FuseAttentionWithBias() : PatternRewriter("fuse_attention_with_bias", {LayerType::kPLUGIN_V2}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    // The fields of other plugins may have any type.
    if (layer.attributes().getString("namespace", "") != "tensorrt_llm" ||
        layer.attributes().getString("type", "") != "GPTAttention") {
      return false;
    }
    const std::string operands = layer.attributes().getString("operands", "");
    if (operands.find("qkv_bias") != std::string::npos) {
      return false;
    }
    const Tensor& qkv = *layer.getInput(0);
    Tensor *x = nullptr, *bias = nullptr;
    if (!qkv.producer() ||
        !m::match(*qkv.producer(), m::elementwise("sum").oneUse().eitherWay(m::tensor(&x), m::constant(&bias)))) {
      return false;
    }
    const auto vector = asVector(bias, qkv.getDimensions(), 1);
    if (!vector || !(x->getDimensions() == qkv.getDimensions())) {
      return false;
    }
    std::vector<Tensor*> inputs = {x};
    for (int i = 1; i < layer.getNbInputs(); ++i) {
      inputs.push_back(layer.getInput(i));
    }
    inputs.push_back(&rewriter.createConstant(*vector));
    Attributes fields = layer.attributes();
    fields.set("operands", (operands.empty() ? "qkv" : operands) + ",qkv_bias");
    Layer& fused = rewriter.create(LayerType::kPLUGIN_V2, inputs, fields);
    std::vector<Tensor*> outputs;
    for (int i = 0; i < fused.getNbOutputs(); ++i) {
      outputs.push_back(fused.getOutput(i));
    }
    rewriter.replaceLayer(layer, outputs);
    return true;
  }
};

}  // namespace

PassPtr createFuseAttentionWithBias(const Options&) {
  auto pass = std::make_unique<PatternPass>("fuse_attention_with_bias");
  pass->add<FuseAttentionWithBias>();
  return pass;
}

}  // namespace torchtrt::optimization
