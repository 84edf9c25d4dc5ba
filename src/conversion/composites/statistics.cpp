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

// Takes the values at `ranks`, [k] or [..., k], of sorted rows [..., n], and interpolates between two numbers if need
// be.
constexpr char kBetween[] = R"(
  below = torch.ceil(ranks) if interpolation == 'higher' else torch.floor(ranks)
  if interpolation == 'nearest':
    below = torch.round(ranks)
  r = torch.gather(rows, -1, below.to(4))
  if interpolation == 'linear':
    r = torch.lerp(r, torch.gather(rows, -1, torch.ceil(ranks).to(4)), ranks - below)
  if interpolation == 'midpoint':
    r = torch.lerp(r, torch.gather(rows, -1, torch.ceil(ranks).to(4)), 0.5)
)";
// The rows of `self` along dim, or all of it.
constexpr char kRows[] = R"(
  axis = 0
  if dim is not None and self.dim() > 0:
    axis = dim if dim >= 0 else dim + self.dim()
  x = self.reshape([-1]) if dim is None or self.dim() == 0 else self.transpose(axis, -1)
  rows = torch.sort(x, -1)[0]
  points = q.reshape([-1])
)";
// A result for each of q comes first, one for a q without dimensions stands in place of the rows.
constexpr char kPlaced[] = R"(
  ones = [1] * self.dim() if keepdim else [1] * 0
  if dim is None or self.dim() == 0:
    return r.reshape(q.shape + ones)
  r = r.transpose(axis, -1)
  if q.dim() == 0:
    return r if keepdim else r.squeeze(axis)
  r = r.unsqueeze(0).transpose(0, axis + 1)
  return r if keepdim else r.squeeze(axis + 1))";

void addQuantiles(NodeConverterRegistry& registry) {
  // A NaN stands last; where there is one it is the result.
  add(registry, "aten::quantile",
      std::string(kRows) + R"(
  spoilt = torch.any(torch.isnan(x), -1, True)
  last = torch.zeros_like(points) + (x.size(-1) - 1)
  ranks = torch.where(spoilt, last, points * (x.size(-1) - 1)))" +
          kBetween + kPlaced);
  // Ranks among what is a number.
  add(registry, "aten::nanquantile",
      std::string(kRows) + R"(
  count = torch.sum(torch.logical_not(torch.isnan(x)), [-1], True)
  ranks = torch.clamp_min(points * (count - 1), 0))" +
          kBetween + kPlaced);
  for (const char* name : {"quantile", "nanquantile"}) {
    add(registry, std::string("aten::") + name + ".scalar",
        std::string("  return torch.") + name +
            "(self, torch.full([], q, dtype=self.dtype), dim, keepdim, interpolation=interpolation)");
  }
  // Edges have the elements' own dtype, and the last bin has its upper one. In 16 bits PyTorch's counts end at 256 or
  // 2048 for each of its threads; these are exact.
  add(registry, "aten::histc", R"(
  x = self.reshape([-1])
  low = torch.full([], min, dtype=x.dtype)
  high = torch.full([], max, dtype=x.dtype)
  if min == max and x.numel() > 0:
    low = torch.min(x)
    high = torch.max(x)
  same = low == high
  left = torch.where(same, low - 1, low)
  right = torch.where(same, high + 1, high)
  inside = (x >= left) & (x <= right)
  places = ((torch.where(inside, x, left) - left) * bins / (right - left)).to(4)
  counts = torch.index_add(torch.zeros([bins], dtype=4), 0, torch.clamp_max(places, bins - 1), inside.to(4))
  return counts.to(x.dtype))");
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
  addQuantiles(registry);
  addNormalizations(registry);
}

}  // namespace torchtrt::conversion::composites
