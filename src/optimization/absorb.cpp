#include <algorithm>

#include "optimization/affine.h"
#include "optimization/shuffle_form.h"

namespace torchtrt::optimization {

using namespace rewriting;

namespace {

// A layer with weights whose output, possibly transposed, is the tensor in question.
struct Absorber {
  WeightedLayer weighted;
  const Layer* transpose;  // null: none
  int axis;                // of the tensor along which the output channels lie
};

std::optional<Absorber> absorberOf(const Tensor* tensor, bool takes_float16) {
  if (auto weighted = asAbsorbing(tensor, takes_float16)) {
    const int axis = weighted->output_axis;
    return Absorber{std::move(*weighted), nullptr, axis};
  }
  const Layer* producer = tensor->producer();
  if (!producer || producer->getType() != LayerType::kSHUFFLE || m::countUses(*tensor) != 1) {
    return std::nullopt;
  }
  const auto form = ShuffleForm::of(*producer);
  if (!form || form->reshape) {
    return std::nullopt;
  }
  auto weighted = asAbsorbing(producer->getInput(0), takes_float16);
  const Permutation permutation = compose(form->first, form->second);
  const auto found =
      weighted ? std::find(permutation.begin(), permutation.end(), weighted->output_axis) : permutation.end();
  if (found == permutation.end()) {
    return std::nullopt;
  }
  return Absorber{std::move(*weighted), producer, static_cast<int>(found - permutation.begin())};
}

}  // namespace

bool absorbIntoWeightsBefore(Rewriter& rewriter, Layer& layer) {
  const int operands = layer.getType() == LayerType::kELEMENTWISE ? 2 : 1;
  for (int operand = 0; operand < operands; ++operand) {
    const auto absorber = absorberOf(layer.getInput(operand), layer.getType() == LayerType::kNORMALIZATION);
    const auto affine = absorber ? asAffine(layer, absorber->axis) : std::nullopt;
    if (!affine || affine->input != layer.getInput(operand)) {
      continue;
    }
    Layer* folded = createWithOutputAffine(rewriter, absorber->weighted, affine->affine);
    if (!folded) {
      continue;
    }
    copyActivation(rewriter, layer, *folded);
    if (absorber->transpose) {
      folded = &rewriter.create(LayerType::kSHUFFLE, {folded->getOutput(0)}, absorber->transpose->attributes());
    }
    rewriter.replaceLayer(layer, {folded->getOutput(0)});
    return true;
  }
  return false;
}

}  // namespace torchtrt::optimization
