"""Counts a compile's runs of the module, and checks that its report tells the share of time that such runs show."""

from typing import List, Optional

import pytest
import torch
from torch import Tensor, nn

import torchtrt

LIBRARY = torch.library.Library("example_runs", "DEF")
LIBRARY.define("counted(Tensor x) -> Tensor")
CALLS: List[int] = []


def _counted(x):
    CALLS.append(x.numel())
    return x + 0.0


LIBRARY.impl("counted", _counted, "CPU")


class FillsACache(nn.Module):
    """Does what detection models do: later calls find what the first call makes."""

    scale: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.scale = None

    def forward(self, images: List[Tensor]):
        if self.scale is None:
            self.scale = torch.full([8], 3.0)
        scale = self.scale
        assert scale is not None
        y = torch.ops.example_runs.counted(torch.cat(images))
        return torch.tanh(torch.relu(y) * scale + 1.0) * 2.0


class KeepsTheLast(nn.Module):
    """Its state is of the sizes of the last call's argument, so that calls of other sizes need another state."""

    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(1, 4))

    def forward(self, x):
        y = torch.ops.example_runs.counted(x)
        if self.last.size(0) != x.size(0):
            self.last = torch.zeros_like(x)
        z = torch.sigmoid(torch.relu(y) * 2.0 + self.last)
        self.last = y
        return z


def calls_while_compiling(module, inputs) -> tuple[torch.jit.ScriptModule, int]:
    """Without the one that compares results."""
    CALLS.clear()
    compiled = torchtrt.compile(torch.jit.script(module.eval()), inputs=inputs, check_results=False)
    return compiled, len(CALLS)


def test_a_settled_state_serves_all_example_runs():
    compiled, calls = calls_while_compiling(FillsACache(), [torchtrt.Input([2, 8])])
    assert calls == 3  # the first call, the one after it, and one with a longer list
    assert torchtrt.report(compiled).engine_segments >= 1
    module = FillsACache().eval()
    for count in (1, 2, 4):
        images = [torch.randn(2, 8) for _ in range(count)]
        torch.testing.assert_close(compiled(images), module(images))


def test_sizes_that_vary_do_not_run_the_first_call_again():
    _, calls = calls_while_compiling(FillsACache(), [torchtrt.Input(min_shape=[1, 8], opt_shape=[2, 8], max_shape=[8, 8])])
    assert calls == 5


def test_a_state_of_the_arguments_sizes_is_made_anew():
    compiled, calls = calls_while_compiling(KeepsTheLast(), [torchtrt.Input(min_shape=[1, 4], opt_shape=[2, 4], max_shape=[8, 4])])
    assert calls > 5
    module = KeepsTheLast().eval()
    for rows in (2, 2, 5, 5, 1):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(compiled(x), module(x))


@pytest.mark.parametrize("make", [torch.jit.script, lambda module: torch.jit.trace(module, torch.zeros(1, 3, 8, 8))])
def test_samples_of_one_engine_run_in_pytorch_once(make):
    module = make(nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()).eval())
    with torch.autograd.profiler.profile(use_kineto=False) as profile:
        torchtrt.compile(module, inputs=[torch.rand(1, 3, 8, 8)])
    assert sum(event.name == "aten::_convolution" for event in profile.function_events) == 1


class HalfInPyTorch(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 32, 5, padding=2)

    def forward(self, x):
        y = torch.ops.example_runs.counted(x)
        return torch.relu(self.conv(y)).mean()


@pytest.mark.parametrize("inputs", [[torchtrt.Input([1, 3, 256, 256])], [torch.rand(1, 3, 256, 256)]], ids=["made up", "samples"])
def test_the_report_begins_with_the_share_of_time(inputs):
    compiled, _ = calls_while_compiling(HalfInPyTorch(), inputs)
    report = torchtrt.report(compiled)
    assert 0.1 < report.share_of_time <= 1.0
    assert f"engines take over {int(report.share_of_time * 100)}% of PyTorch's time; 1 engine, 1 segment in PyTorch" in report.summary()
    assert '"share_of_time": null' in compiled.torchtrt_report_json and "PyTorch's time" not in compiled.torchtrt_report


def test_what_no_run_shows_is_not_told():
    compiled, _ = calls_while_compiling(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), [torchtrt.Input([1, 4])])
    assert torchtrt.report(compiled).share_of_time is None
