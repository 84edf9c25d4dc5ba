"""Reductions over axes: one, several, or all (dim=None)."""

from torchtrt.functional._base import axis_of, cast, layer
from torchtrt.functional._shapes import squeeze
from torchtrt.network import LayerType, Tensor, default_net, int64
from torchtrt.network import bool as bool_dtype


def _reduce(input: Tensor, op: str, dim, keepdim: bool, **attributes) -> Tensor:  # noqa: A002
    dims = range(input.ndim()) if dim is None else [dim] if isinstance(dim, int) else dim
    axes = sorted({axis_of(input, each) for each in dims})
    return layer(LayerType.REDUCE, input, op=op, axes=axes, keep_dims=bool(keepdim), **attributes)


def _reduction(op: str, prepare=lambda tensor: tensor):
    def function(input: Tensor, dim=None, keepdim=False) -> Tensor:  # noqa: A002 - the names users write
        return _reduce(prepare(input), op, dim, keepdim)

    function.__doc__ = f"`{op}` over one axis, several, or all."
    return function


def _wide(tensor: Tensor) -> Tensor:
    return tensor if tensor.dtype.to_torch().is_floating_point else cast(tensor, int64)


sum = _reduction("sum", _wide)  # noqa: A001
prod = _reduction("prod", _wide)
max = _reduction("max")  # noqa: A001
min = _reduction("min")  # noqa: A001
mean = _reduction("avg")
any = _reduction("any", lambda tensor: cast(tensor, bool_dtype))  # noqa: A001
all = _reduction("all", lambda tensor: cast(tensor, bool_dtype))  # noqa: A001


def var(input: Tensor, dim=None, keepdim=False, correction=1) -> Tensor:  # noqa: A002
    return _reduce(input, "var", dim, keepdim, correction=float(correction))


def topk(input: Tensor, k, dim=-1, largest=True) -> tuple[Tensor, Tensor]:  # noqa: A002
    """The k greatest (or least) along an axis, in order: values and int64 indices."""
    values, indices = default_net().add_layer(
        LayerType.TOPK, [input], k=[k], axis=axis_of(input, dim), largest=bool(largest), sorted=True)
    return values, indices


def argmax(input: Tensor, dim=-1, keepdim=False) -> Tensor:  # noqa: A002
    """The index of the greatest; the first of several."""
    indices = topk(input, 1, dim)[1]
    return indices if keepdim else squeeze(indices, dim)
