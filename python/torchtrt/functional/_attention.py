"""Attention as one plugin layer."""

from torchtrt.functional._base import as_tensor, plugin
from torchtrt.graph_rewriting import record_signature
from torchtrt.network import Tensor


@record_signature(name="gpt_attention")
def _gpt_attention(qkv, past_key_value, past_lengths, context_lengths, qkv_bias, num_heads, num_kv_heads, head_size,
                   q_scaling, mask_type, rotary_embedding_dim, rotary_embedding_base, rotary_interleaved, cache_capacity):
    given = {"qkv": qkv, "context_lengths": context_lengths, "past_lengths": past_lengths,
             "past_key_value": past_key_value, "qkv_bias": qkv_bias}
    operands = {name: as_tensor(value) for name, value in given.items() if value is not None}
    return plugin(
        list(operands.values()), "tensorrt_llm", "GPTAttention", operands=",".join(operands), num_heads=num_heads,
        num_kv_heads=num_heads if num_kv_heads is None else num_kv_heads, head_size=head_size, q_scaling=float(q_scaling),
        mask_type=mask_type, rotary_embedding_dim=rotary_embedding_dim,
        rotary_embedding_base=float(rotary_embedding_base), rotary_interleaved=bool(rotary_interleaved),
        cache_capacity=cache_capacity)


def gpt_attention(qkv: Tensor, past_key_value: Tensor | None = None, past_lengths: Tensor | None = None,
                  context_lengths: Tensor | None = None, qkv_bias=None, *, num_heads: int, num_kv_heads: int | None = None,
                  head_size: int, q_scaling=1.0, mask_type="causal", rotary_embedding_dim=0, rotary_embedding_base=10000.0,
                  rotary_interleaved=False, cache_capacity=0, tensor: Tensor | None = None):
    """Masked self-attention of sequences, padded or packed; docs/gpt_attention.md has layouts and formulas.

    Args:
        qkv: [batch, tokens, (num_heads + 2 * num_kv_heads) * head_size], or [1, all tokens, ...] packed: the tokens of all sequences one
            after the other.
        tensor: an older name of qkv, which wins where both are given.
        context_lengths: [batch] int32 or int64, the tokens of each sequence in this call; all by default.
        past_key_value: the cache, [batch, 2, num_kv_heads, capacity, head_size].
        past_lengths: [batch], the number of tokens that it holds.
        cache_capacity: makes a new cache of this capacity instead.
        qkv_bias: added to qkv first.
        mask_type: "causal", or "padding" where every token meets all of its sequence.

    Returns:
        The context [batch, tokens, num_heads * head_size], shaped as qkv was (0 behind a sequence's end); with a cache a pair of it and the
        cache after the call.
    """
    return _gpt_attention(qkv if tensor is None else tensor, past_key_value, past_lengths, context_lengths, qkv_bias,
                          num_heads, num_kv_heads, head_size, q_scaling, mask_type, rotary_embedding_dim,
                          rotary_embedding_base, rotary_interleaved, cache_capacity)
