"""Scripted attention of torch.nn: which masks there are, and whether libtorch's fused layer runs, is decided anew by every call."""

from typing import Optional

import pytest
import torch
from torch import nn

import fallback
import torchtrt

TOLERANCE = 1e-5  # of the largest value, float32
LENGTH = 6


def masks():
    causal = nn.Transformer.generate_square_subsequent_mask(LENGTH)
    padding = torch.zeros(2, LENGTH, dtype=torch.bool)
    padding[1, 4:] = True
    return {
        "none": {}, "boolean": {"mask": causal < 0}, "causal": {"mask": causal}, "hinted": {"mask": causal, "is_causal": True},
        "padding": {"src_key_padding_mask": padding}, "both": {"mask": causal < 0, "src_key_padding_mask": padding},
    }


def engines_of(compiled):
    return [segment for segment in torchtrt.report(compiled).segments if segment.target == "engine"]


@pytest.mark.parametrize("with_gradients", [False, True], ids=["fused", "step by step"])
@pytest.mark.parametrize("norm_first, activation, nested", [(False, "relu", False), (True, "gelu", False), (False, "gelu", True)])
def test_encoders_equal_eager_with_and_without_masks(norm_first, activation, nested, with_gradients):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=norm_first, activation=activation)
    encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(32), enable_nested_tensor=nested).eval()
    encoder.requires_grad_(False)  # as the weights of what is compiled are: the fused layer is for calls that need no gradient
    script = torch.jit.script(encoder)
    compiled = torchtrt.compile(script, inputs=[torchtrt.Input(min_shape=[1, 2, 32], opt_shape=[2, 6, 32], max_shape=[4, 9, 32])])
    with torch.enable_grad() if with_gradients else torch.inference_mode():
        for name, given in masks().items():
            x = torch.randn(2, LENGTH, 32, requires_grad=with_gradients)
            expected = script(x, **given)
            assert fallback.difference(compiled(x, **given), expected) <= TOLERANCE, name
        for shape in ([1, 2, 32], [4, 9, 32]):
            x = torch.randn(shape, requires_grad=with_gradients)
            with torch.autograd.profiler.profile(use_kineto=False) as profile:
                actual = compiled(x)
            assert fallback.difference(actual, script(x)) <= TOLERANCE
            assert any(event.name == "tensorrt::execute_engine" for event in profile.function_events)
    assert len(engines_of(compiled)) == 1


@pytest.mark.parametrize("self_attention", [True, False])
@torch.inference_mode()
def test_heads_with_their_weights_equal_eager(self_attention):
    torch.manual_seed(0)
    script = torch.jit.script(nn.MultiheadAttention(32, 4, batch_first=True).eval())
    sizes = torchtrt.Input([2, LENGTH, 32])
    compiled = torchtrt.compile(script, inputs=[sizes, sizes, sizes])
    x = torch.randn(2, LENGTH, 32)
    operands = [x, x, x] if self_attention else [x, torch.randn(2, LENGTH, 32), torch.randn(2, LENGTH, 32)]
    padding = torch.zeros(2, LENGTH, dtype=torch.bool)
    padding[1, 4:] = True
    for given in ({}, {"key_padding_mask": padding}, {"average_attn_weights": False}):
        assert fallback.difference(compiled(*operands, **given), script(*operands, **given)) <= TOLERANCE, given


@pytest.mark.parametrize("options", [{"batch_first": True}, {}, {"kdim": 16, "vdim": 24, "batch_first": True}])
@torch.inference_mode()
def test_heads_alone_are_one_engine(options):
    torch.manual_seed(0)
    script = torch.jit.script(nn.MultiheadAttention(32, 4, **options).eval())
    shapes = [[2, LENGTH, 32], [2, LENGTH, options.get("kdim", 32)], [2, LENGTH, options.get("vdim", 32)]]
    compiled = torchtrt.compile(script, inputs=[torchtrt.Input(shape) for shape in shapes])
    assert len(engines_of(compiled)) == 1
    query, key, value = (torch.randn(shape) for shape in shapes)
    calls = [(query, key, value)] if "kdim" in options else [(query, key, value), (query, key, key), (query, query, value), (query, query, query)]
    for call in calls:  # whether arguments are one tensor changes the way, not the result
        assert fallback.difference(compiled(*call), script(*call)) <= TOLERANCE


