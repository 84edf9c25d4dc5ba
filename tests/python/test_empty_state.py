"""State that is empty before the first call: engines are for what later calls find, and take it where zeros give them the same."""

import pytest
import torch
from torch import nn

import torchtrt
from same import FELL_BACK, assert_calls_are_same, assert_same, saved


class EmptyAtFirst(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("state", torch.zeros(0))

    def forward(self, x):
        state = self.state
        y = self.linear(x)
        y = y + torch.sigmoid(state) if len(state) else y * 2
        self.state = torch.tanh(y)
        return y


@pytest.mark.parametrize("described", [torchtrt.Input([2, 4]), torchtrt.Input(min_shape=[1, 4], opt_shape=[2, 4], max_shape=[8, 4])])
def test_engines_are_for_the_state_that_later_calls_find(described, capfd):
    module, x = torch.jit.script(EmptyAtFirst().eval()), torch.randn(2, 4)
    compiled = torchtrt.compile(module, inputs=[described], min_block_size=1)
    assert torchtrt.report(compiled).engine_segments and compiled.state.shape == module.state.shape == (0,)
    assert_same(compiled(x), module(x))
    capfd.readouterr()
    for _ in range(3):
        assert_same(compiled(x), module(x))
    assert FELL_BACK not in capfd.readouterr().err


class ZeroAtFirst(nn.Module):
    """A cell whose state is empty before the first call: torch.nn starts it with zeros."""

    def __init__(self):
        super().__init__()
        self.encoder, self.cell = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4), nn.ReLU()), nn.LSTMCell(4, 8)
        self.register_buffer("state", torch.zeros(0))

    def forward(self, x):
        state = self.state
        y = self.encoder(x)
        if len(state):
            h, c = self.cell(y, (state[0], state[1]))
        else:
            h, c = self.cell(y)
        self.state = torch.stack([h, c])
        return torch.sigmoid(h) * 2

    @torch.jit.export
    def reset(self):
        self.state = torch.zeros(0)


class TwoZerosAtFirst(nn.Module):
    """Two states that are empty at first, and of which nothing is asked but one's length."""

    def __init__(self):
        super().__init__()
        self.linear, self.cell = nn.Linear(4, 4), nn.GRUCell(4, 4)
        self.register_buffer("hidden", torch.zeros(0))
        self.register_buffer("mean", torch.zeros(0, 4))

    def forward(self, x):
        hidden, mean = self.hidden, self.mean
        y = torch.relu(self.linear(x))
        if hidden.numel() == 0:
            hidden, mean = torch.zeros(2, 4), torch.zeros(1, 4)
        h = self.cell(y, hidden)
        m = mean * 0.5 + h.mean(0, keepdim=True)
        self.hidden, self.mean = h, m
        return torch.tanh(h - m)


@pytest.mark.parametrize("make", [ZeroAtFirst, TwoZerosAtFirst])
def test_engines_take_an_empty_state_that_stands_for_zeros(make, capfd):
    report = assert_calls_are_same(make(), [(torch.randn(2, 4),) for _ in range(3)])
    assert report.engine_segments == 1
    assert FELL_BACK not in capfd.readouterr().err


def test_what_stands_for_zeros_is_saved_and_comes_back(capfd):
    module, x = torch.jit.script(ZeroAtFirst().eval()), torch.randn(2, 4)
    compiled = torchtrt.compile(module, inputs=[x])
    for each in (saved(saved(compiled)), compiled):
        for _ in range(2):
            module.reset()
            each.reset()
            assert_same(each(x).detach(), module(x).detach())
            assert_same(each(x).detach(), module(x).detach())
        each.state = module.state = torch.zeros(1, 2, 8)  # PyTorch's own error, of the segment that it runs
        with pytest.raises(RuntimeError):
            each(x)
    assert capfd.readouterr().err.count(FELL_BACK) == 2


def test_an_empty_state_that_is_no_zero_runs_in_pytorch(capfd):
    module, x = torch.jit.script(EmptyAtFirst().eval()), torch.randn(2, 4)
    compiled = torchtrt.compile(module, inputs=[x], min_block_size=1)
    assert_same(compiled(x), module(x))
    assert FELL_BACK in capfd.readouterr().err
