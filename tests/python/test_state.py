"""Modules whose forward writes attributes: state is the compiled module's own, carried over its calls."""

import gc

import pytest
import torch
from torch import Tensor, nn

import torchtrt
from same import FELL_BACK, assert_calls_are_same, assert_same, saved


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.register_buffer("state", torch.zeros(2, 4))
        self.calls = 0

    def forward(self, x):
        self.state = torch.tanh(self.linear(x) + self.state)
        self.calls += 1
        return self.inner(self.state) * 2

    @torch.jit.export
    def reset(self):
        self.state = torch.zeros(2, 4)
        self.calls = 0

    @torch.jit.export
    def twice(self, x):
        return self.forward(self.forward(x))


def test_attributes_that_change_and_other_methods_work():
    module, x = torch.jit.script(Counter().eval()), torch.randn(2, 4)
    compiled = torchtrt.compile(module, inputs=[x], min_block_size=1)
    assert torchtrt.report(compiled).engine_segments == 2
    assert module.calls == 0 and torch.equal(module.state, torch.zeros(2, 4))
    for each in (compiled, saved(compiled)):
        module.reset()
        each.reset()
        for _ in range(3):
            assert_same(each(x).detach(), module(x).detach())
        assert_same(each.twice(x).detach(), module.twice(x).detach())
        assert each.calls == module.calls == 5
        assert_same(each.state.detach(), module.state.detach())
        assert set(each.state_dict()) == {"state"}  # what is used; weights are in engines


class WithoutGradient(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2

    @torch.jit.export
    def padded(self, x):
        with torch.no_grad():  # a class of the file, and the function pad is one too
            return self.forward(nn.functional.pad(x, [1, 1]))


def test_other_methods_outlive_the_original_of_a_file():
    module, x = torch.jit.script(WithoutGradient().eval()), torch.randn(2, 4)
    compiled = torchtrt.compile(saved(module), inputs=[x], min_block_size=1)
    gc.collect()
    for each in (saved(compiled), compiled):
        assert_same(each.padded(x), module.padded(x))


def test_state_that_grows_is_of_any_size(capfd):
    class Growing(Linear):
        def __init__(self):
            super().__init__()
            self.register_buffer("state", torch.zeros(0, 4))

        def forward(self, x):
            self.state = torch.cat([self.state, self.linear(x)])
            return torch.relu(self.state) * 2

    assert_calls_are_same(Growing(), [(torch.randn(2, 4),) for _ in range(5)])
    assert FELL_BACK not in capfd.readouterr().err


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)


class Number(Linear):
    def __init__(self):
        super().__init__()
        self.count = 0

    def forward(self, x):
        self.count += 1
        return self.linear(x).relu() * self.count


class RunningMean(Linear):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        y = self.linear(x)
        self.mean.mul_(0.9).add_(y.mean(0), alpha=0.1)
        return torch.tanh(y - self.mean)


class SameMemory(Linear):
    """Writes one attribute and reads others that lie in the same memory."""

    def __init__(self):
        super().__init__()
        self.register_buffer("written", torch.zeros(4, 4))
        self.register_buffer("row", self.written[1])
        self.register_buffer("same", self.written)

    def forward(self, x):
        self.written += 1
        return self.linear(x) + self.row, self.linear(x) @ self.same


class Lists(Linear):
    def __init__(self):
        super().__init__()
        self.seen = torch.jit.Attribute([], list[Tensor])

    def forward(self, x):
        self.seen.append(self.linear(x))
        return torch.stack(self.seen).sum(0), len(self.seen)


class Dictionaries(Linear):
    def __init__(self):
        super().__init__()
        self.sums = torch.jit.Attribute({"sum": torch.zeros(2, 4)}, dict[str, Tensor])

    def forward(self, x):
        self.sums["sum"] = self.sums["sum"] + self.linear(x)
        self.sums["relu"] = self.sums["sum"].relu()
        return self.sums["relu"].exp()


class Previous(Linear):
    def __init__(self):
        super().__init__()
        self.previous = torch.jit.Attribute(None, Tensor | None)

    def forward(self, x):
        y = self.linear(x)
        previous = self.previous
        if previous is not None:
            y = y + previous
        self.previous = y
        return y.sigmoid() * 2


class InBranches(Linear):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.register_buffer("kept", torch.ones(2, 4))

    def forward(self, x):
        y = self.linear(x)
        if bool(y.sum() > 0):
            self.count += 1
            self.kept = y
        else:
            self.count -= 1
        for i in range(self.count):
            y = y + self.kept * i
        return y, self.count


class Cache(Linear):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(8, 4))
        self.position = 0

    def forward(self, x):
        q = self.linear(x)
        self.keys[self.position:self.position + 2] = q
        self.position += 2
        return torch.softmax(q @ self.keys[:self.position].t(), -1) @ self.keys[:self.position]


class Statistics(nn.Module):
    """Batch statistics in evaluation mode: the operator writes to its running ones and does not say so."""

    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 3, 3)
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("var", torch.ones(3))

    def forward(self, x):
        y = self.convolution(x)
        return nn.functional.batch_norm(y, self.mean, self.var, None, None, True, 0.1, 1e-5).relu()


