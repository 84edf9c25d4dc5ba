"""Graphs that hold what Python or oneDNN made of them: torch.autograd.Function in traces, and torch.jit.optimize_for_inference."""

import pytest
import torch
import torchtrt
from same import assert_same
from torch import nn


class Rounded(torch.autograd.Function):
    """A straight-through estimator."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        return torch.round(x * scale) / scale

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


class SplitInTwo(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sigmoid(), x.tanh()

    @staticmethod
    def backward(ctx, a, b):
        return a + b


class Largest(torch.autograd.Function):
    """Takes a number out of a tensor, which a trace keeps as a constant."""

    @staticmethod
    def forward(ctx, x):
        return x / x.abs().max().item()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def compiled_trace(function, *inputs):
    with torch.inference_mode():
        traced = torch.jit.trace(function, inputs, check_trace=False)
        return traced, torchtrt.compile(traced, inputs=[torchtrt.Input(list(x.shape)) for x in inputs])


@pytest.mark.parametrize("function", [
    lambda x: Rounded.apply(torch.relu(x), 4.0) * 2 + 1,
    lambda x: Rounded.apply(torch.relu(x), 4.0) + Rounded.apply(x, 8.0) * 2,
    lambda x: sum(SplitInTwo.apply(torch.relu(x))) * 2,
])
def test_a_traced_autograd_function_is_in_the_engine(function):
    traced, compiled = compiled_trace(function, torch.randn(3, 5))
    assert [segment.target for segment in torchtrt.report(compiled).segments] == ["engine"]
    x = torch.randn(3, 5)
    assert_same(compiled(x), traced(x))


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
def test_one_whose_trace_holds_numbers_of_its_inputs_stays_in_pytorch():
    traced, compiled = compiled_trace(lambda x: Largest.apply(torch.relu(x) + 1) * 2 + 1, torch.randn(3, 5))
    assert "torch" in [segment.target for segment in torchtrt.report(compiled).segments]
    x = torch.randn(3, 5) * 10
    assert_same(compiled(x), traced(x))


class Blocks(nn.Module):
    """Has the blocks that optimize_for_inference has forms of its own for."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Conv2d(8, 8, 1, groups=2)
        self.linear = nn.Linear(16, 4)

    def forward(self, x):
        y = nn.functional.hardswish(self.norm(self.first(x)))
        z = nn.functional.relu6(self.second(y))
        w = nn.functional.hardsigmoid(z)
        return self.linear(torch.cat([y + z, torch.clamp(w * z, 0.1, 0.9) * 0.5], 1).mean((2, 3)))


@pytest.mark.filterwarnings("ignore")
def test_what_was_optimized_for_inference_is_one_engine():
    module = Blocks().eval()
    optimized = torch.jit.optimize_for_inference(torch.jit.script(module))
    assert "MKLDNN" in str(optimized.graph)
    compiled = torchtrt.compile(optimized, inputs=[torchtrt.Input([2, 3, 16, 16])])
    assert [segment.target for segment in torchtrt.report(compiled).segments] == ["engine"]
    x = torch.randn(2, 3, 16, 16)
    with torch.inference_mode():
        assert_same(compiled(x), module(x))
