
#include "base/logging.h"
#include "optimization/evaluate_layer.h"
#include "optimization/passes.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// A layer all of whose operands are constants is computed now. Where the reference kernel finds a fault in the data,
// the layer stays: the fault is reported when, and if, it is run.
class FoldConstants : public PatternRewriter {
 public:
  explicit FoldConstants(size_t max_growth) : PatternRewriter("fold_constants", {}), max_growth_(max_growth) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const LayerType type = layer.getType();
    if (type == LayerType::kCONSTANT || type == LayerType::kPLUGIN_V2 || type == LayerType::kREFORMAT) {
      return false;
    }
    std::vector<const Weights*> inputs;
    size_t input_bytes = 0;
    for (int i = 0; i < layer.getNbInputs(); ++i) {
      const Tensor* input = layer.getInput(i);
      if (input && !input->constant()) {
        return false;
      }
      inputs.push_back(input ? input->constant() : nullptr);
      input_bytes += input ? inputs.back()->bytes() : 0;
    }
    if (!resultsFit(layer, input_bytes + max_growth_)) {
      return false;
    }
    std::vector<Weights> results;
    try {
      results = evaluateLayer(layer, inputs, [](const std::string& name) -> int64_t {
        throw InternalError("a constant depends on the symbol " + name);
      });
    } catch (const EngineError& error) {
      TORCHTRT_LOG(kDEBUG, "constant layer '" << layer.getName() << "' is not folded: " << error.message());
      return false;
    }
    std::vector<Tensor*> outputs;
    for (const Weights& result : results) {
      outputs.push_back(&rewriter.createConstant(result));
    }
    rewriter.replaceLayer(layer, outputs);
    return true;
  }

 private:
  // Static shapes throughout, and no more bytes than allowed.
  static bool resultsFit(const Layer& layer, size_t max_bytes) {
    for (const auto& [name, value] : layer.attributes().values()) {
      const Dims* dims = std::get_if<Dims>(&value);
      if (dims && !dims->isStatic()) {
        return false;
      }
    }
    double bytes = 0;
    for (int i = 0; i < layer.getNbOutputs(); ++i) {
      const Tensor& output = *layer.getOutput(i);
      if (!output.getDimensions().isStatic()) {
        return false;
      }
      double elements = 1;
      for (const int64_t dim : output.getDimensions().constants()) {
        elements *= static_cast<double>(dim);
      }
      bytes += elements * static_cast<double>(sizeOf(output.getType()));
    }
    return bytes <= static_cast<double>(max_bytes);
  }

  size_t max_growth_;
};

}  // namespace

PassPtr createFoldConstants(const Options& options) {
  auto pass = std::make_unique<PatternPass>("fold_constants");
  pass->add<FoldConstants>(options.max_folded_bytes);
  return pass;
}

}  // namespace torchtrt::optimization
