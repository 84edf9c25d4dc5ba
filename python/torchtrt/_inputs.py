"""Inputs of a method: shape or range of shapes, dtype, layout."""

import enum
import operator

import torch

from torchtrt import _enums, _errors, _libraries

_DOMAIN = (0.0, 2.0)
_RANGE = ("min_shape", "opt_shape", "max_shape")


class Input:
    """One tensor that a method takes.

    The attribute `shape` is a list, or for a range the dictionary {"min_shape": ..., "opt_shape": ..., "max_shape": ...}.

    Args:
        shape: one shape, as in Input([1, 3, 224, 224]), with -1 for any size; a dictionary {"min": ..., "opt": ..., "max": ...}; or a tensor.
        min_shape: the least sizes of a range. A range has all three shapes.
        opt_shape: the sizes that the plan is tuned for.
        max_shape: the greatest sizes.
        dtype: of torchtrt.dtype or torch; left out, it follows from the first use.
        format: torch.contiguous_format or torch.channels_last: how calls usually give the tensor. Those need no copy then, and others stay
            right.
        tensor_domain: the range [low, high) for random data.
        torch_tensor: a tensor, which gives shape and dtype, and is kept as a sample to check the result with.
        name: the name of the argument, for messages.
        shared_dims: {dimension: name}. Dynamic dimensions of one name, also of other inputs, are one size. Shapes that are named tuples name
            their dimensions by their fields: with Shape = namedtuple("Shape", "batch length"), Input(min_shape=Shape(1, 1), ...) has
            shared_dims={0: "batch", 1: "length"}. Names that are given here replace them.
        profiles: several dictionaries of a range, of which any may hold the shape of a call. One plan serves the smallest range around all
            and is tuned for the first one's optimum.
        is_shape_tensor: refused, since engines follow the values of every input.
    """

    class _ShapeMode(enum.Enum):
        STATIC = 0
        DYNAMIC = 1

    def __init__(self, shape=None, *, min_shape=None, opt_shape=None, max_shape=None, dtype=None, format=None,
                 tensor_domain=_DOMAIN, torch_tensor=None, name="", shared_dims=None, profiles=None, is_shape_tensor=False):
        if is_shape_tensor:
            raise _errors.CompileError(
                "[C002] an Input is declared as a shape tensor, and engines have none\n"
                "  describe it as the tensor that calls give, such as Input([4], dtype=torch.int64), and give sample_inputs with its usual values")
        if isinstance(shape, torch.Tensor):
            shape, torch_tensor = None, shape
        if isinstance(shape, dict):
            min_shape, opt_shape, max_shape = _range_of(shape)
            shape = None
        ranges = (min_shape, opt_shape, max_shape)
        if profiles is not None and shape is None and torch_tensor is None and not any(each is not None for each in ranges):
            ranges = min_shape, opt_shape, max_shape = _range_around(profiles)
        elif profiles is not None:
            raise _errors.CompileError("[C002] an Input has profiles and another shape beside them\n  give the profiles alone")
        given = (shape is not None) + any(each is not None for each in ranges) + (torch_tensor is not None)
        if given != 1 or (any(each is not None for each in ranges) and not all(each is not None for each in ranges)):
            raise _errors.CompileError(
                "[C002] an Input needs one of: shape; min_shape, opt_shape and max_shape; torch_tensor\n"
                "  for example Input([1, 3, 224, 224])")
        names = _field_names([shape, *ranges, *(each for profile in profiles or () for each in profile.values())])
        self.tensor = torch_tensor
        if torch_tensor is not None:
            shape = list(torch_tensor.shape)
            dtype = torch_tensor.dtype if dtype is None else dtype
        self.is_shape_tensor = False
        self.min_shape, self.opt_shape, self.max_shape = (None if each is None else _sizes(each) for each in ranges)
        self.shape: list[int] | dict[str, list[int]] = _sizes(shape) if shape is not None else {name: getattr(self, name) for name in _RANGE}
        self.shape_mode = Input._ShapeMode.STATIC if shape is not None and -1 not in self.shape else Input._ShapeMode.DYNAMIC
        self.dtype = _enums.dtype.of(dtype)
        self.format = _enums.TensorFormat.of(_layout_of(torch_tensor) if format is None else format)
        self.tensor_domain = _DOMAIN if tensor_domain is None else _domain(tensor_domain)
        self.name = name
        self.shared_dims = {**names, **(shared_dims or {})}
        if self.min_shape is not None or self.tensor_domain != _DOMAIN:
            self.native(_libraries.extension())  # refuses what is no range or no domain; plain shapes need no compiler yet

    @classmethod
    def of(cls, value) -> "Input":
        """Makes an Input of an Input, a tensor, a list of sizes, or a dictionary of min, opt and max."""
        return value if isinstance(value, cls) else cls(value)

    @classmethod
    def from_tensor(cls, tensor) -> "Input":
        return cls(torch_tensor=tensor)

    @classmethod
    def from_tensors(cls, tensors) -> list["Input"]:
        return [cls.from_tensor(tensor) for tensor in tensors]

    def example_tensor(self, optimization_profile_field: str | None = None) -> torch.Tensor:
        """Random data of this input's dtype and domain; the field is "min_shape", "opt_shape" or "max_shape" of a range."""
        if self.min_shape is None and optimization_profile_field is not None:
            raise ValueError("an input with one shape has no range to choose from")
        shape = self.shape[optimization_profile_field or "opt_shape"] if isinstance(self.shape, dict) else self.shape
        dtype = torch.float32 if self.dtype == _enums.dtype.unknown else self.dtype.to_torch()
        low, high = self.tensor_domain
        return torch.empty([max(size, 1) if size < 0 else size for size in shape]).uniform_(low, high).to(dtype)

    def is_trt_dtype(self) -> bool:
        """True: engines compute in every dtype that an Input may have."""
        return True

    @property
    def torch_tensor(self) -> torch.Tensor:
        """The tensor that this was made from, or random data."""
        return self.example_tensor() if self.tensor is None else self.tensor

    def native(self, extension):
        """The C++ value."""
        if self.tensor is not None and self.dtype == _enums.dtype.of(self.tensor.dtype):
            return extension.Input(self.tensor)
        names = [self.shared_dims.get(i, "") for i in range(max(self.shared_dims, default=-1) + 1)]
        rest = (int(self.dtype), int(self.format), list(self.tensor_domain), names)
        if self.min_shape is None:
            return extension.Input(self.shape, *rest)
        return extension.Input(self.min_shape, self.opt_shape, self.max_shape, *rest)

    def __repr__(self):
        shape = self.shape if self.min_shape is None else f"{self.min_shape}..{self.opt_shape}..{self.max_shape}"
        return f"Input({shape}, dtype={self.dtype.name})"


