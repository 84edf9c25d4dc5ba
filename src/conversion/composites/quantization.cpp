#include "conversion/composites/composite.h"
#include "libtorch/versions.h"

// To the nearest of quant_min..quant_max steps and back, in float32 as PyTorch computes it: half to even, times the
// inverse of the scale, NaN as the lowest step. PyTorch computes float64 in float64; per tensor, it multiplies the
// step by the scale in float32. Per channel it converts to int64 before it clamps: a number that int64 cannot hold is
// the lowest step, too. Older releases treat a tensor as they treat a channel.

namespace torchtrt::conversion::composites {
namespace {

constexpr char kWide[] = R"(
  x = self if self.dtype == 7 else self.to(6)
  inverse = torch.reciprocal(step).to(x.dtype)
)";
constexpr char kQuantized[] = R"(
  q = torch.round(x * inverse) + zero
  least = torch.full_like(q, float(quant_min))
)";
constexpr char kInFloat[] = R"(
  q = torch.where(torch.isnan(q), least, torch.clamp(q, float(quant_min), float(quant_max)))
)";
constexpr char kByInt64[] = R"(
  lost = torch.isnan(q) | (q >= 9223372036854775808.0)
  q = torch.where(lost, least, torch.clamp(q, float(quant_min), float(quant_max)))
)";
constexpr char kResult[] = "  y = ((q - zero) * step.to(x.dtype)).to(self.dtype)\n";
constexpr char kFloatResult[] = "  y = ((q - zero).to(6) * step).to(self.dtype)\n";

}  // namespace

void addQuantization(NodeConverterRegistry& registry) {
  const std::string per_tensor = std::string(kWide) + kQuantized +
                                 (libtorch::fakeQuantizeGoesByInt64() ? kByInt64 : kInFloat) +
                                 (libtorch::fakeQuantizeScalesInFloat() ? kFloatResult : kResult);
  const std::string number = "\n  step = torch.tensor(scale, dtype=6)\n  zero = float(zero_point)" + per_tensor;
  const std::string tensor = "\n  step = scale.to(6)\n  zero = zero_point.to(6)" + per_tensor;
  const std::string channel = std::string(R"(
  shape: List[int] = []
  for i in range(self.dim()):
    shape.append(self.size(i) if i == (axis if axis >= 0 else axis + self.dim()) else 1)
  x = self if self.dtype == 7 else self.to(6)
  step = scale.to(6).reshape(shape)
  inverse = torch.reciprocal(step).to(x.dtype)
  step = step.to(x.dtype)
  zero = torch.round(zero_point.to(x.dtype)).reshape(shape))") +
                              kQuantized + kByInt64 + kResult;
  add(registry, "aten::fake_quantize_per_tensor_affine", number + "  return y");
  add(registry, "aten::fake_quantize_per_tensor_affine.tensor_qparams", tensor + "  return y");
  add(registry, "aten::fake_quantize_per_channel_affine", channel + "  return y");
}

}  // namespace torchtrt::conversion::composites
