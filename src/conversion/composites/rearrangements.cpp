#include "conversion/composites/composite.h"

namespace torchtrt::conversion::composites {
namespace {

constexpr char kAtLeast2d[] = R"(
  x = self
  if x.dim() == 0:
    x = x.reshape([1, 1])
  elif x.dim() == 1:
    x = x.unsqueeze(0)
  return x)";
constexpr char kAtLeast3d[] = R"(
  x = self
  if x.dim() == 0:
    x = x.reshape([1, 1, 1])
  elif x.dim() == 1:
    x = x.unsqueeze(0).unsqueeze(-1)
  elif x.dim() == 2:
    x = x.unsqueeze(-1)
  return x)";

void addStacks(NodeConverterRegistry& registry) {
  add(registry, "aten::atleast_1d", "  return self.reshape([1]) if self.dim() == 0 else self");
  add(registry, "aten::atleast_2d", kAtLeast2d);
  add(registry, "aten::atleast_3d", kAtLeast3d);
  add(registry, "aten::hstack", R"(
  parts = [torch.atleast_1d(x) for x in tensors]
  return torch.cat(parts, 0 if parts[0].dim() == 1 else 1))");
  add(registry, "aten::vstack", "  return torch.cat([torch.atleast_2d(x) for x in tensors], 0)");
  add(registry, "aten::row_stack", "  return torch.cat([torch.atleast_2d(x) for x in tensors], 0)");
  add(registry, "aten::dstack", "  return torch.cat([torch.atleast_3d(x) for x in tensors], 2)");
  add(registry, "aten::column_stack", R"(
  columns: List[Tensor] = []
  for x in tensors:
    columns.append(x.reshape([-1, 1]) if x.dim() <= 1 else x)
  return torch.cat(columns, 1))");
  add(registry, "aten::cartesian_prod", R"(
  if len(tensors) == 1:
    return tensors[0]
  return torch.stack([x.reshape([-1]) for x in torch.meshgrid(tensors)], 1))");
}

void addSplits(NodeConverterRegistry& registry) {
  add(registry, "aten::hsplit.int", "  return torch.tensor_split(self, sections, 0 if self.dim() == 1 else 1)");
  add(registry, "aten::vsplit.int", "  return torch.tensor_split(self, sections, 0)");
  add(registry, "aten::dsplit.int", "  return torch.tensor_split(self, sections, 2)");
  add(registry, "aten::tensor_split.indices", R"(
  parts: List[Tensor] = []
  start = 0
  for end in indices:
    parts.append(torch.slice(self, dim, start, end))
    start = end
  parts.append(torch.slice(self, dim, start))
  return parts)");
}

void addFlips(NodeConverterRegistry& registry) {
  add(registry, "aten::fliplr", "  return torch.flip(self, [1])");
  add(registry, "aten::flipud", "  return torch.flip(self, [0])");
  add(registry, "aten::rot90", R"(
  turns = k % 4
  if turns == 1:
    return torch.transpose(torch.flip(self, [dims[1]]), dims[0], dims[1])
  if turns == 2:
    return torch.flip(self, dims)
  if turns == 3:
    return torch.transpose(torch.flip(self, [dims[0]]), dims[0], dims[1])
  return torch.clone(self))");
}

