#include "conversion/composites/composite.h"

namespace torchtrt::conversion::composites {
namespace {

void addVectorProducts(NodeConverterRegistry& registry) {
  add(registry, "aten::outer", "  return self.unsqueeze(1) * vec2");
  add(registry, "aten::vdot", "  return torch.dot(self, other)");
  add(registry, "aten::inner", R"(
  if self.dim() == 0 or other.dim() == 0:
    return self * other
  return torch.tensordot(self, other, [-1], [-1]))");
  add(registry, "aten::kron", R"(
  a = self
  b = other
  while a.dim() < b.dim():
    a = a.unsqueeze(0)
  while b.dim() < a.dim():
    b = b.unsqueeze(0)
  shape: List[int] = []
  for i in range(a.dim()):
    shape.append(a.size(i) * b.size(i))
  for i in range(a.dim()):
    a = a.unsqueeze(2 * i + 1)
    b = b.unsqueeze(2 * i)
  return (a * b).reshape(shape))");
  const std::string cross = R"(
  x = torch.unbind(a, dim)
  y = torch.unbind(b, dim)
  return torch.stack([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]], dim))";
  const std::string broadcast = R"(
  parts = torch.broadcast_tensors([self, other])
  a = parts[0]
  b = parts[1])";
  add(registry, "aten::linalg_cross", broadcast + cross);
  add(registry, "aten::cross",
      broadcast + R"(
  assert dim is not None, "without dim it depends on sizes which dimension is meant")" +
          cross);
}

void addMatrixProducts(NodeConverterRegistry& registry) {
  add(registry, "aten::tensordot", R"(
  left: List[int] = []
  kept: List[int] = []
  for d in dims_self:
    left.append(d if d >= 0 else d + self.dim())
  right: List[int] = []
  for d in dims_other:
    right.append(d if d >= 0 else d + other.dim())
  shape: List[int] = []
  contracted = 1
  for d in left:
    contracted = contracted * self.size(d)
  for d in range(self.dim()):
    if d not in left:
      kept.append(d)
      shape.append(self.size(d))
  a = torch.permute(self, kept + left).reshape([-1, contracted])
  rest: List[int] = []
  for d in range(other.dim()):
    if d not in right:
      rest.append(d)
      shape.append(other.size(d))
  b = torch.permute(other, right + rest).reshape([contracted, -1])
  return torch.mm(a, b).reshape(shape))");
  add(registry, "aten::addbmm", R"(
  product = torch.sum(torch.bmm(batch1, batch2), [0], False, dtype=batch1.dtype)
  if not self.is_floating_point():
    return product * int(alpha) if int(beta) == 0 else self * int(beta) + product * int(alpha)
  return product * alpha if beta == 0 else self * beta + product * alpha)");
  add(registry, "aten::addr", R"(
  product = torch.outer(vec1, vec2)
  if product.dtype == 11:
    if self.dtype == 11:
      product = product if alpha != 0 else torch.zeros_like(product)
      return product if beta == 0 else torch.logical_or(self, product)
    product = product.to(self.dtype)
  x = self.to(product.dtype) if self.dtype == 11 else self
  return product * alpha if beta == 0 else x * beta + product * alpha)");
  add(registry, "aten::chain_matmul", R"(
  product = matrices[0]
  for i in range(1, len(matrices)):
    product = torch.mm(product, matrices[i])
  return product)");
  add(registry, "aten::linalg_multi_dot", R"(
  product = tensors[0]
  for i in range(1, len(tensors)):
    product = torch.matmul(product, tensors[i])
  return product)");
  add(registry, "aten::linalg_matmul", "  return torch.matmul(self, other)");
  add(registry, "aten::linalg_vecdot", "  return (x * y).sum(dim)");
  // x1 [..., i], weight [o, i, j], x2 [..., j]
  add(registry, "aten::bilinear", R"(
  halves = torch.einsum("...i,oij->...oj", [input1, weight])
  y = torch.sum(halves * input2.unsqueeze(-2), [-1], False, dtype=input1.dtype)
  return y if bias is None else y + bias)");
}

void addDistances(NodeConverterRegistry& registry) {
  add(registry, "aten::cosine_similarity", R"(
  pair = torch.broadcast_tensors([x1, x2])
  a = torch.clamp_min(torch.linalg_vector_norm(pair[0], 2, [dim], True), eps)
  b = torch.clamp_min(torch.linalg_vector_norm(pair[1], 2, [dim], True), eps)
  return (pair[0] / a * (pair[1] / b)).sum(dim))");
  add(registry, "aten::pairwise_distance", "  return torch.linalg_vector_norm(x1 - x2 + eps, p, [-1], keepdim)");
  // Multiplies [-2 a, |a|^2, 1] and [b, 1, |b|^2] as PyTorch does if mode 1 asks for it, or mode 2 allows it and there
  // are more than 25 rows. It is less exact for points that are close together.
  add(registry, "aten::cdist", R"(
  mode = 0 if compute_mode is None else compute_mode
  many = False
  if p == 2.0 and mode == 0:
    many = x1.size(-2) > 25 or x2.size(-2) > 25
  if p != 2.0 or (mode != 1 and not many):
    return torch.linalg_vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, [-1])
  left = (x1 * x1).sum([-1], True)
  right = (x2 * x2).sum([-1], True)
  a = torch.cat([x1 * -2, left, torch.ones_like(left)], -1)
  b = torch.cat([x2, torch.ones_like(right), right], -1)
  return torch.sqrt(torch.clamp_min(torch.matmul(a, b.transpose(-2, -1)), 0)))");
  add(registry, "aten::linalg_norm", R"(
  if ord is None:
    if dim is None:
      flat = torch.linalg_vector_norm(self.reshape([-1]), 2, [0], dtype=dtype)
      return flat.reshape([1] * self.dim()) if keepdim else flat
    return torch.linalg_vector_norm(self, 2, dim, keepdim, dtype=dtype)
  if dim is None and self.dim() == 1:
    return torch.linalg_vector_norm(self, ord, [0], keepdim, dtype=dtype)
  assert dim is not None and len(dim) == 1, "norms of matrices other than Frobenius's are not computed here"
  return torch.linalg_vector_norm(self, ord, dim, keepdim, dtype=dtype))");
}

}  // namespace

void addProducts(NodeConverterRegistry& registry) {
  addVectorProducts(registry);
  addMatrixProducts(registry);
  addDistances(registry);
}

}  // namespace torchtrt::conversion::composites
