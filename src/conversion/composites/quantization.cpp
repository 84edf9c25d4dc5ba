#include "conversion/composites/composite.h"

// To the nearest of quant_min..quant_max steps and back, in float32 as PyTorch computes it: half to even, times the
// inverse of the scale, NaN as the lowest step.

namespace torchtrt::conversion::composites {
namespace {

constexpr char kQuantized[] = R"(
  x = self.to(6)
  q = torch.round(x * torch.reciprocal(step)) + zero
  least = torch.full_like(q, float(quant_min))
  q = torch.where(torch.isnan(q), least, torch.clamp(q, float(quant_min), float(quant_max)))
)";
constexpr char kResult[] = "  y = ((q - zero) * step).to(self.dtype)\n";

}  // namespace

void addQuantization(NodeConverterRegistry& registry) {
  const std::string number =
      std::string("\n  step = torch.tensor(scale, dtype=6)\n  zero = float(zero_point)") + kQuantized + kResult;
  const std::string tensor = std::string("\n  step = scale.to(6)\n  zero = zero_point.to(6)") + kQuantized + kResult;
  const std::string channel = std::string(R"(
  shape: List[int] = []
  for i in range(self.dim()):
    shape.append(self.size(i) if i == (axis if axis >= 0 else axis + self.dim()) else 1)
  step = scale.to(6).reshape(shape)
  zero = torch.round(zero_point.to(6)).reshape(shape))") +
                              kQuantized + kResult;
  add(registry, "aten::fake_quantize_per_tensor_affine", number + "  return y");
  add(registry, "aten::fake_quantize_per_tensor_affine.tensor_qparams", tensor + "  return y");
  add(registry, "aten::fake_quantize_per_channel_affine", channel + "  return y");
}

}  // namespace torchtrt::conversion::composites
