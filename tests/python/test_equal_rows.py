"""Normalization of equal values (silence, blank patches) and of values beyond what their sum can hold, against eager PyTorch."""

import pytest
import torch
import torch.nn.functional as F

import torchtrt

VALUES = (30000.3, 0.1, -7654321.7, 1e-6, 0.0)


class Apply(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def results(function, x):
    """Ours, PyTorch's, and the same in float64."""
    module = Apply(function).eval()
    with torch.no_grad(), torchtrt.logging.errors():
        compiled = torchtrt.compile(torch.jit.trace(module, x), inputs=[torchtrt.Input(list(x.shape), dtype=x.dtype)], min_block_size=1)
        assert torchtrt.report(compiled).torch_segments == 0
        return compiled(x).double(), module(x).double(), module(x.double())


def filled(shape, dtype):
    """Each sample holds one of the values throughout."""
    return torch.stack([torch.full(shape, value, dtype=torch.float64) for value in VALUES]).to(dtype)


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64, torch.float16, torch.bfloat16), ids=str)
@pytest.mark.parametrize("size", (1, 7, 80, 768, 4096))
def test_layers_of_equal_values_are_zero(size, dtype):
    x = filled((2, size), dtype).nan_to_num(posinf=60000.0, neginf=-60000.0)
    ours, _, _ = results(lambda x: F.layer_norm(x, x.shape[-1:]), x)
    assert torch.equal(ours, torch.zeros_like(ours))


@pytest.mark.parametrize("layout", (torch.contiguous_format, torch.channels_last), ids=str)
@pytest.mark.parametrize("function", (F.instance_norm, lambda x: F.group_norm(x, 4), lambda x: F.group_norm(x, 1)), ids=("instance", "4 groups", "1 group"))
def test_groups_of_equal_values_are_zero(function, layout):
    for size in (3, 17, 64):
        x = filled((8, size, size), torch.float32).to(memory_format=layout)
        ours, _, _ = results(function, x)
        assert torch.equal(ours, torch.zeros_like(ours)), (size, ours.abs().max())


# The variance is infinite. PyTorch gives 0 or NaN, which depends on the length.
@pytest.mark.parametrize("dtype", (torch.float32, torch.float64), ids=str)
@pytest.mark.parametrize("size", (5, 32))
def test_sums_that_are_infinite_where_values_are_not(size, dtype):
    x = torch.tensor([[1.0, 0.9, 0.1, -0.7, 0.6, 0.9, 0.95, 0.99] * 4], dtype=dtype)[:, :size] * torch.finfo(dtype).max
    ours, _, _ = results(lambda x: F.layer_norm(x, x.shape[-1:]), x)
    assert torch.equal(ours, torch.zeros_like(ours))


@pytest.mark.parametrize("dtype", (torch.float32, torch.float16, torch.bfloat16), ids=str)
def test_rows_that_differ_little(dtype):
    torch.manual_seed(0)
    x = (100 + 0.01 * torch.randn(5, 768, dtype=torch.float64)).to(dtype)
    ours, theirs, exact = results(lambda x: F.layer_norm(x, x.shape[-1:]), x)
    assert (ours - exact).abs().max() <= 1.5 * (theirs - exact).abs().max() + 1e-6
