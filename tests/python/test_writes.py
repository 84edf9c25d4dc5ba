"""Writes that nobody outside can tell from functional code run in engines: through views, to lists in loops, to buffers."""

import re

import pytest
import torch
from torch import Tensor, nn

import torchtrt
from same import FELL_BACK, assert_calls_are_same, assert_same


def assert_engines(module, calls, engines, attributes, in_pytorch):
    """Only the named operators, and reads of attributes, run in PyTorch."""
    report = assert_calls_are_same(module, calls, attributes, min_block_size=1)
    assert report.engine_segments == engines
    kept = {re.search(r"\w+::\w+", node.node)[0] for node in report.nodes if node.target == "torch" and node.code != "carried"}
    assert kept <= {"prim::GetAttr", *in_pytorch}


class Attention(nn.Module):
    """Writes as torchvision's MViT does: into slices of products and of transposed views."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(8, 24)

    def forward(self, x):
        q, k, v = self.project(x).reshape(x.shape[0], x.shape[1], 3, 2, 4).transpose(1, 3).unbind(dim=2)
        scores = torch.matmul(q * 0.5, k.transpose(2, 3))
        scores[:, :, 1:, 1:] += torch.tanh(q[:, :, 1:, :1])
        y = torch.matmul(scores.softmax(-1), v)
        y[:, :, 1:, :] += q[:, :, 1:, :]
        turned = y.transpose(1, 2)
        turned[:, 0].copy_(torch.relu(turned[:, 1]))
        return y.transpose(1, 2).flatten(2), turned


def test_writes_through_views_are_one_engine():
    x = torch.randn(2, 5, 8)
    traced = torch.jit.trace(Attention().eval(), x)
    compiled = torchtrt.compile(traced, inputs=[x])
    assert torchtrt.report(compiled).torch_segments == 0
    for actual, expected in zip(compiled(x), traced(x), strict=True):
        assert_same(actual.detach(), expected.detach())


class Windows(nn.Module):
    """Sums windows of one tensor into another, as sliding-window inference does."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 3, padding=1)

    def forward(self, x):
        total, count = torch.zeros_like(x), torch.zeros_like(x)
        for row in range(0, 12, 4):
            for column in range(0, 12, 4):
                window = torch.sigmoid(self.conv(x[:, :, row : row + 6, column : column + 6]))
                total[:, :, row : row + 6, column : column + 6] += window
                count[:, :, row : row + 6, column : column + 6] += 1.0
        return total / count


@pytest.mark.parametrize("make", [torch.jit.trace, lambda module, x: torch.jit.script(module)], ids=["traced", "scripted"])
def test_sums_of_windows_are_one_engine(make):
    x = torch.randn(1, 1, 12, 12)
    original = make(Windows().eval(), x)
    compiled = torchtrt.compile(original, inputs=[x])
    assert torchtrt.report(compiled).torch_segments == 0
    assert_same(compiled(x).detach(), original(x).detach())


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        hidden, memory = torch.zeros(x.size(0), 8), torch.zeros(x.size(0), 8)
        outputs: list[Tensor] = []
        for step in range(x.size(1)):
            hidden, memory = self.cell(x[:, step], (hidden, memory))
            outputs.append(self.out(hidden))
        return torch.stack(outputs, 1)


class Layers(nn.Module):
    """Hidden states in a list that every trip writes to."""

    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([nn.GRUCell(4, 4) for _ in range(3)])

    def forward(self, x):
        states = [torch.zeros(x.size(0), 4) for _ in range(3)]
        outputs = []
        for step in range(x.size(1)):
            y = x[:, step]
            for number, cell in enumerate(self.cells):
                y = cell(y, states[number])
                states[number] = y
            if step % 2 == 0:
                outputs.append(y)
        return torch.stack(outputs, 1), states[0]


class Rows(nn.Module):
    """Writes its results into a tensor, row by row."""

    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(4, 4)

    def forward(self, x):
        rows, state = torch.zeros(x.size(1), x.size(0), 4), torch.zeros(x.size(0), 4)
        for step in range(x.size(1)):
            state = self.cell(x[:, step], state)
            rows[step] = state
        return rows


@pytest.mark.parametrize("module", [Cell, Layers, Rows])
def test_loops_over_sizes_are_one_engine(module, capfd):
    report = assert_calls_are_same(module(), [(torch.randn(2, 7, 4),), (torch.randn(2, 7, 4),)])
    assert report.engine_segments == 1 and report.torch_segments == 0
    assert FELL_BACK not in capfd.readouterr().err


