"""The parts of the lines of the operator table: inputs, operators, and the shapes that many share."""

import dataclasses
import functools
from collections.abc import Callable

import torch

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
DTYPES = (*FLOATS, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)  # of networks


@dataclasses.dataclass(frozen=True)
class Tensor:
    """Describes an input: shape, layout, and the range of its values."""

    shape: tuple[int, ...]
    layout: str = "contiguous"  # or "transposed", "channels_last", "expanded", "sliced"
    low: float = -3.0
    high: float = 3.0
    dtype: torch.dtype | None = None  # the table's otherwise

    def make(self, dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        dtype = self.dtype or dtype
        shape = list(self.shape)
        if self.layout == "sliced":
            shape[-1] *= 2
        elif self.layout == "transposed":
            shape = shape[::-1]
        if dtype == torch.bool:
            value = torch.rand(shape, generator=generator) < 0.5
        elif dtype.is_floating_point:
            value = (torch.rand(shape, generator=generator, dtype=torch.float64) * (self.high - self.low) + self.low).to(dtype)
        else:
            low = max(self.low, 0) if dtype == torch.uint8 else self.low
            value = torch.randint(int(low), max(int(self.high), int(low) + 1), shape, generator=generator).to(dtype)
        if self.layout == "sliced":
            return value[..., ::2]
        if self.layout == "transposed":
            return value.permute(*reversed(range(value.dim())))
        if self.layout == "channels_last":
            return value.contiguous(memory_format=torch.channels_last)
        if self.layout == "expanded":
            return value.narrow(0, 0, 1).expand(shape)
        return value


@dataclasses.dataclass(frozen=True)
class Operator:
    """A line of the table: a function, and inputs for it. It is tried in every dtype that eager PyTorch takes."""

    name: str
    function: Callable
    cases: tuple[tuple[Tensor, ...], ...]
    batch: tuple[int | None, ...] = ()  # which dimension of each input of the first case is the batch; `batch_dimensions` says it otherwise
    fixed: str = ""  # why there is none

    def batch_dimensions(self) -> tuple[int | None, ...]:
        """The leading one of inputs that have the first one's rank and leading dimension."""
        if self.batch or self.fixed:
            return self.batch
        first = self.cases[0][0].shape
        return tuple(0 if first and len(x.shape) == len(first) and x.shape[0] == first[0] else None for x in self.cases[0])

    @functools.cached_property
    def dtypes(self) -> tuple[torch.dtype, ...]:
        """Those in which eager takes some case with elements: without any it takes what it has no kernel for."""
        return tuple(dtype for dtype in DTYPES if any(self.eager(self.inputs(i, dtype)) is not None for i in range(len(self.cases)) if self.has_elements(i)))

    def has_elements(self, case: int) -> bool:
        return all(0 not in x.shape for x in self.cases[case])

    def inputs(self, case: int, dtype: torch.dtype) -> list[torch.Tensor]:
        generator = torch.Generator().manual_seed(7 + case)
        return [x.make(dtype, generator) for x in self.cases[case]]

    def eager(self, inputs: list[torch.Tensor]) -> torch.Tensor | None:
        """The reference, or None for what PyTorch itself refuses."""
        try:
            with torch.inference_mode():
                return self.function(*inputs)
        except (RuntimeError, NotImplementedError, IndexError, ValueError):
            return None


def t(*shape: int, **options) -> Tensor:
    return Tensor(shape, **options)


def unary_cases(low: float = -3.0, high: float = 3.0) -> tuple:
    r = {"low": low, "high": high}
    return tuple((tensor,) for tensor in [
        t(2, 3, 4, 5, **r), t(33, **r), t(**r), t(0, 3, **r), t(3, 1, 7, **r), t(5, 4, layout="transposed", **r),
        t(2, 6, 5, 3, layout="channels_last", **r), t(4, 9, layout="sliced", **r), t(4, 3, layout="expanded", **r)])


BINARY = ((t(2, 3, 4), t(2, 3, 4)), (t(2, 3, 4), t(4)), (t(2, 1, 4), t(3, 1)), (t(), t(3)), (t(0, 2), t(1, 2)),
          (t(4, 5, layout="transposed"), t(4, 5)), (t(2, 3, 4, 5, layout="channels_last"), t(3, 1, 1)),
          (t(2, 8, 3, 3, layout="channels_last"), t(2, 8, 3, 3)), (t(3, 17), t(3, 17, layout="expanded")))
POSITIVE = tuple(tuple(dataclasses.replace(x, low=1.0, high=5.0) for x in case) for case in BINARY)
IMAGE = ((t(2, 3, 9, 11),), (t(1, 5, 8, 8, layout="channels_last"),), (t(0, 3, 9, 9),), (t(2, 33, 7, 7),))
MATRIX = ((t(3, 5),), (t(2, 3, 4),), (t(2, 3, 4, 5),), (t(5, 4, layout="transposed"),), (t(0, 4),))
