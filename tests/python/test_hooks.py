"""Hooks around forward: scripted ones are part of a module's call, and of its compiled form's."""

import pytest
import torch
from torch import Tensor, nn

import torchtrt
from same import assert_same, saved

INPUT = torchtrt.Input([2, 4])


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("shift", torch.randn(4))
        self.calls = 0
        self.register_forward_pre_hook(Hooked.before)
        self.register_forward_hook(Hooked.behind)
        self.register_forward_hook(Hooked.count)

    def before(self, arguments: tuple[Tensor]) -> tuple[Tensor]:
        return (arguments[0] * 2,)

    def behind(self, arguments: tuple[Tensor], result: Tensor) -> Tensor:
        return result * 10 + self.shift - arguments[0]

    def count(self, arguments: tuple[Tensor], result: Tensor) -> None:
        self.calls += 1

    def forward(self, x):
        return torch.relu(self.linear(x)) + 1

    @torch.jit.export
    def twice(self, x):
        return self.forward(self.forward(x))


@pytest.mark.parametrize("loaded", [False, True])
def test_a_call_runs_them_and_forward_does_not(loaded):
    module, x = torch.jit.script(Hooked().eval()), torch.randn(2, 4)
    module = saved(module) if loaded else module
    compiled = torchtrt.compile(module, inputs=[x], min_block_size=1)
    assert torchtrt.report(compiled).engine_segments == 1
    for each in (compiled, saved(compiled), saved(saved(compiled))):
        assert not torch.equal(module(x), module.forward(x))
        assert_same(each(x).detach(), module(x).detach())
        assert_same(each.forward(x).detach(), module.forward(x).detach())
        assert_same(each.twice(x).detach(), module.twice(x).detach())
        assert each.calls == 1


def test_those_of_modules_inside_are_in_the_graph():
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Hooked()

        def forward(self, x):
            return self.inner(x) - 3

    module, x = torch.jit.script(Outer().eval()), torch.randn(2, 4)
    compiled = torchtrt.compile(module, inputs=[INPUT], min_block_size=1)
    assert_same(compiled(x).detach(), module(x).detach())


def test_full_compilation_refuses_them():
    module = torch.jit.script(Hooked().eval())
    with pytest.raises(torchtrt.CompileError, match="C004.*has hooks around forward"):
        torchtrt.compile(module, inputs=[INPUT], require_full_compilation=True)
    with pytest.raises(torchtrt.CompileError, match="C004.*has hooks around forward"):
        torchtrt.convert_method_to_trt_engine(module, inputs=[INPUT])
    assert torchtrt.convert_method_to_trt_engine(module, "twice", inputs=[INPUT])


def test_a_trace_has_them_in_its_graph():
    module, x = nn.Linear(4, 4).eval(), torch.randn(2, 4)
    module.register_forward_hook(lambda module, arguments, result: result * 2 - arguments[0])
    compiled = torchtrt.compile(torch.jit.trace(module, (x,)), inputs=[x], min_block_size=1, require_full_compilation=True)
    assert_same(compiled(x).detach(), module(x).detach())