@pytest.mark.parametrize("module", [Cell, Layers, Rows])
def test_other_trips_than_those_of_the_engine_run_in_pytorch(module):
    original = torch.jit.script(module().eval())
    compiled = torchtrt.compile(original, inputs=[torchtrt.Input([2, 7, 4])])
    for steps in (7, 3, 1, 9):
        x = torch.randn(2, steps, 4)
        with torch.no_grad():
            assert_same(compiled(x), original(x))


class Cache(nn.Module):
    """Keys and values of earlier calls, written at a position."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3))
        self.register_buffer("keys", torch.zeros(1, 6, 8))
        self.register_buffer("values", torch.zeros(1, 6, 8))

    def forward(self, x, position):
        q = self.q(x)
        self.keys.index_copy_(1, position, self.k(x))
        self.values.index_copy_(1, position, self.v(x))
        return torch.relu(torch.softmax(q @ self.keys.transpose(1, 2), -1) @ self.values)


class Stream(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 4, 5)
        self.register_buffer("last", torch.zeros(1, 2, 8))

    def forward(self, x):
        self.last[:, :, :-3] = self.last[:, :, 3:].clone()
        self.last[:, :, -3:] = x
        return torch.relu(self.conv(self.last))


class Running(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        y = self.linear(x)
        self.count += 1
        self.mean.mul_(0.9).add_(y.mean(0) * 0.1)
        return torch.tanh(y - self.mean) / self.count


# The caller may pass the buffer as x, so whoever reads x behind a write comes after the copy, in a second engine.
@pytest.mark.parametrize(
    ("make", "engines", "attributes", "arguments", "in_pytorch"),
    [
        (Cache, 2, ["keys", "values"], lambda step: (torch.randn(1, 1, 8), torch.tensor([step])), ["aten::copy_"]),
        (Stream, 2, ["last"], lambda _: (torch.randn(1, 2, 3),), ["aten::copy_", "aten::slice"]),
        (Running, 1, ["mean", "count"], lambda _: (torch.randn(5, 4),), ["aten::copy_"]),
    ],
)
def test_buffers_that_are_written_in_place_are_engines_and_copies(make, engines, attributes, arguments, in_pytorch):
    assert_engines(make(), [arguments(step) for step in range(4)], engines, attributes, in_pytorch)


class TwoNames(nn.Module):
    """The buffers lie in one memory, so that a write to one shows in the other."""

    def __init__(self):
        super().__init__()
        self.register_buffer("all", torch.zeros(4, 4))
        self.register_buffer("row", self.all[1])

    def forward(self, x):
        self.all += x
        self.row.mul_(2.0)
        return torch.relu(self.all) + self.row


class SetBySomebodyElse(nn.Module):
    """Both states are one tensor after a reset."""

    def __init__(self):
        super().__init__()
        self.register_buffer("zero", torch.zeros(3, 4))
        self.register_buffer("a", torch.ones(3, 4))
        self.register_buffer("b", torch.ones(3, 4))

    def forward(self, x):
        self.a.add_(x)
        self.b.mul_(0.5)
        return torch.relu(self.a) - self.b

    @torch.jit.export
    def reset(self):
        self.a = self.zero
        self.b = self.zero


def test_buffers_with_two_names():
    x = torch.randn(4, 4)
    assert_calls_are_same(TwoNames(), [(x,), (x,), (x,)], ["all", "row"], min_block_size=1)
    original = torch.jit.script(SetBySomebodyElse().eval())
    compiled = torchtrt.compile(original, inputs=[torchtrt.Input([3, 4])], min_block_size=1)
    for module in (original, compiled):
        module.reset()
    for _ in range(3):
        y = torch.randn(3, 4)
        assert_same(compiled(y), original(y))
        assert_same(compiled.a, original.a)
        assert_same(compiled.b, original.b)


def test_a_buffer_that_is_an_argument_too():
    original = torch.jit.script(Running().eval())
    compiled = torchtrt.compile(original, inputs=[torchtrt.Input([4])], min_block_size=1)
    with torch.no_grad():
        for _ in range(3):
            assert_same(compiled(compiled.mean), original(original.mean))
            assert_same(compiled.mean, original.mean)


class Long(nn.Module):
    def forward(self, x):
        for _ in range(x.size(1)):
            for _ in range(30):
                x = torch.tanh(x * 1.01)
        return x


def test_a_loop_that_becomes_too_many_layers_runs_in_pytorch():
    original, x = torch.jit.script(Long().eval()), torch.randn(2, 200)
    compiled = torchtrt.compile(original, inputs=[x])
    assert any("layers" in node.reason for node in torchtrt.report(compiled).nodes)
    assert_same(compiled(x), original(x))
