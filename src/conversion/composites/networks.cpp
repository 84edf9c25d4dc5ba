#include "conversion/composites/composite.h"

namespace torchtrt::conversion::composites {
namespace {

void addCells(NodeConverterRegistry& registry) {
  add(registry, "aten::lstm_cell", R"(
  gates = torch.linear(input, w_ih, b_ih) + torch.linear(hx[0], w_hh, b_hh)
  parts = torch.chunk(gates, 4, -1)
  c = torch.sigmoid(parts[1]) * hx[1] + torch.sigmoid(parts[0]) * torch.tanh(parts[2])
  return torch.sigmoid(parts[3]) * torch.tanh(c), c)");
  add(registry, "aten::gru_cell", R"(
  x = torch.chunk(torch.linear(input, w_ih, b_ih), 3, -1)
  h = torch.chunk(torch.linear(hx, w_hh, b_hh), 3, -1)
  reset = torch.sigmoid(x[0] + h[0])
  kept = torch.sigmoid(x[1] + h[1])
  fresh = torch.tanh(x[2] + reset * h[2])
  return (hx - fresh) * kept + fresh)");
  // A trace on a GPU records the cells as these; the last result is what PyTorch keeps for the backward pass.
  add(registry, "aten::_thnn_fused_lstm_cell", R"(
  gates = input_gates + hidden_gates
  if input_bias is not None:
    gates = gates + input_bias
  if hidden_bias is not None:
    gates = gates + hidden_bias
  parts = torch.chunk(gates, 4, -1)
  entering = torch.sigmoid(parts[0])
  kept = torch.sigmoid(parts[1])
  fresh = torch.tanh(parts[2])
  shown = torch.sigmoid(parts[3])
  c = kept * cx + entering * fresh
  return shown * torch.tanh(c), c, torch.cat([entering, kept, fresh, shown], -1))");
  add(registry, "aten::_thnn_fused_gru_cell", R"(
  x = torch.chunk(input_gates if input_bias is None else input_gates + input_bias, 3, -1)
  h = torch.chunk(hidden_gates if hidden_bias is None else hidden_gates + hidden_bias, 3, -1)
  reset = torch.sigmoid(x[0] + h[0])
  kept = torch.sigmoid(x[1] + h[1])
  fresh = torch.tanh(x[2] + reset * h[2])
  return (hx - fresh) * kept + fresh, torch.cat([reset, kept, fresh, hx, h[2]], -1))");
  add(registry, "aten::rnn_tanh_cell",
      "  return torch.tanh(torch.linear(input, w_ih, b_ih) + torch.linear(hx, w_hh, b_hh))");
  add(registry, "aten::rnn_relu_cell",
      "  return torch.relu(torch.linear(input, w_ih, b_ih) + torch.linear(hx, w_hh, b_hh))");
}

void addAttention(NodeConverterRegistry& registry) {
  // mask_type: 0 a mask of [length, length], 1 of [batch, length], 2 of [batch, heads, length, length]; true is hidden.
  add(registry, "aten::_native_multi_head_attention", R"(
  w = torch.chunk(qkv_weight, 3, 0)
  b = torch.chunk(qkv_bias, 3, 0)
  width = embed_dim // num_head
  q = torch.linear(query, w[0], b[0]).unflatten(-1, [num_head, width]).transpose(1, 2)
  k = torch.linear(key, w[1], b[1]).unflatten(-1, [num_head, width]).transpose(1, 2)
  v = torch.linear(value, w[2], b[2]).unflatten(-1, [num_head, width]).transpose(1, 2)
  scores = torch.matmul(q * (float(width) ** -0.5), k.transpose(-2, -1))
  if mask is not None:
    hidden = mask.to(11)
    kind = 0 if mask_type is None else mask_type
    if kind == 1:
      hidden = hidden.unsqueeze(1).unsqueeze(1)
    scores = torch.masked_fill(scores, hidden, -float('inf'))
    seen = torch.logical_not(torch.all(hidden, -1, True))
    weights = torch.softmax(scores, -1)
    weights = torch.where(seen, weights, torch.zeros_like(weights))
  else:
    weights = torch.softmax(scores, -1)
  mixed = torch.matmul(weights, v).transpose(1, 2).flatten(2)
  y = torch.linear(mixed, proj_weight, proj_bias)
  if not need_weights:
    return y, torch.zeros([0], dtype=y.dtype)
  return y, weights.mean(1) if average_attn_weights else weights)");
  add(registry, "aten::_transformer_encoder_layer_fwd", R"(
  x = torch.layer_norm(src, [embed_dim], norm_weight_1, norm_bias_1, eps) if norm_first else src
  x = src + torch._native_multi_head_attention(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight,
                                               proj_bias, mask, False, False, mask_type)[0]
  if not norm_first:
    x = torch.layer_norm(x, [embed_dim], norm_weight_1, norm_bias_1, eps)
  y = torch.layer_norm(x, [embed_dim], norm_weight_2, norm_bias_2, eps) if norm_first else x
  y = torch.linear(y, ffn_weight_1, ffn_bias_1)
  y = torch.gelu(y) if use_gelu else torch.relu(y)
  y = x + torch.linear(y, ffn_weight_2, ffn_bias_2)
  return y if norm_first else torch.layer_norm(y, [embed_dim], norm_weight_2, norm_bias_2, eps))");
  add(registry, "aten::_safe_softmax", R"(
  x = self if dtype is None else self.to(dtype)
  hidden = torch.all(x == -float('inf'), dim, True)
  weights = torch.softmax(x, dim)
  return torch.where(hidden, torch.zeros_like(weights), weights))");
}

void addGrids(NodeConverterRegistry& registry) {
  // The middles of pixels between -1 and 1, or, with corners aligned, their ends.
  add(registry, "aten::affine_grid_generator", R"(
  axes: List[Tensor] = []
  spatial = len(size) - 2
  shape: List[int] = []
  for i in range(spatial):
    n = size[2 + i]
    shape.append(n)
    steps = torch.arange(n).to(theta.dtype)
    if align_corners:
      axis = steps * (2.0 / (n - 1)) - 1.0 if n > 1 else torch.zeros_like(steps)
    else:
      axis = (steps * 2.0 + 1.0) / n - 1.0
    axes.append(axis)
  grids = torch.meshgrid(axes)
  base: List[Tensor] = []
  for i in range(spatial):
    base.append(grids[spatial - 1 - i].reshape([-1]))
  base.append(torch.ones_like(base[0]))
  points = torch.matmul(torch.stack(base, 1), theta.transpose(1, 2))
  return points.reshape([theta.size(0)] + shape + [spatial]))");
}

// Sums rows of a table, by bags of indices that begin at offsets. Padding goes to a bag of its own behind them.
// PyTorch's other results are for its gradient.
constexpr char kBags[] = R"(
  begins = torch.slice(offsets, 0, 0, offsets.size(0) - 1) if include_last_offset else offsets
  count = begins.size(0)
  bags = torch.searchsorted(begins, torch.arange(indices.size(0), dtype=begins.dtype), right=True) - 1
  if padding >= 0:
    bags = torch.where(indices == padding, torch.zeros_like(bags) + count, bags)
  rows = torch.index_select(weight, 0, indices)
  if rows.dtype != 7:
    rows = rows.to(6)
  if per_sample_weights is not None:
    rows = rows * per_sample_weights.to(rows.dtype).unsqueeze(-1)
  y = torch.zeros([count + 1, weight.size(1)], dtype=rows.dtype)
  if mode == 2:
    y = torch.index_reduce(y, 0, bags, rows, 'amax', include_self=False)
  else:
    y = torch.index_add(y, 0, bags, rows)
  if mode == 1:
    sizes = torch.index_add(torch.zeros([count + 1], dtype=rows.dtype), 0, bags, torch.ones_like(bags).to(rows.dtype))
    y = y / torch.clamp_min(sizes, 1).unsqueeze(-1)
  nothing = torch.zeros([0], dtype=indices.dtype)
  return torch.slice(y, 0, 0, count).to(weight.dtype), nothing, nothing, nothing)";

void addBags(NodeConverterRegistry& registry) {
  add(registry, "aten::embedding_bag", std::string("\n  padding = -1") + kBags);
  add(registry, "aten::embedding_bag.padding_idx",
      std::string(R"(
  padding = -1
  if padding_idx is not None:
    padding = padding_idx if padding_idx >= 0 else padding_idx + weight.size(0))") +
          kBags);
  for (const char* name : {"aten::_embedding_bag", "aten::_embedding_bag_forward_only"}) {
    add(registry, name, std::string("\n  padding = padding_idx") + kBags);
  }
}

}  // namespace

void addNetworks(NodeConverterRegistry& registry) {
  addCells(registry);
  addAttention(registry);
  addGrids(registry);
  addBags(registry);
  add(registry, "aten::conv_tbc", R"(
  return torch.conv1d(self.permute([1, 2, 0]), weight.permute([2, 1, 0]), bias, [1], [pad]).permute([2, 0, 1]))");
  add(registry, "aten::_conv_depthwise2d", R"(
  return torch.conv2d(self, weight, bias, stride, padding, dilation, self.size(1)))");
  add(registry, "aten::_addmm_activation", R"(
  y = torch.addmm(self, mat1, mat2, beta=beta, alpha=alpha)
  return torch.gelu(y) if use_gelu else torch.relu(y))");
}

}  // namespace torchtrt::conversion::composites
