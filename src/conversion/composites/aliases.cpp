#include "conversion/composites/composite.h"

namespace torchtrt::conversion::composites {

void addAliases(NodeConverterRegistry& registry) {
  const std::pair<const char*, const char*> unary[] = {
      {"aten::absolute", "abs"},        {"aten::negative", "neg"},        {"aten::arccos", "acos"},
      {"aten::arccosh", "acosh"},       {"aten::arcsin", "asin"},         {"aten::arcsinh", "asinh"},
      {"aten::arctan", "atan"},         {"aten::arctanh", "atanh"},       {"aten::adjoint", "mT"},
      {"aten::lift", "clone"},          {"aten::lift_fresh", "clone"},    {"aten::special_expit", "sigmoid"},
      {"aten::special_erf", "erf"},     {"aten::special_erfc", "erfc"},   {"aten::special_expm1", "expm1"},
      {"aten::special_exp2", "exp2"},   {"aten::special_log1p", "log1p"}, {"aten::special_gammaln", "lgamma"},
      {"aten::special_round", "round"},
  };
  for (const auto& [name, other] : unary) {
    if (std::string(name) == "aten::special_round") {
      add(registry, name, "  return torch.round(self, decimals=decimals)");
    } else {
      add(registry, name, std::string("  return torch.") + other + "(self)");
    }
  }
  const std::pair<const char*, const char*> binary[] = {
      {"aten::greater", "gt"},    {"aten::greater_equal", "ge"}, {"aten::less", "lt"},
      {"aten::less_equal", "le"}, {"aten::not_equal", "ne"},
  };
  for (const auto& [name, other] : binary) {
    for (const char* overload : {".Tensor", ".Scalar"}) {
      add(registry, std::string(name) + overload, std::string("  return torch.") + other + "(self, other)");
    }
  }
  // 5, 15 and 6 are float16, bfloat16 and float32.
  add(registry, "aten::_autocast_to_full_precision",
      "  return self.to(6) if cpu_enabled and (self.dtype == 5 or self.dtype == 15) else self");
  add(registry, "aten::_autocast_to_reduced_precision",
      "  return self.to(cpu_dtype) if cpu_enabled and self.dtype == 6 else self");
  add(registry, "aten::arctan2", "  return torch.atan2(self, other)");
  add(registry, "aten::divide.Tensor_mode", "  return torch.div(self, other, rounding_mode=rounding_mode)");
  add(registry, "aten::divide.Scalar_mode", "  return torch.div(self, other, rounding_mode=rounding_mode)");
  add(registry, "aten::subtract.Scalar", "  return torch.sub(self, other, alpha=alpha)");
  add(registry, "aten::clip.Tensor", "  return torch.clamp(self, min, max)");
  add(registry, "aten::moveaxis.int", "  return torch.movedim(self, source, destination)");
  add(registry, "aten::moveaxis.intlist", "  return torch.movedim(self, source, destination)");
  add(registry, "aten::ravel", "  return torch.reshape(self, [-1])");
  add(registry, "aten::ger", "  return torch.outer(self, vec2)");
  add(registry, "aten::special_softmax", "  return torch.softmax(self, dim, dtype)");
  add(registry, "aten::special_log_softmax", "  return torch.log_softmax(self, dim, dtype=dtype)");
  add(registry, "aten::special_logit", "  return torch.logit(self, eps)");
  add(registry, "aten::special_logsumexp", "  return torch.logsumexp(self, dim, keepdim)");
  add(registry, "aten::unsafe_split_with_sizes", "  return torch.split_with_sizes(self, split_sizes, dim)");
  add(registry, "aten::native_channel_shuffle", "  return torch.channel_shuffle(self, groups)");
  add(registry, "aten::_adaptive_avg_pool2d", "  return torch.adaptive_avg_pool2d(self, output_size)");
  add(registry, "aten::_adaptive_avg_pool3d", "  return torch.adaptive_avg_pool3d(self, output_size)");
  add(registry, "aten::_stack", "  return torch.stack(tensors, dim)");
  add(registry, "aten::_unsafe_index.Tensor", "  return torch.index(self, indices)");
  add(registry, "aten::copy", "  return src.to(self.dtype).expand_as(self)");
}

}  // namespace torchtrt::conversion::composites
