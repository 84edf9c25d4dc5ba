"""GPT attention in PyTorch, in double: what the plugin is compared with. docs/gpt_attention.md has the formulas."""

import torch


def rotate(x, positions, dim, base, interleaved):
    """x: [tokens, size]; the first `dim` channels turn by angles of their position."""
    angles = positions[:, None].double() * base ** (-torch.arange(0, dim, 2).double() / dim)
    cos, sin = angles.cos(), angles.sin()
    part = x[:, :dim]
    a, b = (part[:, 0::2], part[:, 1::2]) if interleaved else (part[:, : dim // 2], part[:, dim // 2 :])
    a, b = a * cos - b * sin, b * cos + a * sin
    turned = torch.stack([a, b], -1).flatten(1) if interleaved else torch.cat([a, b], 1)
    return torch.cat([turned, x[:, dim:]], 1)


def reference_attention(qkv, heads, kv_heads, size, *, lengths=None, past=None, past_lengths=None, bias=None, q_scaling=1.0,
                        causal=True, rotary_dim=0, rotary_base=10000.0, rotary_interleaved=False, capacity=0):
    """Padded qkv [batch, tokens, (heads + 2 kv_heads) size] -> context, and the cache if there is one."""
    batch, tokens, _ = qkv.shape
    qkv = qkv.double() + (0 if bias is None else bias.double())
    context = torch.zeros(batch, tokens, heads * size, dtype=torch.float64)
    cache = past.double().clone() if past is not None else torch.zeros(batch, 2, kv_heads, capacity, size).double()
    for b in range(batch):
        length = tokens if lengths is None else int(lengths[b])
        before = 0 if past_lengths is None else int(past_lengths[b])
        positions = torch.arange(before, before + length)
        parts = qkv[b, :length].split([heads * size, kv_heads * size, kv_heads * size], -1)
        q, k, v = (part.view(length, -1, size).transpose(0, 1) for part in parts)
        if rotary_dim:
            q, k = (torch.stack([rotate(head, positions, rotary_dim, rotary_base, rotary_interleaved) for head in part])
                    for part in (q, k))
        keys = torch.cat([cache[b, 0, :, :before], k], 1).repeat_interleave(heads // kv_heads, 0)
        values = torch.cat([cache[b, 1, :, :before], v], 1).repeat_interleave(heads // kv_heads, 0)
        scores = q @ keys.transpose(1, 2) / (q_scaling * size**0.5)
        if causal:
            scores = scores.masked_fill(torch.arange(before + length) > positions[:, None], float("-inf"))
        context[b, :length] = (scores.softmax(-1) @ values).transpose(0, 1).reshape(length, heads * size)
        if cache.shape[3]:
            cache[b, 0, :, before : before + length], cache[b, 1, :, before : before + length] = k, v
    return context, cache
