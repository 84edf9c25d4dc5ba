"""The other files share these: constants, casts, operands of one dtype, and single layers."""

import torch

from torchtrt import _enums
from torchtrt.network import LayerType, Tensor, default_net, reject


def layer(layer_type: LayerType, *inputs, **attributes) -> Tensor:
    """One layer with one output."""
    return default_net().add_layer(layer_type, inputs, **attributes)[0]


def constant(value, dtype=None) -> Tensor:
    """A tensor known when the network is built: of a number, a nested list, a numpy array or a torch tensor."""
    data = torch.as_tensor(value).detach().cpu()
    if dtype is not None:
        data = data.to(dtype_of(dtype).to_torch())
    name = _enums.dtype.of(data.dtype).name
    raw = data.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if data.numel() else b""
    return Tensor(ref=default_net().box.add_constant(name, list(data.shape), raw))


def as_tensor(value, like: Tensor | None = None) -> Tensor:
    """The tensor itself, or a constant; plain numbers take the dtype of `like`."""
    if isinstance(value, Tensor):
        return value
    if like is not None and isinstance(value, (int, float)):
        dtype = like.dtype
        if isinstance(value, float) and not dtype.to_torch().is_floating_point:
            dtype = _enums.dtype.float32
        return constant(value, dtype)
    return constant(value)


def promoted(a, b) -> tuple[Tensor, Tensor]:
    """Both as tensors of the dtype that PyTorch promotes them to."""
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        reject("neither operand is a tensor of the network", "give at least one", "C003")
    a = as_tensor(a, b if isinstance(b, Tensor) else None)
    b = as_tensor(b, a)
    common = _enums.dtype.of(torch.promote_types(a.dtype.to_torch(), b.dtype.to_torch()))
    return cast(a, common), cast(b, common)


def axis_of(tensor: Tensor, axis: int) -> int:
    """The axis counted from the front."""
    rank = tensor.ndim()
    if not -rank <= axis < rank:
        reject(f"axis {axis} of a tensor of rank {rank}", f"expected {-rank} to {rank - 1}", "C003")
    return axis % rank


def dtype_of(value) -> _enums.dtype:
    """Makes a dtype of one of torchtrt's or torch's, or of a name like "float32"."""
    return _enums.dtype[value] if isinstance(value, str) and value in _enums.dtype.__members__ else _enums.dtype.of(value)


def cast(input: Tensor, dtype) -> Tensor:  # noqa: A002 - the names users write
    dtype = dtype_of(dtype)
    return input if input.dtype == dtype else layer(LayerType.CAST, input, to=dtype.name)


def identity(input: Tensor) -> Tensor:  # noqa: A002
    return layer(LayerType.IDENTITY, input)


def full(shape, value, dtype="float32") -> Tensor:
    dtype = dtype_of(dtype)
    return layer(LayerType.FILL, op="constant", dims=list(shape), dtype=dtype.name, value=float(value), int_value=int(value))


def arange(size, dtype="int64") -> Tensor:
    """0, 1, ... up to size, which may be symbolic."""
    dtype = dtype_of(dtype)
    return layer(LayerType.FILL, op="arange", dims=[size], dtype=dtype.name, step=1.0, int_step=1)


def plugin(inputs, namespace: str, type: str, version="1", **fields):  # noqa: A002
    """A layer of the plugin of these names; a tuple where it has several outputs."""
    outputs = default_net().add_layer(
        LayerType.PLUGIN_V2, inputs, namespace=namespace, type=type, version=version, **fields)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)