class OldAndNew(Linear):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(2, 4))

    def forward(self, x):
        old = self.state
        self.state = self.linear(x)
        view = self.state.view(-1)
        self.state.add_(1)
        return old * 2, view, self.state.relu()


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = (torch.zeros(1, 2, 4), torch.zeros(1, 2, 4))
        self.lstm = nn.LSTM(4, 4)

    def forward(self, x):
        y, self.state = self.lstm(x, self.state)
        return y.tanh()


CASES = {
    Number: ("count",),
    RunningMean: ("mean",),
    SameMemory: ("written", "row", "same"),
    Lists: ("seen",),
    Dictionaries: ("sums",),
    Previous: ("previous",),
    InBranches: ("count", "kept"),
    Cache: ("keys", "position"),
    Statistics: ("mean", "var"),
    OldAndNew: ("state",),
    Recurrent: ("state",),
}


@pytest.mark.parametrize("options", [{}, {"min_block_size": 1}], ids=["default", "every block"])
@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_state_is_carried_over_calls(make, options):
    torch.manual_seed(0)
    shape = {Statistics: (2, 3, 8, 8), Recurrent: (3, 2, 4)}.get(make, (2, 4))
    assert_calls_are_same(make(), [(torch.randn(shape),) for _ in range(4)], CASES[make], **options)


def test_submodules_have_state_too():
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.ModuleList([Number(), Number()])
            self.tied = self.inner[0]

        def forward(self, x):
            for each in self.inner:
                x = each(x)
            return self.tied(x) + self.inner[0].count

    report = assert_calls_are_same(Outer(), [(torch.randn(2, 4),) for _ in range(3)])
    assert report.engine_segments == 3
    assert "attribute 'count' changes from call to call" in sum((list(each.reasons) for each in report.segments), [])


def test_forward_sees_what_other_methods_write():
    class Scaled(Linear):
        def __init__(self):
            super().__init__()
            self.scale = 1.0
            self.register_buffer("shift", torch.ones(4))
            self.inner = Number()

        def forward(self, x):
            return self.linear(x).relu() * self.scale + self.shift + self.inner.count

        @torch.jit.export
        def set(self, value: float):
            self.scale = value
            self.shift.fill_(value)
            self.inner.count += 5

    module, x = torch.jit.script(Scaled().eval()), torch.randn(2, 4)
    compiled = torchtrt.compile(module, inputs=[x])
    copy = saved(compiled)
    module.set(3.0)
    for each in (compiled, copy):
        each.set(3.0)
        assert_same(each(x).detach(), module(x).detach())


class WarnsOnce(Linear):
    """Only example runs tell the type behind the decomposition. The module has a flag, so it takes part in them."""

    def __init__(self, training: bool):
        super().__init__()
        self.warned, self.trains = False, training
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("variance", torch.ones(4))

    def forward(self, x):
        if not self.warned:
            self.warned = True
        x = nn.functional.batch_norm(self.linear(x), self.mean, self.variance, training=self.trains)
        return torch.relu(torch.linalg.qr(x)[1] + 1) * self.mean


@pytest.mark.parametrize("training", [False, True])
def test_example_runs_leave_the_module_as_it_was(training):
    script, x = torch.jit.script(WarnsOnce(training).eval()), torch.randn(4, 4)
    before = [tensor.detach().clone() for tensor in script.state_dict().values()]
    compiled = torchtrt.compile(script, inputs=[x], min_block_size=1)
    assert not script.warned
    assert all(map(torch.equal, script.state_dict().values(), before))
    for _ in range(2):
        assert_same(compiled(x), script(x).detach())
    assert script.warned


def test_full_compilation_refuses_state():
    with pytest.raises(torchtrt.CompileError, match="attribute 'count' is written by the method"):
        torchtrt.compile(torch.jit.script(Number().eval()), inputs=[[2, 4]], require_full_compilation=True)


@torch.jit.interface
class Part(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Growing(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = 0

    def forward(self, x: Tensor) -> Tensor:
        self.rows += 2
        return x[:self.rows]


class HoldsInterface(nn.Module):
    part: Part

    def __init__(self):
        super().__init__()
        self.part, self.linear = torch.jit.script(Growing()), nn.Linear(8, 8)

    def forward(self, x):
        return torch.relu(self.linear(self.part.forward(x)))


def test_state_behind_an_interface_makes_engines_for_later_calls():
    x = torch.randn(4, 8)
    compiled = torchtrt.compile(torch.jit.script(HoldsInterface().eval()), inputs=[x], min_block_size=1)
    assert [text.split(": ")[1] for each in torchtrt.report(compiled).segments if each.target == "engine" for text in each.inputs] == ["float32 [4, 8]"]


class Once(nn.Module):
    """Keeps what it is called with, and has room for one."""

    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(1, 4, 8))
        self.linear, self.calls = nn.Linear(8, 8), 0

    def forward(self, x):
        self.kept[self.calls] = x
        self.calls += 1
        return torch.relu(self.linear(self.kept.sum(0)))


def test_engines_are_tuned_on_the_only_call_that_a_module_takes():
    module, x = Once().eval(), torch.randn(4, 8)
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[x], sample_inputs=[x], tune=True, min_block_size=1)
    assert_same(compiled(x), module(x).detach())
