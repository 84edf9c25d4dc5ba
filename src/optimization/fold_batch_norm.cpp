#include <algorithm>
#include <cmath>

#include "kernels/scale.h"
#include "optimization/affine.h"
#include "optimization/passes.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

constexpr int kBias = 2, kResidual = 3;

// Returns float32 numbers; nothing if one is beyond that dtype.
std::optional<Weights> singles(const std::vector<double>& values) {
  void* memory = nullptr;
  Weights weights = Weights::allocate(DType::kFloat32, {static_cast<int64_t>(values.size())}, &memory);
  auto* const to = static_cast<float*>(memory);
  std::transform(values.begin(), values.end(), to, [](double value) { return static_cast<float>(value); });
  return std::all_of(to, to + values.size(), [](float value) { return std::isfinite(value); }) ? std::optional(weights)
                                                                                               : std::nullopt;
}

// True for a convolution of bfloat16 with constant weights that nothing else reads, and that has no end but a bias.
bool takesScale(const Layer& layer) {
  const Weights* const kernel = layer.getType() == LayerType::kCONVOLUTION ? layer.getInput(1)->constant() : nullptr;
  return kernel && kernel->dtype == DType::kBFloat16 && m::countUses(*layer.getOutput(0)) == 1 &&
         !layer.getInput(kResidual) && !layer.getInput(kernels::kScale) &&
         layer.attributes().getString("activation", "").empty();
}

// Weights of bfloat16 would lose too much if they were scaled and rounded once more. So the scale becomes an operand of
// its own, and the sum is rounded once, behind it.
bool absorbAsScale(Rewriter& rewriter, Layer& layer) {
  const Layer* const convolution = layer.getInput(0)->producer();
  const auto found = convolution && takesScale(*convolution) ? asAffine(layer, 1) : std::nullopt;
  if (!found) {
    return false;
  }
  std::vector<double> shift = found->affine.shift;
  if (const Tensor* const bias = convolution->getInput(kBias)) {
    const auto values = channelValues(bias, Dims({Dim(static_cast<int64_t>(shift.size()))}), 0);
    if (!values) {
      return false;
    }
    for (size_t i = 0; i < shift.size(); ++i) {
      shift[i] += (*values)[i] * found->affine.scale[i];
    }
  }
  const auto bias = singles(shift), scale = singles(found->affine.scale);
  if (!bias || !scale) {
    return false;
  }
  const std::vector<Tensor*> inputs = {convolution->getInput(0), convolution->getInput(1),
                                       &rewriter.createConstant(*bias), nullptr, &rewriter.createConstant(*scale)};
  Layer& scaled = rewriter.create(LayerType::kCONVOLUTION, inputs, convolution->attributes());
  copyActivation(rewriter, layer, scaled);
  rewriter.replaceLayer(layer, {scaled.getOutput(0)});
  return true;
}

// normalization(batch)(convolution(x, w, b)) -> convolution(x, w * s, b * s + t); the same for deconvolution and for
// the product of matrices. A convolution of bfloat16 gets the scale s as an operand instead. The normalization's
// activation stays.
class FoldBatchNorm : public PatternRewriter {
 public:
  FoldBatchNorm() : PatternRewriter("fold_batch_norm", {LayerType::kNORMALIZATION}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    return absorbIntoWeightsBefore(rewriter, layer) || absorbAsScale(rewriter, layer);
  }
};

}  // namespace

PassPtr createFoldBatchNorm(const Options&) {
  auto pass = std::make_unique<PatternPass>("fold_batch_norm");
  pass->add<FoldBatchNorm>();
  return pass;
}

}  // namespace torchtrt::optimization
