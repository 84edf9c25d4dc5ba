"""`rewriters` of a compile: functions and pattern managers that change the network of every engine."""

import pytest
import torch
from torch import nn

import torchtrt
import torchtrt.network as trt
from torchtrt.graph_rewriting import PatternRewriter, RewritePatternManager


def manager_of(pattern):
    manager = RewritePatternManager()
    manager.add(label=pattern.name, pattern=pattern)
    return manager


class SetOp(PatternRewriter):
    def __init__(self, before, after):
        super().__init__(f"{before}_to_{after}", root_layer={trt.LayerType.ELEMENTWISE}, separate_match_rewrite=True)
        self.before, self.after = before, after

    def match(self, layer):
        return layer.as_layer().op == self.before

    def rewrite(self, layer):
        layer.set_attribute("op", self.after)


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x + x * 2) + 3


def test_rewriters_run_on_every_engine_of_a_compile():
    x = torch.randn(4, 5)
    seen = []

    def look(net):
        seen.append(net)
        assert net.num_layers > 0

    compiled = torchtrt.compile(Model().eval(), inputs=[torchtrt.Input([4, 5])],
                                rewriters=[look, manager_of(SetOp("sum", "sub"))])
    assert torch.equal(compiled(x), torch.relu(x - x * 2) - 3)
    with pytest.raises(torchtrt.CompileError, match="the network is gone"):
        seen[0].num_layers  # noqa: B018


def test_rewriters_take_arguments():
    class FromArgs(SetOp):
        def rewrite(self, layer):
            layer.set_attribute("op", self.args["op"])

    compiled = torchtrt.compile(Model().eval(), inputs=[torchtrt.Input([4, 5])],
                                rewriters=[(manager_of(FromArgs("sum", "sub")), {"op": "max"})])
    x = torch.randn(4, 5)
    assert torch.equal(compiled(x), torch.maximum(torch.relu(torch.maximum(x, x * 2)), torch.tensor(3.0)))


def fails(net):
    raise ValueError("not today")


def adds_an_output(net):
    net.get_inputs()[0].mark_output("more")


class FailsOnSums(PatternRewriter):
    def __init__(self):
        super().__init__("fails", root_layer={trt.LayerType.ELEMENTWISE})

    def match_and_rewrite(self, layer):
        raise RuntimeError("no sums")


@pytest.mark.parametrize(("rewriter", "message"), [
    (fails, "rewriter 0 of network .* failed: ValueError: not today|ValueError: not today"),
    (adds_an_output, "changed its interface"),
    (manager_of(FailsOnSums()), "pattern 'fails' on layer .*RuntimeError: no sums"),
    ("not callable", "rewriters"),
])
def test_rewriters_that_fail_are_compile_errors(rewriter, message):
    with pytest.raises(torchtrt.CompileError, match=message):
        torchtrt.compile(Model().eval(), inputs=[torchtrt.Input([4, 5])], rewriters=[rewriter])


def test_a_failed_rewriting_cannot_be_overlooked():
    """The pattern changes the network and fails; the rewriter catches that and goes on."""
    class ChangesAndFails(SetOp):
        def rewrite(self, layer):
            super().rewrite(layer)
            raise RuntimeError("halfway")

    seen = []

    def careless(net):
        try:
            manager_of(ChangesAndFails("sum", "sub")).rewrite(net)
        except torchtrt.CompileError as error:
            seen.append(str(error))
        with pytest.raises(torchtrt.CompileError, match="the network is gone"):
            net.num_layers  # noqa: B018

    with pytest.raises(torchtrt.CompileError, match="pattern 'sum_to_sub' on layer .*RuntimeError: halfway"):
        torchtrt.compile(Model().eval(), inputs=[torchtrt.Input([4, 5])], rewriters=[careless])
    assert len(seen) == 1


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_ends_the_compile_as_what_it_is(interruption):
    def interrupted(net):
        raise interruption

    with pytest.raises(interruption):
        torchtrt.compile(torch.jit.script(Model().eval()), inputs=[torchtrt.Input([4, 5])], rewriters=[interrupted])

    class Interrupts(PatternRewriter):
        def __init__(self):
            super().__init__("interrupts", root_layer={trt.LayerType.ELEMENTWISE})

        def match_and_rewrite(self, layer):
            raise interruption

    with pytest.raises(interruption):
        torchtrt.compile(torch.jit.script(Model().eval()), inputs=[torchtrt.Input([4, 5])], rewriters=[manager_of(Interrupts())])