// Moves frequency zero to the middle, and back.
void addFrequencyShifts(NodeConverterRegistry& registry) {
  for (const auto& [name, half] : {std::pair("aten::fft_fftshift", "self.size(axis) // 2"),
                                   std::pair("aten::fft_ifftshift", "(self.size(axis) + 1) // 2")}) {
    add(registry, name,
        std::string(R"(
  axes = dim if dim is not None else [i for i in range(self.dim())]
  shifts: List[int] = []
  for axis in axes:
    shifts.append()") +
            half + ")\n  return torch.roll(self, shifts, axes)");
  }
}

void addDiagonals(NodeConverterRegistry& registry) {
  add(registry, "aten::diagonal", R"(
  x = torch.movedim(self, [dim1, dim2], [-2, -1])
  rows = x.size(-2)
  columns = x.size(-1)
  if offset >= 0:
    count = max(min(rows, columns - offset), 0)
    start = offset
  else:
    count = max(min(rows + offset, columns), 0)
    start = -offset * columns
  places = torch.arange(count) * (columns + 1) + start
  return torch.index_select(x.flatten(-2), -1, places))");
  // Row r holds element r, or r + offset below the main diagonal; elsewhere there is padding.
  add(registry, "aten::diag_embed", R"(
  n = self.size(-1) + abs(offset)
  rows = torch.arange(n).unsqueeze(1)
  kept = torch.arange(n) - rows == offset
  padding = [0, offset] if offset >= 0 else [-offset, 0]
  x = torch.constant_pad_nd(self, padding).unsqueeze(-1)
  matrix = torch.where(kept, x, torch.zeros_like(x))
  return torch.movedim(matrix, [-2, -1], [dim1, dim2]))");
  add(registry, "aten::diag", R"(
  return torch.diag_embed(self, diagonal) if self.dim() == 1 else torch.diagonal(self, diagonal))");
  add(registry, "aten::diagflat", "  return torch.diag_embed(self.reshape([-1]), offset)");
  add(registry, "aten::trace", "  return torch.diagonal(self).sum()");
}

void addWindows(NodeConverterRegistry& registry) {
  add(registry, "aten::unfold", R"(
  if self.dim() == 0:
    return self.reshape([1])
  axis = dimension if dimension >= 0 else dimension + self.dim()
  count = (self.size(axis) - size) // step + 1
  places = torch.arange(count).unsqueeze(1) * step + torch.arange(size)
  windows = torch.index_select(self, axis, places.reshape([-1]))
  return torch.movedim(torch.unflatten(windows, axis, [count, size]), axis + 1, -1))");
  add(registry, "aten::im2col", R"(
  x = self.unsqueeze(0) if self.dim() == 3 else self
  x = torch.constant_pad_nd(x, [padding[1], padding[1], padding[0], padding[0]])
  rows = (x.size(2) - dilation[0] * (kernel_size[0] - 1) - 1) // stride[0] + 1
  columns = (x.size(3) - dilation[1] * (kernel_size[1] - 1) - 1) // stride[1] + 1
  parts: List[Tensor] = []
  for i in range(kernel_size[0]):
    top = i * dilation[0]
    lines = torch.slice(x, 2, top, top + (rows - 1) * stride[0] + 1, stride[0])
    for j in range(kernel_size[1]):
      left = j * dilation[1]
      parts.append(torch.slice(lines, 3, left, left + (columns - 1) * stride[1] + 1, stride[1]))
  y = torch.stack(parts, 2).flatten(1, 2).flatten(2)
  return y.squeeze(0) if self.dim() == 3 else y)");
  // Every column's elements are added to where im2col takes them from, which is known while compiling.
  add(registry, "aten::col2im", R"(
  x = self.unsqueeze(0) if self.dim() == 2 else self
  height = output_size[0] + 2 * padding[0]
  width = output_size[1] + 2 * padding[1]
  rows = (height - dilation[0] * (kernel_size[0] - 1) - 1) // stride[0] + 1
  columns = (width - dilation[1] * (kernel_size[1] - 1) - 1) // stride[1] + 1
  y = (torch.arange(kernel_size[0]) * dilation[0]).reshape([-1, 1, 1, 1])
  y = y + (torch.arange(rows) * stride[0]).reshape([-1, 1])
  z = (torch.arange(kernel_size[1]) * dilation[1]).reshape([-1, 1, 1]) + torch.arange(columns) * stride[1]
  places = (y * width + z).reshape([-1])
  channels = x.size(1) // (kernel_size[0] * kernel_size[1])
  canvas = torch.zeros([x.size(0), channels, height * width], dtype=x.dtype)
  image = torch.index_add(canvas, 2, places, x.reshape([x.size(0), channels, -1])).unflatten(2, [height, width])
  image = image[:, :, padding[0]:padding[0] + output_size[0], padding[1]:padding[1] + output_size[1]]
  return image.squeeze(0) if self.dim() == 2 else image)");
}

}  // namespace

void addRearrangements(NodeConverterRegistry& registry) {
  addStacks(registry);
  addSplits(registry);
  addFlips(registry);
  addFrequencyShifts(registry);
  addDiagonals(registry);
  addWindows(registry);
  add(registry, "aten::expand_copy", "  return torch.expand(self, size, implicit=implicit)");
  add(registry, "aten::sum_to_size", R"(
  x = self
  while x.dim() > len(size):
    x = x.sum(0)
  for i in range(len(size)):
    if size[i] == 1 and (x.is_floating_point() or x.dtype == 4 or x.size(i) != 1):  # sums of others are int64
      x = x.sum(i, keepdim=True)
  return x)");
}

}  // namespace torchtrt::conversion::composites