class Wrapped(nn.Module):
    """Asks as attention does, with a result that depends on it."""

    def __init__(self, asks_first: bool):
        super().__init__()
        self.asks_first = asks_first
        self.attention = nn.MultiheadAttention(32, 4)

    def forward(self, query, key, value, mask: Optional[torch.Tensor] = None):
        keys, values = key, value
        if query.dim() == 2:
            keys, values = key.unsqueeze(1), value.unsqueeze(1)
        if self.asks_first and keys is values:
            query = query * 2
        result = self.attention(query, keys, values, attn_mask=mask)[0]
        if not self.asks_first and keys is values:
            result = result * 2
        return result


@pytest.mark.parametrize("asks_first", [True, False])
@torch.inference_mode()
def test_what_a_module_asks_of_its_arguments_beside_attention_is_answered(asks_first):
    torch.manual_seed(0)
    script = torch.jit.script(Wrapped(asks_first).eval())
    shape = [LENGTH, 2, 32]
    compiled = torchtrt.compile(script, inputs=[torchtrt.Input(shape)] * 3)
    query, key, value = (torch.randn(shape) for _ in range(3))
    for call in ((query, key, value), (query, key, key), (key, key, key)):
        assert fallback.difference(compiled(*call), script(*call)) <= TOLERANCE


class Heads(nn.Module):
    """Attention to itself, with the masks that it is called with."""

    def __init__(self, need_weights, batch_first):
        super().__init__()
        self.attention = nn.MultiheadAttention(32, 4, batch_first=batch_first)
        self.need_weights = need_weights

    def forward(self, x, mask: Optional[torch.Tensor] = None, padding: Optional[torch.Tensor] = None):
        result, weights = self.attention(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=self.need_weights)
        if self.need_weights:
            assert weights is not None
            result = result + weights.sum()
        return result


class Encoder(nn.Module):
    def __init__(self, batch_first, norm_first):
        super().__init__()
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=batch_first, norm_first=norm_first)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x, mask: Optional[torch.Tensor] = None, padding: Optional[torch.Tensor] = None):
        return self.encoder(x, mask, padding)


class Translator(nn.Module):
    def __init__(self, batch_first, norm_first):
        super().__init__()
        self.transformer = nn.Transformer(32, 4, 1, 1, 64, batch_first=batch_first, norm_first=norm_first)

    def forward(self, x, mask: Optional[torch.Tensor] = None):
        return self.transformer(x, x * 0.5, tgt_mask=mask)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("make, variants", [(Heads, [False, True]), (Encoder, [False, True]), (Translator, [False])])
@torch.inference_mode()
def test_whatever_masks_the_inputs_give_there_is_one_engine(make, variants, batch_first):
    padding = torch.zeros(2, LENGTH, dtype=torch.bool)
    padding[1, 4:] = True
    causal = nn.Transformer.generate_square_subsequent_mask(LENGTH)
    given = [(), (causal,), (causal < 0,)] + ([(None, padding), (causal < 0, padding)] if make is not Translator else [])
    for variant in variants:
        torch.manual_seed(0)
        script = torch.jit.script((make(variant, batch_first) if make is Heads else make(batch_first, variant)).eval().requires_grad_(False))
        shape = [2, LENGTH, 32] if batch_first else [LENGTH, 2, 32]
        for masks in given:
            signature = tuple(mask if mask is None else torchtrt.Input(list(mask.shape), dtype=mask.dtype) for mask in masks)
            compiled = torchtrt.compile(script, input_signature=(torchtrt.Input(shape), *signature))
            assert len(engines_of(compiled)) == 1
            for other in given:  # what was not expected runs in PyTorch
                x = torch.randn(shape)
                with torch.autograd.profiler.profile(use_kineto=False) as profile:
                    actual = compiled(x, *other)
                assert fallback.difference(actual, script(x, *other)) <= TOLERANCE
                ran = any(event.name == "tensorrt::execute_engine" for event in profile.function_events)
                is_as_expected = [mask is None for mask in other] == [mask is None for mask in masks]
                assert ran == is_as_expected, (masks, other)


