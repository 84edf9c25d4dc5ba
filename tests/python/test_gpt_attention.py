"""gpt_attention against PyTorch: padded and packed, grouped heads, rotary embedding, bias, cache, dtypes."""

import pytest
import torch

import torchtrt
import torchtrt.functional as f
import torchtrt.network as trt
from gpt_reference import reference_attention

TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-2, torch.bfloat16: 2e-2}
LENGTHS = torch.tensor([6, 1, 4], dtype=torch.int32)


def values(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def run(tensors: dict, **fields):
    """gpt_attention of these operands, all network inputs."""
    net = trt.Network("attention")
    with trt.net_guard(net):
        inputs = {name: trt.Tensor(name=name, dtype=value.dtype, shape=value.shape) for name, value in tensors.items()}
        results = f.gpt_attention(**inputs, **fields)
        for result in results if isinstance(results, tuple) else [results]:
            result.mark_output()
    return net.build().run(**tensors)


def close(got, expected):
    tolerance = TOLERANCE[got.dtype]
    torch.testing.assert_close(got.double(), expected, rtol=tolerance, atol=tolerance * float(expected.abs().max()))


def pack(qkv, lengths, rows=None):
    """The first tokens of each sequence, one after the other, as [1, rows, ...]."""
    together = torch.cat([qkv[b, :length] for b, length in enumerate(lengths)])
    packed = torch.zeros(1, rows or len(together), *qkv.shape[2:], dtype=qkv.dtype)
    packed[0, : len(together)] = together
    return packed


VARIANTS = {
    "plain": {},
    "padding": {"mask_type": "padding"},
    "scaled": {"q_scaling": 2.0},
    "rotary": {"rotary_embedding_dim": 8},
    "rotary_part": {"rotary_embedding_dim": 4, "rotary_embedding_base": 100.0},
    "rotary_interleaved": {"rotary_embedding_dim": 8, "rotary_interleaved": True},
    "grouped": {"num_kv_heads": 2},
    "single_kv_head": {"num_kv_heads": 1, "rotary_embedding_dim": 8},
}


def expected_of(qkv, heads, size, variant, **more):
    names = {"rotary_embedding_dim": "rotary_dim", "rotary_embedding_base": "rotary_base"}
    options = {"causal": variant.get("mask_type", "causal") == "causal"}
    for name, value in variant.items():
        if name not in ("mask_type", "num_kv_heads"):
            options[names.get(name, name)] = value
    return reference_attention(qkv, heads, variant.get("num_kv_heads", heads), size, **options, **more)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", VARIANTS)
def test_padded_and_packed_agree_with_torch(name, dtype):
    heads, size, variant = 4, 8, VARIANTS[name]
    hidden = (heads + 2 * variant.get("num_kv_heads", heads)) * size
    qkv = values(3, 6, hidden, dtype=dtype)
    expected, _ = expected_of(qkv, heads, size, variant, lengths=LENGTHS)
    padded = run({"qkv": qkv, "context_lengths": LENGTHS}, num_heads=heads, head_size=size, **variant)
    close(padded, expected)
    packed = run({"qkv": pack(qkv, LENGTHS), "context_lengths": LENGTHS}, num_heads=heads, head_size=size, **variant)
    assert torch.equal(packed, pack(padded, LENGTHS)), "the two forms compute the same"


def test_without_lengths_and_long():
    qkv = values(2, 150, 3 * 2 * 16)
    close(run({"qkv": qkv}, num_heads=2, head_size=16), reference_attention(qkv, 2, 2, 16)[0])


def test_bias():
    qkv, bias = values(3, 6, 48), values(48, seed=1)
    got = run({"qkv": qkv, "context_lengths": LENGTHS, "qkv_bias": bias}, num_heads=2, head_size=8, rotary_embedding_dim=8)
    close(got, reference_attention(qkv, 2, 2, 8, lengths=LENGTHS, bias=bias, rotary_dim=8)[0])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_prompt_then_tokens_through_the_cache(packed, dtype):
    heads, kv_heads, size, capacity = 4, 2, 8, 9
    fields = {"num_heads": heads, "num_kv_heads": kv_heads, "head_size": size, "rotary_embedding_dim": 8}
    hidden = (heads + 2 * kv_heads) * size
    everything = values(3, 9, hidden, dtype=dtype)
    whole, _ = reference_attention(everything, heads, kv_heads, size, rotary_dim=8)
    prompt = everything[:, :6]
    context, cache = run({"qkv": pack(prompt, LENGTHS) if packed else prompt, "context_lengths": LENGTHS},
                         cache_capacity=capacity, **fields)
    expected, expected_cache = reference_attention(prompt, heads, kv_heads, size, lengths=LENGTHS, rotary_dim=8, capacity=capacity)
    close(context, pack(expected, LENGTHS) if packed else expected)
    close(cache, expected_cache)
    past = LENGTHS.clone()
    for _ in range(3):
        step = torch.stack([everything[b, int(past[b])] for b in range(3)])
        ones = torch.ones(3, dtype=torch.int32)
        context, cache = run({"qkv": step[None] if packed else step[:, None], "context_lengths": ones,
                              "past_key_value": cache, "past_lengths": past}, **fields)
        close(context.view(3, -1), torch.stack([whole[b, int(past[b])] for b in range(3)]))
        past += 1
    _, full = reference_attention(everything, heads, kv_heads, size, lengths=past, rotary_dim=8, capacity=capacity)
    close(cache, full)


def test_dynamic_shapes():
    net = trt.Network("dynamic")
    with trt.net_guard(net):
        batch, tokens = net.add_symbol("batch", 1, 2, 4), net.add_symbol("tokens", 1, 8, 32)
        qkv = trt.Tensor(name="qkv", shape=(batch, tokens, 48))
        lengths = trt.Tensor(name="lengths", dtype=trt.int32, shape=(batch,))
        f.gpt_attention(qkv, context_lengths=lengths, num_heads=2, head_size=8).mark_output("context")
    engine = net.build()
    for size, length in ((1, 1), (1, 9), (4, 32)):
        value = values(size, length, 48, seed=length)
        lengths = torch.arange(size, dtype=torch.int32) % length + 1
        close(engine.run(value, lengths), reference_attention(value, 2, 2, 8, lengths=lengths)[0])


@pytest.mark.parametrize(("lengths", "message"), [
    ([7, 1, 1], r"context_lengths\[0\] is 7, expected 0 to 6"), ([1, -1, 1], r"context_lengths\[1\] is -1")])
def test_lengths_out_of_range_are_errors(lengths, message):
    with pytest.raises(torchtrt.EngineError, match=message):
        run({"qkv": values(3, 6, 48), "context_lengths": torch.tensor(lengths, dtype=torch.int32)}, num_heads=2, head_size=8)


def test_a_full_cache_is_an_error():
    tensors = {"qkv": values(1, 2, 48), "past_key_value": values(1, 2, 2, 5, 8), "past_lengths": torch.tensor([4])}
    with pytest.raises(torchtrt.EngineError, match=r"past_lengths\[0\] is 4, expected 0 to 3"):
        run(tensors, num_heads=2, head_size=8)
