#include "conversion/composites/composite.h"

namespace torchtrt::conversion::composites {
namespace {

void addReductions(NodeConverterRegistry& registry) {
  add(registry, "aten::var_mean", "  return torch.var(self, unbiased), torch.mean(self)");
  add(registry, "aten::std_mean", "  return torch.std(self, unbiased), torch.mean(self)");
  add(registry, "aten::var_mean.dim",
      "  return torch.var(self, dim, unbiased, keepdim), torch.mean(self, dim, keepdim)");
  add(registry, "aten::std_mean.dim",
      "  return torch.std(self, dim, unbiased, keepdim), torch.mean(self, dim, keepdim)");
  const std::string extremes = R"(
  if dim is None:
    low = torch.min(self)
    high = torch.max(self)
    if keepdim:
      return low.reshape([1] * self.dim()), high.reshape([1] * self.dim())
    return low, high
  return torch.amin(self, [dim], keepdim), torch.amax(self, [dim], keepdim))";
  add(registry, "aten::aminmax", extremes);
  add(registry, "aten::_aminmax", "  return torch.min(self), torch.max(self)");
  add(registry, "aten::_aminmax.dim", "  return torch.amin(self, [dim], keepdim), torch.amax(self, [dim], keepdim)");
  add(registry, "aten::nansum", R"(
  return torch.sum(torch.where(torch.isnan(self), torch.zeros_like(self), self), dim, keepdim, dtype=dtype))");
  add(registry, "aten::nanmean", R"(
  total = torch.sum(torch.where(torch.isnan(self), torch.zeros_like(self), self), dim, keepdim, dtype=dtype)
  return total / torch.sum(torch.logical_not(torch.isnan(self)), dim, keepdim))");
  add(registry, "aten::norm.ScalarOpt_dtype", "  return torch.norm(self.to(dtype), 2 if p is None else p)");
  add(registry, "aten::diff", R"(
  x = self
  if prepend is not None:
    x = torch.cat([prepend, x], dim)
  if append is not None:
    x = torch.cat([x, append], dim)
  for i in range(n):
    later = torch.slice(x, dim, 1)
    earlier = torch.slice(x, dim, 0, x.size(dim) - 1)
    x = torch.logical_xor(later, earlier) if x.dtype == 11 else later - earlier
  return x)");
}

// The middle, the lower one of two; a NaN is taken for it.
constexpr char kMedianAlong[] = R"(
  pair = torch.sort(x, dim=axis, stable=True)
  middle = (x.size(axis) - 1) // 2
  values = torch.narrow(pair[0], axis, middle, 1)
  indices = torch.narrow(pair[1], axis, middle, 1)
  if x.is_floating_point():
    nan = torch.isnan(x)
    spoilt = torch.any(nan, axis, True)
    values = torch.where(spoilt, torch.full_like(values, float('nan')), values)
    indices = torch.where(spoilt, torch.argmax(nan.to(0), axis, True), indices)
)";

void addOrders(NodeConverterRegistry& registry) {
  add(registry, "aten::msort", "  return torch.sort(self, 0)[0]");
  add(registry, "aten::argsort.stable", "  return torch.sort(self, stable=stable, dim=dim, descending=descending)[1]");
  add(registry, "aten::median", std::string(R"(
  if self.numel() == 0 and self.is_floating_point():
    return torch.full([], float('nan'), dtype=self.dtype)
  x = self.reshape([-1])
  axis = 0)") + kMedianAlong + "  return values.reshape([1])[0]");
  add(registry, "aten::median.dim",
      std::string("\n  x = self.reshape([1]) if self.dim() == 0 else self\n  axis = dim") + kMedianAlong + R"(
  if self.dim() == 0:
    return values.reshape(self.shape), indices.reshape(self.shape)
  if keepdim:
    return values, indices
  return values.squeeze(dim), indices.squeeze(dim))");
}

void addNormalizations(NodeConverterRegistry& registry) {
  add(registry, "aten::native_layer_norm", R"(
  axes = [i - len(normalized_shape) for i in range(len(normalized_shape))]
  mean = torch.mean(input, axes, True)
  rstd = torch.rsqrt(torch.var(input, axes, False, True) + eps)
  return torch.layer_norm(input, normalized_shape, weight, bias, eps), mean, rstd)");
  add(registry, "aten::native_group_norm", R"(
  grouped = input.reshape([N, group, -1])
  rstd = torch.rsqrt(torch.var(grouped, [2], False) + eps)
  return torch.group_norm(input, group, weight, bias, eps), torch.mean(grouped, [2]), rstd)");
  const std::string nothing = "torch.zeros([0], dtype=input.dtype)";
  add(registry, "aten::native_batch_norm",
      "  y = torch.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)\n"
      "  return y, " +
          nothing + ", " + nothing);
  add(registry, "aten::_native_batch_norm_legit_no_training",
      "  y = torch.batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps, False)\n"
      "  return y, " +
          nothing + ", " + nothing);
}

}  // namespace

void addStatistics(NodeConverterRegistry& registry) {
  addReductions(registry);
  addOrders(registry);
  addNormalizations(registry);
}

}  // namespace torchtrt::conversion::composites
