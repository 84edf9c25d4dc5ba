#include "conversion/composites/composite.h"

namespace torchtrt::conversion::composites {
namespace {

constexpr char kFloatingSelf[] = "  x = self if self.is_floating_point() else self.to(6)\n";  // 6: float32

void addFunctions(NodeConverterRegistry& registry) {
  add(registry, "aten::logit", std::string(kFloatingSelf) + R"(
  if eps is not None:
    x = torch.clamp(x, eps, 1.0 - eps)
  return torch.log(x / (1 - x)))");
  add(registry, "aten::sinc", std::string(kFloatingSelf) + R"(
  y = x * 3.141592653589793
  return torch.where(x == 0, torch.ones_like(y), torch.sin(y) / y))");
  add(registry, "aten::rad2deg", std::string(kFloatingSelf) + "  return x * 57.29577951308232");
  add(registry, "aten::deg2rad", std::string(kFloatingSelf) + "  return x * 0.017453292519943295");
  add(registry, "aten::round.decimals", R"(
  if decimals == 0:
    return torch.round(self)
  x = self if self.dtype == 7 else self.to(6)
  scale = 10.0 ** decimals if decimals > 0 else 10.0 ** -decimals
  x = torch.round(x * scale) / scale if decimals > 0 else torch.round(x / scale) * scale
  return x.to(self.dtype))");
  add(registry, "aten::isposinf", "  return self == float('inf')");
  add(registry, "aten::isneginf", "  return self == -float('inf')");
  add(registry, "aten::isreal", "  return torch.ones_like(self, dtype=11)");  // 11: bool
}

void addPowers(NodeConverterRegistry& registry) {
  add(registry, "aten::float_power.Tensor_Tensor", "  return torch.pow(self.to(7), exponent.to(7))");  // 7: float64
  add(registry, "aten::float_power.Tensor_Scalar", "  return torch.pow(self.to(7), exponent)");
  add(registry, "aten::float_power.Scalar", "  return torch.pow(self, exponent.to(7))");
  add(registry, "aten::ldexp.Tensor", "  return self * torch.pow(2.0, other)");
  // If the greater is infinite, the difference of equal ones is NaN.
  add(registry, "aten::logaddexp", R"(
  r = torch.maximum(self, other) + torch.log1p(torch.exp(-torch.abs(self - other)))
  return torch.where(torch.isinf(self) & (self == other), self, r))");
  add(registry, "aten::logaddexp2", R"(
  r = torch.maximum(self, other) + torch.log1p(torch.exp2(-torch.abs(self - other))) * 1.4426950408889634
  return torch.where(torch.isinf(self) & (self == other), self, r))");
  const std::string xlogy = R"(
  r = self * torch.log(other)
  zero = torch.where(self == 0, torch.zeros_like(r), r)
  return torch.where(torch.isnan(other), torch.full_like(r, float('nan')), zero))";
  add(registry, "aten::xlogy.Tensor", xlogy);
  add(registry, "aten::special_xlogy", xlogy);
}

void addChoices(NodeConverterRegistry& registry) {
  add(registry, "aten::fmax", R"(
  return torch.where(torch.isnan(self), other, torch.where(torch.isnan(other), self, torch.maximum(self, other))))");
  add(registry, "aten::fmin", R"(
  return torch.where(torch.isnan(self), other, torch.where(torch.isnan(other), self, torch.minimum(self, other))))");
  add(registry, "aten::heaviside", "  return torch.where(self == 0, values, (self > 0).to(self.dtype))");
  add(registry, "aten::isclose", R"(
  close = self == other
  if equal_nan:
    close = close | (torch.isnan(self) & torch.isnan(other))
  if rtol == 0 and atol == 0:
    return close
  a = self.to(6) if self.dtype == 11 else self
  b = other if other.is_floating_point() else other.to(6)
  difference = torch.abs(a - b)
  return close | (torch.isfinite(difference) & (difference <= atol + torch.abs(rtol * b))))");
  add(registry, "aten::isin.Tensor_Tensor", R"(
  found = (elements.unsqueeze(-1) == test_elements.reshape([-1])).any(-1)
  return torch.logical_not(found) if invert else found)");
  add(registry, "aten::isin.Tensor_Scalar", R"(
  return elements != test_element if invert else elements == test_element)");
}

// Shifts whole numbers by a known number of places, in two steps if the dtype cannot hold the power of two. By less
// than none or more than all places, everything leaves on the left and signs remain on the right.
void addShifts(NodeConverterRegistry& registry) {
  const std::string places = R"(
  x = self.to(4) if self.dtype == 11 else self
  assert not x.is_floating_point() and int(other) >= -64 and int(other) <= 64, "shifted are whole numbers by up to 64 places"
  bits = 64 if x.dtype == 4 else 32 if x.dtype == 3 else 16 if x.dtype == 2 else 8
)";
  const std::string left = places + R"(
  if int(other) < 0 or int(other) >= bits:
    return torch.zeros_like(x)
  if int(other) < bits - 1:
    return x * int(2 ** int(other))
  few = int(other) // 2
  return x * int(2 ** few) * int(2 ** (int(other) - few)))";
  const std::string right = places + R"(
  most = bits if x.dtype == 0 else bits - 1
  count = most if int(other) < 0 or int(other) > most else int(other)
  if count < bits - 1:
    return torch.floor_divide(x, int(2 ** count))
  few = count // 2
  return torch.floor_divide(torch.floor_divide(x, int(2 ** few)), int(2 ** (count - few))))";
  add(registry, "aten::__lshift__.Scalar", left);
  add(registry, "aten::__rshift__.Scalar", right);
  add(registry, "aten::bitwise_left_shift.Tensor_Scalar", left);
  add(registry, "aten::bitwise_right_shift.Tensor_Scalar", right);
}

}  // namespace

void addArithmetic(NodeConverterRegistry& registry) {
  addFunctions(registry);
  addPowers(registry);
  addChoices(registry);
  addShifts(registry);
}

}  // namespace torchtrt::conversion::composites
