"""Functions of each element."""

from torchtrt.functional._base import as_tensor, cast, layer, promoted
from torchtrt.network import ElementWiseOperation, LayerType, Tensor
from torchtrt.network import bool as bool_dtype


def elementwise_binary(a, b, op: ElementWiseOperation) -> Tensor:
    """Any operation of ElementWiseOperation; the operands broadcast as NumPy's."""
    return layer(LayerType.ELEMENTWISE, *promoted(a, b), op=op)


def _binary(op: ElementWiseOperation):
    def function(a, b) -> Tensor:
        return elementwise_binary(a, b, op)

    function.__doc__ = f"`{op.value}` of two tensors, broadcast against each other."
    return function


add = _binary(ElementWiseOperation.SUM)
sub = _binary(ElementWiseOperation.SUB)
mul = _binary(ElementWiseOperation.PROD)
floordiv = _binary(ElementWiseOperation.FLOOR_DIV)
pow = _binary(ElementWiseOperation.POW)  # noqa: A001 - the names users write
maximum = _binary(ElementWiseOperation.MAX)
minimum = _binary(ElementWiseOperation.MIN)
eq = _binary(ElementWiseOperation.EQUAL)
ne = _binary(ElementWiseOperation.NOT_EQUAL)
lt = _binary(ElementWiseOperation.LESS)
le = _binary(ElementWiseOperation.LESS_EQUAL)
gt = _binary(ElementWiseOperation.GREATER)
ge = _binary(ElementWiseOperation.GREATER_EQUAL)
op_and = _binary(ElementWiseOperation.AND)
op_or = _binary(ElementWiseOperation.OR)
op_xor = _binary(ElementWiseOperation.XOR)


def div(a, b) -> Tensor:
    """True division; integers become float32 first."""
    a, b = promoted(a, b)
    if not a.dtype.to_torch().is_floating_point:
        a, b = cast(a, "float32"), cast(b, "float32")
    return elementwise_binary(a, b, ElementWiseOperation.DIV)


def unary(input: Tensor, op: str) -> Tensor:  # noqa: A002
    """Any `op` of a UNARY layer."""
    return layer(LayerType.UNARY, input, op=op)


def _unary(op: str):
    def function(input: Tensor) -> Tensor:  # noqa: A002
        return unary(input, op)

    function.__doc__ = f"`{op}` of each element."
    return function


abs = _unary("abs")  # noqa: A001
neg = _unary("neg")
exp = _unary("exp")
log = _unary("log")
sqrt = _unary("sqrt")
rsqrt = _unary("rsqrt")
sin = _unary("sin")
cos = _unary("cos")
erf = _unary("erf")
op_not = _unary("not")


def activation(input: Tensor, op: str, **parameters) -> Tensor:  # noqa: A002
    return layer(LayerType.ACTIVATION, input, op=op, **parameters)


def _activation(op: str):
    def function(input: Tensor) -> Tensor:  # noqa: A002
        return activation(input, op)

    function.__doc__ = f"`{op}` of each element."
    return function


relu = _activation("relu")
sigmoid = _activation("sigmoid")
tanh = _activation("tanh")
silu = _activation("silu")


def gelu(input: Tensor, approximate="none") -> Tensor:  # noqa: A002
    """x times the normal distribution's cdf of x; approximate="tanh" as PyTorch's."""
    return activation(input, "gelu_tanh" if approximate == "tanh" else "gelu_erf")


def leaky_relu(input: Tensor, negative_slope=0.01) -> Tensor:  # noqa: A002
    return activation(input, "leaky_relu", alpha=float(negative_slope))


def softplus(input: Tensor, beta=1.0, threshold=20.0) -> Tensor:  # noqa: A002
    return activation(input, "softplus", alpha=float(beta), beta=float(threshold))


def clip(input: Tensor, low: float, high: float) -> Tensor:  # noqa: A002
    return activation(input, "clip", alpha=float(low), beta=float(high))


def where(condition, a, b) -> Tensor:
    """a where condition holds, b elsewhere."""
    a, b = promoted(a, b)
    return layer(LayerType.SELECT, cast(as_tensor(condition), bool_dtype), a, b)
