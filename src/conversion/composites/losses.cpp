#include "conversion/composites/composite.h"

namespace torchtrt::conversion::composites {
namespace {

// reduction: 0 keeps every element, 1 is their mean, 2 their sum.
constexpr char kReduced[] = R"(
  if reduction == 1:
    return loss.mean()
  return loss.sum() if reduction == 2 else loss)";

}  // namespace

void addLosses(NodeConverterRegistry& registry) {
  const auto loss = [&](const char* name, const std::string& body) { add(registry, name, body + kReduced); };
  loss("aten::mse_loss", "\n  loss = torch.square(self - target)");
  loss("aten::l1_loss", "\n  loss = torch.abs(self - target)");
  loss("aten::smooth_l1_loss", R"(
  z = torch.abs(self - target)
  loss = torch.where(z < beta, 0.5 * z * z / beta, z - 0.5 * beta) if beta > 0 else z)");
  loss("aten::huber_loss", R"(
  z = torch.abs(self - target)
  loss = torch.where(z <= delta, 0.5 * z * z, delta * (z - 0.5 * delta)))");
  loss("aten::soft_margin_loss", "\n  loss = torch.log1p(torch.exp(-target * self))");
  loss("aten::binary_cross_entropy", R"(
  loss = -(torch.clamp_min(torch.log(self), -100) * target + torch.clamp_min(torch.log1p(-self), -100) * (1 - target))
  if weight is not None:
    loss = loss * weight)");
  loss("aten::binary_cross_entropy_with_logits", R"(
  logarithm = torch.log_sigmoid(self)
  if pos_weight is not None:
    logarithm = (logarithm * ((pos_weight - 1) * target + 1)).to(self.dtype)
  loss = ((1 - target) * self - logarithm).to(target.dtype)
  if weight is not None:
    loss = (loss * weight).to(target.dtype))");
  loss("aten::kl_div", R"(
  if log_target:
    loss = torch.exp(target) * (target - self)
  else:
    loss = torch.xlogy(target, target) - target * self)");
  loss("aten::poisson_nll_loss", R"(
  loss = torch.exp(input) - target * input if log_input else input - target * torch.log(input + eps)
  if full:
    more = target * torch.log(target) - target + 0.5 * torch.log(6.283185307179586 * target)
    loss = loss + torch.where(target > 1, more, torch.zeros_like(more)))");
}

}  // namespace torchtrt::conversion::composites
