#include "optimization/passes.h"
#include "optimization/shuffle_form.h"
#include "torchtrt/matchers.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

void replaceByShuffle(Layer& layer, Tensor* input, const ShuffleForm& form, Rewriter& rewriter) {
  Layer& shuffle = rewriter.create(LayerType::kSHUFFLE, {input}, form.toAttributes());
  rewriter.replaceLayer(layer, {shuffle.getOutput(0)});
}

// shuffle(shuffle(x)) -> shuffle(x). A transpose that others read too is left alone: it would be done twice.
class MergeShuffles : public PatternRewriter {
 public:
  MergeShuffles() : PatternRewriter("merge_shuffles", {LayerType::kSHUFFLE}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const Layer* before = nullptr;
    if (!m::match(layer, m::layer(LayerType::kSHUFFLE).input(0, m::layer(LayerType::kSHUFFLE).capture(&before)))) {
      return false;
    }
    const auto first = ShuffleForm::of(*before), second = ShuffleForm::of(layer);
    if (!first || !second) {
      return false;
    }
    const bool moves_data = !first->first.empty() || !first->second.empty();
    if (moves_data && m::countUses(*before->getOutput(0)) != 1) {
      return false;
    }
    Tensor* input = before->getInput(0);
    const auto merged = first->followedBy(*second, input->getDimensions());
    if (!merged) {
      return false;
    }
    replaceByShuffle(layer, input, *merged, rewriter);
    return true;
  }
};

class SimplifyShuffle : public PatternRewriter {
 public:
  SimplifyShuffle() : PatternRewriter("simplify_shuffle", {LayerType::kSHUFFLE}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    const auto form = ShuffleForm::of(layer);
    if (!form) {
      return false;
    }
    const ShuffleForm simple = form->simplified(layer.getInput(0)->getDimensions());
    if (simple == *form) {
      return false;
    }
    replaceByShuffle(layer, layer.getInput(0), simple, rewriter);
    return true;
  }
};

}  // namespace

PassPtr createMergeShuffles(const Options&) {
  auto pass = std::make_unique<PatternPass>("merge_shuffles");
  pass->add<MergeShuffles>().add<SimplifyShuffle>();
  return pass;
}

}  // namespace torchtrt::optimization
