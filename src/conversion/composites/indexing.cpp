#include "conversion/composites/composite.h"

namespace torchtrt::conversion::composites {

void addIndexing(NodeConverterRegistry& registry) {
  // The selection is the check that PyTorch makes: of a class that there is not, be it negative.
  add(registry, "aten::one_hot", R"(
  assert num_classes >= 0, "without num_classes the size of the result depends on data"
  classes = torch.arange(num_classes)
  chosen = torch.index_select(classes, 0, self.reshape([-1])).reshape(self.shape)
  return (chosen.unsqueeze(-1) == classes).to(4))");  // 4: int64
  // The n-th place of the mask gets element n of the source; the one put in front is for what stays.
  add(registry, "aten::masked_scatter", R"(
  parts = torch.broadcast_tensors([self, mask])
  x = parts[0]
  chosen = parts[1].to(11)
  counted = torch.cumsum(chosen.reshape([-1]), 0)
  flat = source.reshape([-1])
  numbered = torch.cat([torch.zeros([1], dtype=flat.dtype), flat])
  return torch.where(chosen, torch.index_select(numbered, 0, counted).reshape(x.shape), x))");
  // Other than what it is made of, index_fill takes places counted from the end.
  add(registry, "aten::index_fill.int_Scalar", R"(
  x = self.reshape([1]) if self.dim() == 0 else self
  given = index.reshape([1]) if index.dim() == 0 else index
  places = torch.where(given < 0, given + x.size(dim), given)
  part = torch.full_like(torch.index_select(x, dim, places), value)
  return torch.index_copy(x, dim, places, part).reshape(self.shape))");
  add(registry, "aten::index_fill.int_Tensor", R"(
  x = self.reshape([1]) if self.dim() == 0 else self
  given = index.reshape([1]) if index.dim() == 0 else index
  places = torch.where(given < 0, given + x.size(dim), given)
  part = torch.index_select(x, dim, places)
  return torch.index_copy(x, dim, places, value.to(x.dtype).expand_as(part)).reshape(self.shape))");
  add(registry, "aten::max_unpool2d", R"(
  lead = self.shape[:-2]
  canvas = torch.zeros(lead + [output_size[0] * output_size[1]], dtype=self.dtype)
  return torch.scatter(canvas, -1, indices.flatten(-2), self.flatten(-2)).reshape(lead + output_size))");
  // Elements that an operator leaves unwritten may be anything.
  add(registry, "aten::empty.memory_format", "  return torch.zeros(size, dtype=dtype)");
  add(registry, "aten::empty_like", "  return torch.zeros_like(self, dtype=dtype)");
  add(registry, "aten::new_empty", "  return torch.new_zeros(self, size, dtype=dtype)");
  add(registry, "aten::scalar_tensor", "  return torch.full([], s, dtype=6 if dtype is None else dtype)");
  add(registry, "aten::eye", R"(
  return (torch.arange(n).unsqueeze(1) == torch.arange(n)).to(6 if dtype is None else dtype))");
  add(registry, "aten::eye.m", R"(
  return (torch.arange(n).unsqueeze(1) == torch.arange(m)).to(6 if dtype is None else dtype))");
}

}  // namespace torchtrt::conversion::composites
