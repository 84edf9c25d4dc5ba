"""Sizes of exported programs: ranges, sizes that inputs share, and sizes for which a module takes another path."""

import pytest
import torch
from same import assert_same, saved
from torch import nn

import torchtrt
from torchtrt import CompileError, EngineError, Input

BATCH = Input(min_shape=[1, 4], opt_shape=[2, 4], max_shape=[6, 4])


def eager(module, *arguments):
    with torch.no_grad():
        return module(*arguments)


class Unscriptable(nn.Module):
    """TorchScript has no generator expressions over modules."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        for layer in (each for each in self.layers):
            x = torch.relu(layer(x))
        return x


@pytest.mark.parametrize("rows", [1, 2, 5, 6, 9])
def test_a_range_is_one_engine_and_other_sizes_run_in_pytorch(rows):
    module = Unscriptable().eval()
    compiled = torchtrt.compile(module, inputs=[BATCH])
    x = torch.randn(rows, 4)
    assert_same(compiled(x), eager(module, x))
    assert torchtrt.report(compiled).engine_segments == 1


class Sum(nn.Module):
    def forward(self, x, y):
        yield_ = [each for each in (x, y)]
        return torch.relu(yield_[0] @ yield_[0].T + yield_[1] @ yield_[1].T)


def test_sizes_that_must_be_one_are_shared_and_checked():
    module = Sum().eval()
    compiled = torchtrt.compile(module, ir="export", inputs=[BATCH, BATCH])
    assert not torchtrt.report(compiled).guessed_sizes
    for rows in (1, 3, 6):
        x, y = torch.randn(rows, 4), torch.randn(rows, 4)
        assert_same(compiled(x, y), eager(module, x, y))
    with pytest.raises(EngineError, match=r"\[E005\] input 'y': expected \[(s\d+), 4\], got \[2, 4\]"), torchtrt.translated_errors():
        compiled(torch.randn(3, 4), torch.randn(2, 4))


class Rest(nn.Module):
    def forward(self, *rest):
        if rest[1].size(0) % 8 == 0:
            return rest[1]
        return torch.relu(rest[0] + rest[1])


def test_arguments_without_a_name_have_conditions():
    module = Rest().eval()
    compiled = torchtrt.compile(module, ir="export", inputs=[BATCH, BATCH])
    x, y = torch.randn(5, 4), torch.randn(5, 4)
    assert_same(compiled(x, y), eager(module, x, y))
    with pytest.raises(EngineError, match=r"\[E005\] the sizes of the inputs do not fulfil rest_"), torchtrt.translated_errors():
        compiled(torch.randn(8, 4), torch.randn(8, 4))


class Apart(nn.Module):
    def forward(self, x, y):
        return torch.relu(x) @ y.T


def test_sizes_that_need_not_be_one_stay_two():
    module = Apart().eval()
    compiled = torchtrt.compile(module, ir="export", inputs=[BATCH, BATCH])
    for rows, columns in ((3, 3), (2, 5), (1, 4)):
        x, y = torch.randn(rows, 4), torch.randn(columns, 4)
        assert_same(compiled(x, y), eager(module, x, y))


class OfFour(nn.Module):
    def forward(self, x):
        return torch.relu(x).view(4, -1) + torch.ones(4, 2)


def test_a_range_that_the_module_does_not_take_is_an_error():
    batch = Input(min_shape=[1, 4], opt_shape=[2, 4], max_shape=[8, 4])
    with pytest.raises(CompileError, match=r"\[C002\] 'x', dimension 0: the exported program takes 2 alone, and the Input has 1 to 8") as caught:
        torchtrt.compile(OfFour().eval(), ir="export", inputs=[batch])
    assert caught.value.code == "C002"


class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(16, 4))

    def forward(self, x):
        return torch.relu(x + self.table[: x.shape[0]])


def test_a_table_bounds_the_range():
    module = Positions().eval()
    compiled = torchtrt.compile(module, ir="export", inputs=[Input(min_shape=[1, 4], opt_shape=[4, 4], max_shape=[16, 4])])
    for rows in (1, 7, 16):
        x = torch.randn(rows, 4)
        assert_same(compiled(x), eager(module, x))
    with pytest.raises(CompileError, match="dimension 0: the exported program takes .*16"):
        torchtrt.compile(module, ir="export", inputs=[Input(min_shape=[1, 4], opt_shape=[4, 4], max_shape=[32, 4])])


class Paths(nn.Module):
    """Other paths for sizes of 1, and for multiples of 8."""

    def __init__(self, small):
        super().__init__()
        self.small = small

    def forward(self, x):
        if self.small and x.size(0) == 1:
            return x * 100
        if x.size(0) % 8 == 0:
            return x * 10
        return torch.relu(x) + 1


def test_sizes_that_take_another_path_are_refused():
    module, batch = Paths(False).eval(), Input(min_shape=[1, 4], opt_shape=[3, 4], max_shape=[16, 4])
    compiled = torchtrt.compile(module, ir="export", inputs=[batch])
    for rows in (1, 3, 15):
        x = torch.randn(rows, 4)
        assert_same(compiled(x), eager(module, x))
    for each in (compiled, saved(compiled)):
        with pytest.raises(EngineError, match=r"\[E005\] the sizes of the inputs do not fulfil x.size\(\)\[0\] % 8 != 0"), torchtrt.translated_errors():
            each(torch.randn(8, 4))
    with pytest.raises(CompileError, match=r"\[C002\] the module computes something else for the smallest sizes"):
        torchtrt.compile(Paths(True).eval(), ir="export", inputs=[batch])
    two = Input(min_shape=[2, 4], opt_shape=[3, 4], max_shape=[16, 4])
    assert_same(torchtrt.compile(Paths(True).eval(), ir="export", inputs=[two])(x), eager(module, x))
