#include "optimization/passes.h"
#include "optimization/shuffle_form.h"
#include "torchtrt/matchers.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// True if the shuffle does nothing but swap the last two dimensions.
bool swapsLastTwo(const Layer& shuffle) {
  const auto form = ShuffleForm::of(shuffle);
  if (!form || form->reshape || shuffle.getOutput(0)->rank() < 2) {
    return false;
  }
  const Permutation permutation = compose(form->first, form->second);
  const size_t rank = permutation.size();
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) {
      return false;
    }
  }
  return rank >= 2 && permutation[rank - 1] == static_cast<int64_t>(rank) - 2;
}

// matrix_multiply(transpose(a), b) -> matrix_multiply(a, b) {transpose_a=...}, and the same for b.
class FoldTranspose : public PatternRewriter {
 public:
  FoldTranspose() : PatternRewriter("fold_transpose", {LayerType::kMATRIX_MULTIPLY}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    for (int operand = 0; operand < 2; ++operand) {
      const Layer* shuffle = layer.getInput(operand)->producer();
      if (!shuffle || shuffle->getType() != LayerType::kSHUFFLE || !swapsLastTwo(*shuffle)) {
        continue;
      }
      Attributes attributes = layer.attributes();
      const char* flag = operand == 0 ? "transpose_a" : "transpose_b";
      attributes.set(flag, !attributes.getBool(flag, false));
      std::vector<Tensor*> inputs;
      for (int i = 0; i < layer.getNbInputs(); ++i) {
        inputs.push_back(i == operand ? shuffle->getInput(0) : layer.getInput(i));
      }
      Layer& folded = rewriter.create(LayerType::kMATRIX_MULTIPLY, inputs, attributes);
      rewriter.replaceLayer(layer, {folded.getOutput(0)});
      return true;
    }
    return false;
  }
};

}  // namespace

PassPtr createFoldTransposeIntoMatrixMultiply(const Options&) {
  auto pass = std::make_unique<PatternPass>("fold_transpose_into_matrix_multiply");
  pass->add<FoldTranspose>();
  return pass;
}

}  // namespace torchtrt::optimization