def _sizes(shape) -> list[int]:
    try:
        return [operator.index(size) for size in shape]
    except TypeError as error:
        raise _errors.CompileError(f"[C002] a shape is a list of sizes, got {shape!r}\n"
                                   "  for example [1, 3, 224, 224]; numbers and texts among the arguments go into input_signature") from error


def _field_names(shapes) -> dict[int, str]:
    """Returns the field names, by dimension, of shapes that are named tuples."""
    fields = {tuple(each._fields) for each in shapes if isinstance(each, tuple) and hasattr(each, "_fields")}
    if len(fields) > 1:
        raise _errors.CompileError(f"[C002] the shapes of an Input name their dimensions differently: {sorted(fields)}\n"
                                   "  give named tuples of one type, or shared_dims")
    return dict(enumerate(next(iter(fields), ())))


def _domain(values) -> tuple[float, float]:
    if not isinstance(values, (tuple, list)) or len(values) != 2 or not all(isinstance(each, (int, float)) for each in values):
        raise _errors.CompileError(f"[C002] a tensor_domain is a pair of numbers, got {values!r}\n  for example (0, 1): random data within [0, 1)")
    return tuple(values)


def _range_of(shape: dict):
    if set(shape) == set(_RANGE):  # as Input.shape gives it
        return tuple(shape[name] for name in _RANGE)
    if set(shape) != {"min", "opt", "max"}:
        raise _errors.CompileError(f'[C002] a range of shapes has "min", "opt" and "max", got {sorted(shape)}\n'
                                   "  give all three; a dictionary of inputs goes into input_signature")
    return shape["min"], shape["opt"], shape["max"]


def _range_around(profiles) -> tuple[list[int], list[int], list[int]]:
    """The smallest range that holds all of them, with the optimum of the first."""
    ranges = [[_sizes(shape) for shape in _range_of(profile)] for profile in profiles]
    if len({len(shape) for each in ranges for shape in each}) != 1:
        raise _errors.CompileError("[C002] the profiles of an Input are ranges of shapes of one rank, at least one\n"
                                   '  for example [{"min": [1, 8], "opt": [4, 8], "max": [8, 8]}]')
    for least, optimum, most in ranges:
        if not all(low <= best <= high for low, best, high in zip(least, optimum, most)):
            raise _errors.CompileError(f"[C002] a profile goes from {least} over {optimum} to {most}\n  expected min <= opt <= max in every dimension")
    return ([min(sizes) for sizes in zip(*(each[0] for each in ranges))], ranges[0][1],
            [max(sizes) for sizes in zip(*(each[2] for each in ranges))])


def _layout_of(tensor):
    last = tensor is not None and tensor.dim() == 4 and tensor.is_contiguous(memory_format=torch.channels_last)
    return torch.channels_last if last and not tensor.is_contiguous() else torch.contiguous_format
