"""Layers of neural networks. Weights are tensors of the network, torch tensors or numpy arrays."""

from torchtrt.functional._base import as_tensor, axis_of, layer, promoted
from torchtrt.functional._shapes import index_select
from torchtrt.graph_rewriting import record_signature
from torchtrt.network import LayerType, Tensor


def _optional(value):
    return None if value is None else as_tensor(value)


def _each(value, count: int) -> list[int]:
    return [value] * count if isinstance(value, int) else list(value)


def matmul(a, b, transa=False, transb=False) -> Tensor:
    """Matrix multiplication over the last two axes; the others broadcast. Transposing swaps the last two axes first."""
    a, b = promoted(a, b)
    return layer(LayerType.MATRIX_MULTIPLY, a, b, transpose_a=bool(transa), transpose_b=bool(transb))


def linear(input: Tensor, weight, bias=None) -> Tensor:  # noqa: A002 - the names users write
    """input times the transposed weight [out, in], plus bias, as torch.nn.functional.linear."""
    product = matmul(input, as_tensor(weight), transb=True)
    if bias is None:
        return product
    return layer(LayerType.ELEMENTWISE, *promoted(product, as_tensor(bias)), op="sum")


def softmax(input: Tensor, dim: int) -> Tensor:  # noqa: A002
    return layer(LayerType.SOFTMAX, input, axis=axis_of(input, dim))


def log_softmax(input: Tensor, dim: int) -> Tensor:  # noqa: A002
    return layer(LayerType.SOFTMAX, input, axis=axis_of(input, dim), log=True)


def embedding(input: Tensor, weight) -> Tensor:  # noqa: A002
    """Rows of the table `weight` [count, size] by index."""
    return index_select(as_tensor(weight), 0, input)


def _conv(kind: LayerType, spatial: int, input, weight, bias, stride, padding, dilation, groups, **more):  # noqa: A002
    padding = _each(padding, spatial)
    return layer(kind, input, as_tensor(weight), _optional(bias), stride=_each(stride, spatial), pre_padding=padding,
                 post_padding=padding, dilation=_each(dilation, spatial), groups=groups, **more)


def conv1d(input: Tensor, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) -> Tensor:  # noqa: A002
    return _conv(LayerType.CONVOLUTION, 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(input: Tensor, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) -> Tensor:  # noqa: A002
    """input [N, C, H, W], weight [K, C / groups, h, w], as torch.nn.functional.conv2d."""
    return _conv(LayerType.CONVOLUTION, 2, input, weight, bias, stride, padding, dilation, groups)


def conv_transpose2d(input: Tensor, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1,  # noqa: A002
                     dilation=1) -> Tensor:
    return _conv(LayerType.DECONVOLUTION, 2, input, weight, bias, stride, padding, dilation, groups,
                 output_padding=_each(output_padding, 2))


def _pool(input, op, kernel_size, stride, padding, ceil_mode, **more):  # noqa: A002
    window, padding = _each(kernel_size, 2), _each(padding, 2)
    return layer(LayerType.POOLING, input, op=op, window=window, stride=_each(stride, 2) if stride is not None else window,
                 pre_padding=padding, post_padding=padding, ceil_mode=bool(ceil_mode), **more)


def max_pool2d(input: Tensor, kernel_size, stride=None, padding=0, ceil_mode=False) -> Tensor:  # noqa: A002
    return _pool(input, "max", kernel_size, stride, padding, ceil_mode)


def avg_pool2d(input: Tensor, kernel_size, stride=None, padding=0, ceil_mode=False,  # noqa: A002
               count_include_pad=True) -> Tensor:
    return _pool(input, "average", kernel_size, stride, padding, ceil_mode, count_include_pad=bool(count_include_pad))


def adaptive_avg_pool2d(input: Tensor, output_size) -> Tensor:  # noqa: A002
    return layer(LayerType.ADAPTIVE_POOLING, input, op="average", output_size=_each(output_size, 2))


def _normalize(mode, input, weight, bias, eps, mean=None, variance=None, **more):  # noqa: A002
    operands = [_optional(each) for each in (weight, bias, mean, variance)]
    while operands and operands[-1] is None:
        operands.pop()
    return layer(LayerType.NORMALIZATION, input, *operands, mode=mode, eps=float(eps), **more)


@record_signature
def layer_norm(input: Tensor, normalized_shape, weight=None, bias=None, eps=1e-5) -> Tensor:  # noqa: A002
    """Over the last axes, which have normalized_shape."""
    rank = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    return _normalize("layer", input, weight, bias, eps, normalized_rank=rank)


@record_signature
def rms_norm(input: Tensor, normalized_shape, weight=None, eps=1e-6) -> Tensor:  # noqa: A002
    """Divided by the root of the mean square over the last axes, which have normalized_shape."""
    rank = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    return _normalize("rms", input, weight, None, eps, normalized_rank=rank)


def batch_norm(input: Tensor, running_mean, running_var, weight=None, bias=None, eps=1e-5) -> Tensor:  # noqa: A002
    """Normalizes with the given statistics, per channel (axis 1)."""
    return _normalize("batch", input, weight, bias, eps, running_mean, running_var)


def group_norm(input: Tensor, num_groups: int, weight=None, bias=None, eps=1e-5) -> Tensor:  # noqa: A002
    return _normalize("group", input, weight, bias, eps, groups=num_groups)

