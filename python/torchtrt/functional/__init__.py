"""Functions that add layers to the current network (torchtrt.network.net_guard) and return tensors of it.

They take tensors of the network; where one is expected, numbers, torch tensors and numpy arrays become constants. Two
operands of different dtypes meet in the one that PyTorch promotes them to.
"""

from torchtrt.functional import _operators
from torchtrt.functional._attention import gpt_attention
from torchtrt.functional._base import arange, cast, constant, full, identity, plugin
from torchtrt.functional._neural import (
    adaptive_avg_pool2d,
    avg_pool2d,
    batch_norm,
    conv1d,
    conv2d,
    conv_transpose2d,
    embedding,
    group_norm,
    layer_norm,
    linear,
    log_softmax,
    matmul,
    max_pool2d,
    rms_norm,
    softmax,
)
from torchtrt.functional._pointwise import (
    abs,  # noqa: A004 - the names users write
    add,
    clip,
    cos,
    div,
    elementwise_binary,
    eq,
    erf,
    exp,
    floordiv,
    ge,
    gelu,
    gt,
    le,
    leaky_relu,
    log,
    lt,
    maximum,
    minimum,
    mul,
    ne,
    neg,
    op_and,
    op_not,
    op_or,
    op_xor,
    pow,  # noqa: A004
    relu,
    rsqrt,
    sigmoid,
    silu,
    sin,
    softplus,
    sqrt,
    sub,
    tanh,
    unary,
    where,
)
from torchtrt.functional._reduction import (
    all,  # noqa: A004
    any,  # noqa: A004
    argmax,
    max,  # noqa: A004
    mean,
    min,  # noqa: A004
    prod,
    sum,  # noqa: A004
    topk,
    var,
)
from torchtrt.functional._shapes import (
    chunk,
    concat,
    expand,
    expand_dims,
    flatten,
    gather,
    index_select,
    permute,
    select,
    slice,  # noqa: A004
    split,
    squeeze,
    transpose,
    unsqueeze,
    view,
)

_operators.install()

__all__ = [
    "abs", "adaptive_avg_pool2d", "add", "all", "any", "arange", "argmax", "avg_pool2d", "batch_norm", "cast", "chunk",
    "clip", "concat", "constant", "conv1d", "conv2d", "conv_transpose2d", "cos", "div", "elementwise_binary", "embedding",
    "eq", "erf", "exp", "expand", "expand_dims", "flatten", "floordiv", "full", "gather", "ge", "gelu", "gpt_attention",
    "group_norm", "gt", "identity", "index_select", "layer_norm", "le", "leaky_relu", "linear", "log", "log_softmax", "lt",
    "matmul", "max", "max_pool2d", "maximum", "mean", "min", "minimum", "mul", "ne", "neg", "op_and", "op_not", "op_or",
    "op_xor", "permute", "plugin", "pow", "prod", "relu", "rms_norm", "rsqrt", "select", "sigmoid", "silu", "sin", "slice",
    "softmax", "softplus", "split", "sqrt", "squeeze", "sub", "sum", "tanh", "topk", "transpose", "unary", "unsqueeze",
    "var", "view", "where",
]
