"""Positions of equal values: those of eager PyTorch on the CPU, whose sorts are not stable unless asked to be, but always take the same steps."""

import pytest
import torch

import torchtrt

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.bool)
SIZES = (1, 16, 17, 40, 300, 2000)


def sorts(x):
    return torch.sort(x, -1), torch.sort(x, 0, descending=True), torch.sort(x, stable=True, dim=-1, descending=True), torch.sort(x, stable=False, dim=0)


def argsorts(x):
    return torch.argsort(x, -1), torch.argsort(x, 0, True), torch.argsort(x, stable=True), torch.msort(x)


def fronts(x):
    few, most = max(x.shape[-1] // 80, 1), x.shape[-1] - x.shape[-1] // 3
    return (torch.topk(x, few), torch.topk(x, few, largest=False), torch.topk(x, most), torch.topk(x, most, largest=False),
            torch.topk(x, most, sorted=False), torch.topk(x, 1, dim=0), torch.topk(x, 2, dim=0, largest=False))


def extremes(x):
    return x.max(-1), x.min(0), x.argmax(-1), x.argmin(0), x.argmax(), x.argmin()


def middles(x):
    return x.median(-1), x.median(0), x.kthvalue(x.shape[-1] // 2 + 1), x.kthvalue(2, 0), x.kthvalue(1, -1, True)


FUNCTIONS = (sorts, argsorts, fronts, extremes, middles)


def draw(dtype, size, distinct):
    x = torch.randint(0, distinct, (3, size))
    return x.to(dtype)


def flat(value):
    return [part for each in value for part in flat(each)] if isinstance(value, (tuple, list)) else [value]


def assert_same(actual, expected):
    for ours, theirs in zip(flat(actual), flat(expected), strict=True):
        assert ours.dtype == theirs.dtype and torch.equal(ours.nan_to_num(77.0), theirs.nan_to_num(77.0))


class Apply(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return tuple(flat(self.function(x)))


def check(function, x, draws):
    module = Apply(function).eval()
    with torch.no_grad(), torchtrt.logging.errors():
        compiled = torchtrt.compile(torch.jit.trace(module, x), inputs=[torchtrt.Input(list(x.shape), dtype=x.dtype)], min_block_size=1)
        for each in (x, *draws):
            assert_same(compiled(each), module(each))
    assert torchtrt.report(compiled).torch_segments == 0


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_positions_of_equal_values(function, dtype):
    if dtype == torch.bool and function in (fronts, extremes, middles):
        pytest.skip("PyTorch has none of bools")
    torch.manual_seed(0)
    for size in SIZES:
        check(function, draw(dtype, size, 2), [draw(dtype, size, distinct) for distinct in (3, 5, 20, 100 * size)])


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_positions_of_nan_and_zeros(function):
    torch.manual_seed(1)
    values = torch.tensor([float("nan"), 0.0, -0.0, 1.0, float("inf"), -float("inf")])
    for size in (5, 40, 300):
        check(function, values[torch.randint(0, 6, (3, size))], [values[torch.randint(0, 6, (3, size))] for _ in range(4)])


# PyTorch sorts many integers of one dimension by a stable algorithm.
@pytest.mark.parametrize("dtype", (torch.int64, torch.int32, torch.float32, torch.bool), ids=str)
@pytest.mark.parametrize("size", (32767, 32768, 50000))
def test_many_of_one_dimension(dtype, size):
    torch.manual_seed(2)
    x = torch.randint(0, 50, (size,)).to(dtype)
    check(lambda x: (torch.sort(x), torch.sort(x, descending=True), torch.argsort(x)), x, [])


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64, torch.float16), ids=str)
def test_inverse_of_unique(dtype):
    torch.manual_seed(3)
    values = torch.tensor([float("nan"), 0.0, -0.0, 1.0, 2.0, -1.0], dtype=dtype)
    x = values[torch.randint(0, 6, (200,))]
    check(lambda x: torch._unique2(x, True, True, True)[1:], x, [])
