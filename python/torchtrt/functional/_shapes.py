"""Functions that move elements: reshapes, transpositions, cuts and joins. Sizes may be symbolic (text)."""

import builtins

import torch

from torchtrt import _enums
from torchtrt.functional._base import as_tensor, axis_of, cast, layer
from torchtrt.network import LayerType, Tensor, reject


def view(input: Tensor, shape) -> Tensor:  # noqa: A002 - the names users write
    """The same elements, row-major, in another shape; one size may be -1."""
    sizes = list(shape)
    if any(isinstance(size, int) and size == 0 for size in sizes) and 0 not in input.shape:
        reject(f"shape {sizes} has a size of 0", "give the sizes of the result, -1 for one that follows", "C003")
    return layer(LayerType.SHUFFLE, input, reshape_dims=sizes)


def permute(input: Tensor, dims) -> Tensor:  # noqa: A002
    return layer(LayerType.SHUFFLE, input, first_permutation=[axis_of(input, dim) for dim in dims])


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:  # noqa: A002
    order = list(range(input.ndim()))
    dim0, dim1 = axis_of(input, dim0), axis_of(input, dim1)
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return permute(input, order)


def flatten(input: Tensor, start_dim=0, end_dim=-1) -> Tensor:  # noqa: A002
    start, end = axis_of(input, start_dim), axis_of(input, end_dim)
    return view(input, [*input.shape[:start], -1, *input.shape[end + 1 :]])


def unsqueeze(input: Tensor, dim: int) -> Tensor:  # noqa: A002
    place = dim if dim >= 0 else dim + input.ndim() + 1
    return view(input, [*input.shape[:place], 1, *input.shape[place:]])


expand_dims = unsqueeze


def squeeze(input: Tensor, dim: int) -> Tensor:  # noqa: A002
    place = axis_of(input, dim)
    if input.shape[place] != 1:
        reject(f"axis {dim} of shape {list(input.shape)} is not 1", "name an axis of size 1", "C003")
    return view(input, [*input.shape[:place], *input.shape[place + 1 :]])


def expand(input: Tensor, shape) -> Tensor:  # noqa: A002
    """Broadcast to a shape."""
    return layer(LayerType.EXPAND, input, dims=list(shape))


def concat(inputs, dim=0) -> Tensor:
    return layer(LayerType.CONCATENATION, *inputs, axis=axis_of(inputs[0], dim))


def slice(input: Tensor, starts, sizes, strides=None) -> Tensor:  # noqa: A001, A002
    """Element i of axis a is input[starts[a] + i * strides[a]]."""
    return layer(LayerType.SLICE, input, start=list(starts), size=list(sizes), stride=list(strides or [1] * input.ndim()))


def cut(input: Tensor, dim: int, start, size) -> Tensor:  # noqa: A002
    """`size` elements from `start` on along one axis."""
    starts, sizes = [0] * input.ndim(), list(input.shape)
    starts[dim], sizes[dim] = start, size
    return slice(input, starts, sizes)


def split(tensor: Tensor, split_size_or_sections, dim=0) -> list[Tensor]:
    """Parts of one size (the last may be smaller), or of the sizes listed."""
    dim = axis_of(tensor, dim)
    sizes = split_size_or_sections
    if isinstance(sizes, int):
        total = tensor.shape[dim]
        if not isinstance(total, int):
            reject(f"axis {dim} has the symbolic size {total}", "list the sizes of the parts", "C003")
        sizes = [min(sizes, total - start) for start in range(0, total, sizes)]
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [cut(tensor, dim, start, size) for start, size in zip(starts, sizes, strict=True)]


def chunk(tensor: Tensor, chunks: int, dim=0) -> list[Tensor]:
    total = tensor.shape[axis_of(tensor, dim)]
    return split(tensor, -(-total // chunks), dim)


def select(input: Tensor, dim: int, index: int) -> Tensor:  # noqa: A002
    """One index of an axis, which goes."""
    dim = axis_of(input, dim)
    size = input.shape[dim]
    start = index if index >= 0 else f"{size}{index}" if isinstance(size, str) else size + index
    rest = [*input.shape[:dim], *input.shape[dim + 1 :]]
    return view(cut(input, dim, start, 1), rest)


def gather(input: Tensor, dim: int, indices) -> Tensor:  # noqa: A002
    """Gathers as torch.gather does: indices of input's rank pick along one axis."""
    return layer(LayerType.GATHER, input, as_tensor(indices), axis=axis_of(input, dim), mode="element")


def index_select(input: Tensor, dim: int, index) -> Tensor:  # noqa: A002
    """The axis becomes the axes of the indices, each picking a whole slice."""
    return layer(LayerType.GATHER, input, as_tensor(index), axis=axis_of(input, dim), mode="default")


def _range_of(key: builtins.slice, size):
    """Start, size and stride of a Python slice of an axis."""
    step = 1 if key.step is None else key.step
    if isinstance(size, int):
        start, stop, step = key.indices(size)
        return start, len(range(start, stop, step)), step
    if step != 1 or (key.start or 0) < 0:
        reject(f"a slice of the symbolic size {size} with a step or a negative start", "use slice()", "C003")
    start = key.start or 0
    if key.stop is None:
        return start, f"{size}-{start}" if start else size, 1
    return start, (f"{size}-{start - key.stop}" if key.stop < 0 else key.stop - start), 1


def index(input: Tensor, keys) -> Tensor:  # noqa: A002
    """input[keys]: numbers, slices, None and one Ellipsis; or one tensor or list of indices into the first axis."""
    if isinstance(keys, (Tensor, list, torch.Tensor)):
        return index_select(input, 0, cast(as_tensor(keys), _enums.dtype.int64))
    keys = keys if isinstance(keys, tuple) else (keys,)
    used = sum(key is not None and key is not Ellipsis for key in keys)
    if used > input.ndim() or sum(key is Ellipsis for key in keys) > 1:
        reject(f"index {keys} of a tensor of rank {input.ndim()}", "give at most one key per axis and one Ellipsis", "C003")
    whole = (builtins.slice(None),) * (input.ndim() - used)
    place = next((i for i, key in enumerate(keys) if key is Ellipsis), len(keys))
    keys = (*keys[:place], *whole, *keys[place + 1 :])
    starts: list[int | str] = []
    sizes: list[int | str] = []
    strides: list[int] = []
    shape: list[int | str] = []
    for key in keys:
        if key is None:
            shape.append(1)
            continue
        size = input.shape[len(starts)]
        if isinstance(key, int):
            key_size = f"{size}{key}" if key < 0 and isinstance(size, str) else key + size if key < 0 else key
            starts, sizes, strides = [*starts, key_size], [*sizes, 1], [*strides, 1]
            continue
        start, count, step = _range_of(key, size)
        starts, sizes, strides, shape = [*starts, start], [*sizes, count], [*strides, step], [*shape, count]
    result = input
    if any(starts) or sizes != list(input.shape) or any(step != 1 for step in strides):
        result = slice(input, starts, sizes, strides)
    return result if shape == list(result.shape) else view(result, shape)
