#include "conversion/converters/counted.h"

#include <numeric>

#include <torch/torch.h>

#include "conversion/converters/list.h"
#include "conversion/converters/plugin_layer.h"

// Operators whose results are as long as the data say.

namespace torchtrt::conversion::converters {
namespace {

using Ints = std::vector<int64_t>;

Tensor& flat(const Call& call, Tensor& x) {
  return x.rank() == 1 ? x : call.reshape(x, Dims{x.getDimensions().numel()});
}

// self
Tensor& nonzero(Call& call) {
  return *addPlugin(call, "NonZero", {&call.tensor(0)}, attributes({{"by_axis", false}, {"counted", Ints{0}}}))
              ->getOutput(0);
}

// self: a number counts as one element
std::vector<Tensor*> nonzeroByAxis(Call& call) {
  Tensor& x = call.tensor(0).rank() == 0 ? flat(call, call.tensor(0)) : call.tensor(0);
  Ints counted(static_cast<size_t>(x.rank()));
  std::iota(counted.begin(), counted.end(), int64_t{0});
  const Layer* layer = addPlugin(call, "NonZero", {&x}, attributes({{"by_axis", true}, {"counted", counted}}));
  std::vector<Tensor*> places;
  for (int axis = 0; axis < x.rank(); ++axis) {
    places.push_back(layer->getOutput(axis));
  }
  return places;
}

// self, mask: broadcast against each other
Tensor& maskedSelect(Call& call) {
  Tensor& mask = call.tensor(1);
  if (mask.getType() != DType::kBool) {
    call.refuse("dtype", std::string("expected a mask of bool, got ") + toString(mask.getType()));
  }
  Tensor& x = call.tensor(0);
  // Nobody computes this: it has the shape that both are broadcast to, as the network infers it.
  const Dims dims = call.elementwise("and", call.cast(x, DType::kBool), mask).getDimensions();
  const auto expanded = [&](Tensor& tensor) -> Tensor& {
    return flat(call, tensor.getDimensions() == dims ? tensor : call.expand(tensor, dims));
  };
  return maskedRows(call, expanded(x), expanded(mask));
}

// The different values, where each element is among them, how often each came; None of what is not asked for.
std::vector<Tensor*> uniqueOf(const Call& call, bool consecutive, bool with_inverse, bool with_counts) {
  Tensor& x = call.tensor(0);
  const Layer* layer =
      addPlugin(call, "Unique", {&flat(call, x)}, attributes({{"consecutive", consecutive}, {"counted", Ints{0, 2}}}));
  Tensor& nothing = call.fill(0, Dims{0}, DType::kInt64);
  Tensor* inverse = with_inverse ? &call.reshape(*layer->getOutput(1), x.getDimensions()) : &nothing;
  return {layer->getOutput(0), inverse, with_counts ? layer->getOutput(2) : &nothing};
}

// self, sorted, return_inverse: PyTorch sorts on the CPU whether it is asked to or not
std::vector<Tensor*> unique(Call& call) {
  std::vector<Tensor*> results = uniqueOf(call, false, call.flag(2), false);
  results.pop_back();
  return results;
}

// self, sorted, return_inverse, return_counts
std::vector<Tensor*> unique2(Call& call) {
  return uniqueOf(call, false, call.flag(2), call.flag(3));
}

// self, return_inverse, return_counts, dim
std::vector<Tensor*> uniqueConsecutive(Call& call) {
  if (!call.isNone(3)) {
    call.refuse("argument", "takes no dim");
  }
  return uniqueOf(call, true, call.flag(1), call.flag(2));
}

// dets, scores, iou_threshold
Tensor& nms(Call& call) {
  Tensor& boxes = call.tensor(0);
  Tensor& scores = call.tensor(1);
  const bool is_wide = boxes.getType() == DType::kFloat32 || boxes.getType() == DType::kFloat64;
  if (!is_wide || scores.getType() != boxes.getType() || boxes.rank() != 2 || scores.rank() != 1 ||
      boxes.getDimensions()[1].asConstant() != 4) {
    call.refuse("argument", "expected boxes [n, 4] and scores [n], both float32 or both float64");
  }
  return *addPlugin(call, "Suppression", {&boxes, &scores},
                    attributes({{"iou_threshold", call.real(2)}, {"counted", Ints{0}}}))
              ->getOutput(0);
}

}  // namespace

Tensor& maskedRows(const Call& call, Tensor& x, Tensor& mask) {
  const Dims& dims = x.getDimensions();
  for (int axis = 0; axis < mask.rank(); ++axis) {
    if (axis >= x.rank() || !(dims[axis] == mask.getDimensions()[axis])) {
      call.refuse("argument", "expected a mask of the first dimensions of " + dims.toString() + ", got " +
                                  mask.getDimensions().toString());
    }
  }
  std::vector<Dim> rows(dims.begin() + mask.rank(), dims.end());
  rows.insert(rows.begin(), mask.getDimensions().numel());
  Tensor& merged = mask.rank() == 1 ? x : call.reshape(x, Dims(rows));
  return *addPlugin(call, "MaskedRows", {&merged, &flat(call, mask)}, attributes({{"counted", Ints{0}}}))->getOutput(0);
}

void addCounted(NodeConverterRegistry& registry) {
  registry.add("aten::nonzero(Tensor self) -> Tensor", one(nonzero));
  registry.add("aten::argwhere(Tensor self) -> Tensor", one(nonzero));
  registry.add("aten::nonzero_numpy(Tensor self) -> Tensor[]", listOf(nonzeroByAxis));
  registry.add("aten::where(Tensor condition) -> Tensor[]", listOf(nonzeroByAxis));
  registry.add("aten::masked_select(Tensor self, Tensor mask) -> Tensor", one(maskedSelect));
  registry.add("aten::_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)",
               many(unique));
  registry.add(
      "aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, "
      "Tensor, Tensor)",
      many(unique2));
  registry.add(
      "aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> "
      "(Tensor, Tensor, Tensor)",
      many(uniqueConsecutive));
  registry.add("torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", one(nms));
}

}  // namespace torchtrt::conversion::converters
