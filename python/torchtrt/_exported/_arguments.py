"""The caller's Inputs, nested as a call's arguments: examples to export with, and afterwards the sizes that the export found to be one."""

import copy
import dataclasses

import torch
from torch.utils import _pytree as pytree

from torchtrt import _compile, _enums, _errors, _inputs
from torchtrt._exported import _ranges, _structure


def _nested(value):
    """Replaces whatever describes an Input by one. Other values are examples of themselves."""
    if value is None or isinstance(value, (bool, int, float, str, _inputs.Input)):
        return value
    if isinstance(value, dict) and not _compile._is_range(value):
        return {key: _nested(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)) and not _is_shape(value):
        return type(value)(_nested(each) for each in value) if not hasattr(value, "_fields") else type(value)(*map(_nested, value))
    return _inputs.Input.of(value)


def _is_shape(value) -> bool:
    return isinstance(value, list) and bool(value) and all(type(size) is int for size in value)


@dataclasses.dataclass
class Arguments:
    """The arguments of one call; the leaves are Inputs, numbers, texts and None."""

    positional: tuple
    named: dict

    @classmethod
    def of(cls, inputs, input_signature, named) -> "Arguments":
        if inputs is not None:
            positional = tuple(_inputs.Input.of(each) for each in _compile._listed(inputs))
        elif input_signature is not None:
            positional = _nested(input_signature)
            positional = tuple(positional) if isinstance(positional, (tuple, list)) else (positional,)
        elif named:
            positional = ()
        else:
            _compile._reject("neither inputs nor input_signature says what the module takes", "give inputs=[torchtrt.Input(shape), ...]", "C002")
        return cls(positional, _nested(dict(named or {})))

    def in_order(self, spec) -> "Arguments":
        """Returns the arguments with the named ones in the program's order."""
        names = list(_structure.inner(spec)[1].context)
        return Arguments(self.positional, {name: self.named[name] for name in names}) if set(names) == set(self.named) else self

    def leaves(self) -> list:
        return pytree.tree_leaves((self.positional, self.named))

    def examples(self, device) -> tuple[tuple, dict, torch.export.ShapesCollection]:
        """Arguments of a call, and which of their sizes may vary."""
        shapes = torch.export.ShapesCollection()

        def example(leaf):
            if not isinstance(leaf, _inputs.Input):
                return leaf
            tensor = _example(leaf).to(device)
            free = {i: torch.export.Dim.AUTO for i in _free(leaf)}
            if free:
                shapes[tensor] = free
            return tensor

        return (*pytree.tree_map(example, (self.positional, self.named)), shapes)

    def has_small_sizes(self) -> bool:
        return any(least < _ranges.GENERAL and least != most
                   for leaf in self.leaves() if isinstance(leaf, _inputs.Input) for least, _, most in _bounds(leaf))

    def smallest(self, device) -> tuple[tuple, dict]:
        """Arguments of a call with sizes of 0 and 1 where these are minima, and others as in the examples."""
        def example(leaf):
            if not isinstance(leaf, _inputs.Input):
                return leaf
            sizes = [least if least < _ranges.GENERAL else size for (least, _, _), size in zip(_bounds(leaf), _example_sizes(leaf))]
            return _filled(leaf, sizes).to(device)

        return pytree.tree_map(example, (self.positional, self.named))

    def with_leaves(self, leaves: list) -> tuple:
        """Returns these leaves as an input_signature, in the order of `forward`."""
        _, spec = pytree.tree_flatten((self.positional, self.named))
        positional, named = pytree.tree_unflatten(leaves, spec)
        return (*positional, *named.values())


def _bounds(leaf) -> list[tuple[int, int, int]]:
    """Minimum, optimum and maximum of every dimension; a size of -1 may be any."""
    if leaf.min_shape is not None:
        return list(zip(leaf.min_shape, leaf.opt_shape, leaf.max_shape))
    return [(0, _ranges.GENERAL, _ranges.ANY) if size < 0 else (size, size, size) for size in leaf.shape]


def _free(leaf) -> list[int]:
    return [i for i, (least, _, most) in enumerate(_bounds(leaf)) if least != most]


def _example_sizes(leaf) -> list[int]:
    return [least if least == most else best if best >= _ranges.GENERAL else min(most, _ranges.GENERAL) for least, best, most in _bounds(leaf)]


def _example(leaf) -> torch.Tensor:
    return _filled(leaf, _example_sizes(leaf)) if leaf.tensor is None else leaf.tensor


def _filled(leaf, sizes: list[int]) -> torch.Tensor:
    dtype = torch.float32 if leaf.dtype == _enums.dtype.unknown else leaf.dtype.to_torch()
    data = torch.empty(sizes).uniform_(*leaf.tensor_domain).to(dtype)
    return data.contiguous(memory_format=torch.channels_last) if leaf.format == _enums.TensorFormat.channels_last and data.dim() == 4 else data


def narrowed(leaf, name: str, sizes: list, ranges: dict, owners: dict):
    """The Input with the names of the sizes that the program shares between inputs. Raises where the program takes fewer sizes than it says."""
    shared = dict(leaf.shared_dims)
    for i, (size, (least, best, most)) in enumerate(zip(sizes, _bounds(leaf), strict=True)):
        low, high = _taken(size, ranges)
        if least < low or most > high:
            told = f"{low} alone" if low == high else f"{low} to {high}" if high < _ranges.ANY else f"{low} and more"
            raise _errors.CompileError(
                f"[C002] '{name}', dimension {i}: the exported program takes {told}, and the Input has {least} to {most}\n"
                "  give an Input within that, or change the module where it fixes the size")
        if least != most and not isinstance(size, int):
            first = owners.setdefault(str(size.node.expr), (f"{name}_{i}", (least, best, most)))
            if first[1] == (least, best, most):
                shared.setdefault(i, first[0])
    result = copy.copy(leaf)
    result.shared_dims = shared
    return result


def _taken(size, ranges: dict) -> tuple[int, int]:
    if isinstance(size, int):
        return size, size
    return _ranges.of(ranges.get(size.node.expr))


def described(value, ranges: dict):
    """The Input of a program's own argument, from the tensor that it was exported with."""
    if not isinstance(value, torch.Tensor):
        return value
    hints = [size if isinstance(size, int) else size.node.hint or _ranges.GENERAL for size in _ranges.sizes(value)]
    bounds = [_taken(size, ranges) for size in _ranges.sizes(value)]
    dtype = value.dtype
    if all(low == high for low, high in bounds):
        return _inputs.Input(hints, dtype=dtype)
    return _inputs.Input(min_shape=[low for low, _ in bounds], opt_shape=hints, max_shape=[high for _, high in bounds], dtype=dtype)