@pytest.mark.parametrize("batch_first", [True, False])
@torch.inference_mode()
def test_three_arguments_may_be_one_tensor(batch_first):
    torch.manual_seed(0)
    script = torch.jit.script(nn.MultiheadAttention(32, 4, batch_first=batch_first).eval().requires_grad_(False))
    shape = [2, LENGTH, 32] if batch_first else [LENGTH, 2, 32]
    compiled = torchtrt.compile(script, inputs=[torchtrt.Input(shape)] * 3)
    assert engines_of(compiled)
    for i in range(4):
        q, k, v = (torch.randn(shape) for _ in range(3))
        operands = [(q, k, v), (q, k, k), (q, q, k), (q, q, q)][i]
        assert fallback.difference(compiled(*operands), script(*operands)) <= TOLERANCE


@torch.inference_mode()
def test_other_calls_read_the_engine_s_weights(tmp_path):
    torch.manual_seed(0)
    transformer = nn.Transformer(128, 4, 1, 1, 512, batch_first=True).eval().requires_grad_(False)
    for weight in transformer.parameters():
        weight.copy_(torch.randn_like(weight) * 0.1)  # no two layers alike
    script = torch.jit.script(transformer)
    causal = nn.Transformer.generate_square_subsequent_mask(LENGTH)
    sizes = torchtrt.Input([2, LENGTH, 128])
    compiled = torchtrt.compile(script, input_signature=(sizes, sizes, None, torchtrt.Input([LENGTH, LENGTH])))
    assert len(engines_of(compiled)) == 1
    torch.jit.save(compiled, tmp_path / "saved.pt")
    bytes_of_weights = sum(weight.nbytes for weight in transformer.parameters())
    assert (tmp_path / "saved.pt").stat().st_size < 1.3 * bytes_of_weights  # once, and code of two forms
    loaded = torch.jit.load(tmp_path / "saved.pt")
    x, y = torch.randn(2, LENGTH, 128), torch.randn(2, LENGTH, 128)
    for module in (compiled, loaded):
        for given in ((None, causal), (causal, causal), ()):
            assert fallback.difference(module(x, y, *given), script(x, y, *given)) <= TOLERANCE
        with pytest.raises(RuntimeError):  # as the original: no batch of one size
            module(x, y[:1], None, causal)


class OneQuestion(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(256, 256), nn.Linear(256, 256)

    def forward(self, x, bias: Optional[torch.Tensor] = None):
        x = torch.relu(self.first(x))
        if bias is not None:
            x = x + bias
        return torch.relu(self.second(x))


class Same(nn.Module):
    def forward(self, a, b, bias: Optional[torch.Tensor] = None, other: Optional[torch.Tensor] = None):
        if bias is not None:
            a = a + bias
        if other is not None:
            a = a * other
        return a * 2.0 if a is b else a * 3.0


@torch.inference_mode()
def test_one_question_is_asked_where_it_stands():
    script = torch.jit.script(OneQuestion().eval().requires_grad_(False))
    compiled = torchtrt.compile(script, inputs=[torchtrt.Input([8, 256])])
    for given in ((), (torch.randn(8, 256),)):
        x = torch.randn(8, 256)
        with torch.autograd.profiler.profile(use_kineto=False) as profile:
            actual = compiled(x, *given)
        assert fallback.difference(actual, script(x, *given)) <= TOLERANCE
        assert any(event.name == "tensorrt::execute_engine" for event in profile.function_events)


@torch.inference_mode()
def test_two_arguments_that_are_one_are_another_call():
    script = torch.jit.script(Same().eval())
    compiled = torchtrt.compile(script, inputs=[torchtrt.Input([8, 8])] * 2)
    x, y = torch.randn(8, 8), torch.randn(8, 8)
    for call in ((x, y), (x, x), (x, x, y), (x, x, None, y), (x, y, y, y)):
        assert torch.equal(compiled(*call), script(*call))
