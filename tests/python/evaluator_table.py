"""The reference system computes these while compiling: numbers, lists, shapes, strings, tensors from nothing. The functions take a matrix
[batch,4]. Their graphs have, together, all operators that reference_evaluators.txt names and that still exist.
"""

import math
import pathlib
import re
import warnings
from typing import List, Optional, Tuple

import torch
from torch import Tensor

from operator_case import DTYPES, t

REFERENCE = (pathlib.Path(__file__).parent / "reference_evaluators.txt").read_text().split()
# PyTorch 2.11 has no operator of this name any more: a graph with it cannot be run, nor even looked at.
GONE = {"prim::shape"}


def comparisons(x: Tensor):
    n, s = x.size(1) - 1, "same"
    r = n / 6
    y = x
    if n == 3 and r != 0.25 and s == "same" and n != 2 and r == 0.5:
        y = y + 1
    if n < 4 and n > 2 and n <= 3 and n >= 3 and r < 0.75 and r > 0.25 and r <= 0.5 and r >= 0.5:
        y = y * 2
    if n < 3.5 and 2.5 < n and n == 3.0 and 3.0 == n and (n > r) != (r > n):
        y = y - 3
    return y


def arithmetic(x: Tensor):
    n = x.size(1) + 3
    r = n / 4
    whole = n // 2 + n * 3 - 4 + (-n) % 5 + int(n**2) + (n & 3) + (n | 8) + (n ^ 5)
    real = r / 2 + r * 3 - 1.5 + n / 2 + r // 2 + math.sqrt(r) + math.sqrt(n) + math.floor(r) + math.floor(n) + n**0.5 + r**2 + r**0.5
    return x * whole + real + int(r) + int(n > 2) + float(n) + float(n > 2) + float(x.dim())


def booleans(x: Tensor):
    n = x.size(1)
    r = n - 4.0
    yes = bool(n)
    if yes and not bool(r):
        x = x + 1
    if yes & (n > 2) & (x.dim() == 2):
        x = x * 2
    return x


def extremes(x: Tensor):
    n = x.size(1) + 3
    r = n / 4
    return x * min(n, x.size(1)) + max(n, 9) + min(r, 1.5) + max(r, 0.5) + min([3, 1, 2]) + max([r, 4.0]) + max(n, r) + min(r, n)


def factories(x: Tensor):
    total = torch.zeros([2, 4]).sum() + torch.ones([4]).sum() + x.new_zeros([4]).sum() + x.new_ones([4]).sum()
    total = total + torch.zeros_like(x).sum() + torch.ones_like(x).sum() + torch.full([4], 3).sum() + torch.full_like(x, 2.5).sum()
    total = total + torch.tensor([1, 2, 3]).sum() + torch.tensor(2.5)
    return x + total + torch.arange(4) + torch.arange(1, 5) + torch.arange(0, 8, 2) + torch.zeros([4]).fill_(2)


def lists(x: Tensor):
    parts: List[Tensor] = []
    for i in range(3):
        parts.append(x + i)
    parts.extend([x * 2, x * 3])
    parts += [x]
    some = parts[1:4]
    n = list(x.shape) + [3]
    a, b = some[0], some[-1]
    return torch.cat(parts, 1) + len(parts) + n[2], a - b + len(n)


def loops(x: Tensor):
    total = x
    for i in range(1, 2 * x.size(1), 3):
        total = total * 2 + i
    for d in x.shape[1:]:
        total = total + d
    return total


def shapes(x: Tensor):
    y = x.reshape([x.size(0), -1, 2])
    return y * x.numel() + x.dim(), x.view(x.size()[0] * x.size(1)), len(x)


def pair(y: Tensor) -> Tuple[Tensor, int]:
    return y + 1, 3


def tuples(x: Tensor):
    both = pair(x)
    y, n = pair(both[0])
    a, b = torch.chunk(y, 2, 1)
    return a * both[1] + b * n


def scaled(x: Tensor, bias: Optional[Tensor], scale: Optional[float]):
    y = x if bias is None else x + bias
    if scale is not None:
        y = y * scale
    return y


def choices(x: Tensor):
    y = scaled(x, None, 2.0)
    if y.dtype == torch.float32 and y.is_floating_point():
        y = y + 1
    if y.dim() != 2:
        raise ValueError("expected rank 2, got {}".format(y.dim()))
    return y


def early(x: Tensor):
    n = x.size(1) - 3
    if x.dim() == 3:
        return x
    for _ in range(3):
        if n > 1:
            return x * n
        x = x + 1
    return x - 1


def warned(x: Tensor):
    if x.dim() == 2:
        warnings.warn("rank {}".format(x.dim()))
    return x + 1


def copies(x: Tensor):
    y = torch.zeros_like(x)
    y.copy_(x[:1])
    z = x.clone()
    z.fill_(3.0)
    return y + z


def traced_sizes(x: Tensor):
    return x.reshape(x.shape[0] * 2, x.shape[1] // 2) * x.shape[0]


GRAPHS = {
    "towards_zero": """graph(%x : Tensor):
      %a : int = prim::Constant[value=-7]()
      %b : int = prim::Constant[value=2]()
      %n : int = aten::__round_to_zero_floordiv(%a, %b)
      %t : Tensor = prim::NumToTensor(%n)
      %y : Tensor = aten::mul(%x, %t)
      return (%y)""",
}

SCRIPTED = [comparisons, arithmetic, booleans, extremes, factories, lists, loops, shapes, tuples, choices, early, warned, copies]


def compiled_graphs() -> dict:
    functions = {function.__name__: torch.jit.script(function) for function in SCRIPTED}
    functions["traced_sizes"] = torch.jit.trace(traced_sizes, torch.ones(3, 4), check_trace=False)
    for name, text in GRAPHS.items():
        functions[name] = torch._C._create_function_from_graph(name, torch._C.parse_ir(text))
    return functions


def kinds_of(function) -> set[str]:
    graph = function.graph.copy()
    torch._C._jit_pass_inline(graph)
    return set(re.findall(r"((?:aten|prim)::\w+)", str(graph)))


FUNCTIONS = compiled_graphs()


def matrix(batch: int, dtype: torch.dtype) -> Tensor:
    return t(batch, 4).make(dtype, torch.Generator().manual_seed(batch))


def dtypes_of(function) -> list[torch.dtype]:
    """Those that eager takes."""

    def is_taken(dtype: torch.dtype) -> bool:
        try:
            function(matrix(3, dtype))
        except RuntimeError:
            return False
        return True

    return [dtype for dtype in DTYPES if is_taken(dtype)]
