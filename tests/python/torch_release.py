"""The tests learn the release of PyTorch here that they run with; src/libtorch/versions.h is that of the sources."""

import re
from pathlib import Path

import torch
from torch.nn import functional

# The oldest C++ that libtorch's headers take: a program that includes them is compiled as that.
_DEMAND = (Path(torch.__file__).parent / "include/ATen/ATen.h").read_text(encoding="utf-8")
OLDEST_CPP = "c++20" if "C++20 or later compatible compiler is required" in _DEMAND else "c++17"

_REQUIREMENTS = (Path(__file__).parents[2] / "requirements.txt").read_text(encoding="utf-8")
PINNED = re.search(r"^torch==(.+)$", _REQUIREMENTS, re.MULTILINE)[1]
IS_PINNED = torch.__version__.partition("+")[0] == PINNED


def is_for_gpus_alone(operator: str) -> bool:
    """True if an operator has kernels for GPUs alone, such as _grouped_mm in 2.8. False, too, for an operator that TorchScript computes
    without a kernel."""
    return torch._C._dispatch_has_kernel(operator) and not torch._C._dispatch_has_computed_kernel_for_dispatch_key(operator, "CPU")


def padding_may_leave_nothing() -> bool:
    """True in newer releases; 2.8 refuses negative pads that take a whole dimension while another grows."""
    try:
        return functional.pad(torch.ones(1, 1), [1, 0, 0, -1]).numel() == 0
    except RuntimeError:
        return False


def fused_attention_takes_three_dimensions() -> bool:
    """True in newer releases. That kernel gives zeros for a row of scores that are all NaN, if it has fewer keys than a vector has elements."""
    one = torch.ones(1, 1, 1)
    return not functional.scaled_dot_product_attention(one * torch.nan, one, one).isnan().any()


def layer_norm_takes_infinite_variances() -> bool:
    """Checks 16 numbers of bfloat16. Newer releases give zeros for such a row, and 2.8 gives NaN."""
    row = torch.zeros(16, dtype=torch.bfloat16)
    row[0] = 2 * torch.finfo(row.dtype).max ** 0.5
    return not functional.layer_norm(row, [16]).isnan().any()


def vector_code_multiplies_as_scalar_code() -> bool:
    """Checks qint8. True in newer releases alone; a tensor whose elements are apart is left to scalar code."""
    multiply = torch.ops.quantized.mul
    steps = torch.arange(-128, 128, dtype=torch.int8)
    packed = torch._make_per_tensor_quantized_tensor(steps, 0.05, 9)
    apart = torch._make_per_tensor_quantized_tensor(torch.stack([steps, steps], 1), 0.05, 9)[:, 0]
    return torch.equal(multiply(packed, packed, 0.2, 3).int_repr(), multiply(apart, apart, 0.2, 3).int_repr())
