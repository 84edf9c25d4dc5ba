"""Scripted attention of torch.nn: which masks there are, and whether libtorch's fused layer runs, is decided anew by every call."""

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
    heavy = [node for node in torchtrt.report(compiled).nodes if node.node.startswith("aten::linear")]
    assert heavy and all(node.target == "engine" for node in heavy)


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
