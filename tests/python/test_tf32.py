"""Engines of GPUs use TF32 where the switches of PyTorch allow it. No GPU is needed: plans tell."""

import re

import pytest
import torch
from torch import nn

import torchtrt


class Net(nn.Module):
    """A convolution, a transposed one and a matrix product."""

    def __init__(self):
        super().__init__()
        self.conv, self.up, self.linear = nn.Conv2d(3, 4, 3), nn.ConvTranspose2d(4, 2, 3), nn.Linear(8, 5)

    def forward(self, x):
        return self.linear(self.up(self.conv(x)))


@pytest.fixture(autouse=True)
def switches():
    """PyTorch's, as they are before each test: TF32 in convolutions alone."""
    before = torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32
    yield
    torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32 = before


def in_tf32(dtype=torch.float32, **options) -> list[str]:
    """Families of the layers that may use TF32, in order."""
    compiled = torchtrt.compile(Net().eval().to(dtype), inputs=[torch.randn(1, 3, 8, 8, dtype=dtype)], progress=False, **{"target": "sm_90", **options})
    plans = "".join(engine.inspect() for engine in torchtrt.runtime.engines(compiled).values())
    return re.findall(r"(\w+) \".*tf32=true", plans)


CONVOLUTIONS = ["convolution", "deconvolution"]


def test_convolutions_may_as_pytorch_has_it():
    assert in_tf32() == CONVOLUTIONS


def test_products_may_where_pytorch_is_told_so():
    torch.backends.cuda.matmul.allow_tf32 = True
    assert in_tf32() == [*CONVOLUTIONS, "matrix_multiply"]


def test_the_newer_switches_are_those_of_pytorch_too():
    if not hasattr(torch.backends.cudnn, "conv"):
        pytest.skip("this release has one switch for a library")
    torch.backends.cudnn.conv.fp32_precision = "ieee"
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    try:
        assert in_tf32() == ["matrix_multiply"]
    finally:
        torch.backends.cudnn.conv.fp32_precision = "tf32"
        torch.backends.cuda.matmul.fp32_precision = "none"


def test_none_may_where_pytorch_is_told_so():
    torch.backends.cudnn.allow_tf32 = False
    assert in_tf32() == []


def test_disable_tf32_holds_against_pytorchs_switches():
    torch.backends.cuda.matmul.allow_tf32 = True
    assert in_tf32(disable_tf32=True) == []


@pytest.mark.parametrize("options", [{"target": ""}, {"dtype": torch.float64}, {"dtype": torch.float16, "enabled_precisions": {torch.float16}}],
                         ids=["cpu", "float64", "float16"])
def test_others_know_no_tf32(options):
    assert in_tf32(**options) == []
