"""Python's operators on tensors, and methods that are functions with the tensor in front."""

from torchtrt.functional import _base, _neural, _pointwise, _reduction, _shapes
from torchtrt.network import Tensor

_BINARY = {
    "add": _pointwise.add,
    "sub": _pointwise.sub,
    "mul": _pointwise.mul,
    "truediv": _pointwise.div,
    "floordiv": _pointwise.floordiv,
    "pow": _pointwise.pow,
    "matmul": _neural.matmul,
}
_COMPARISONS = {"lt": _pointwise.lt, "le": _pointwise.le, "gt": _pointwise.gt, "ge": _pointwise.ge}
_METHODS = {
    "cast": _base.cast,
    "mean": _reduction.mean,
    "sum": _reduction.sum,
    "max": _reduction.max,
    "min": _reduction.min,
    "permute": _shapes.permute,
    "split": _shapes.split,
    "squeeze": _shapes.squeeze,
    "transpose": _shapes.transpose,
    "unsqueeze": _shapes.unsqueeze,
    "view": _shapes.view,
    "flatten": _shapes.flatten,
    "select": _shapes.select,
    "__neg__": _pointwise.neg,
    "__getitem__": _shapes.index,
}


def _in_network(function):
    """Makes the tensor's own network current for the call, so that operators need no guard."""
    from torchtrt.network import net_guard

    def method(self, *arguments, **named):
        with net_guard(self.network):
            return function(self, *arguments, **named)

    method.__doc__ = function.__doc__
    return method


def install() -> None:
    for name, function in _BINARY.items():
        setattr(Tensor, f"__{name}__", _in_network(function))
        setattr(Tensor, f"__r{name}__", _in_network(lambda a, b, function=function: function(b, a)))
    for name, function in _COMPARISONS.items():
        setattr(Tensor, f"__{name}__", _in_network(function))
    for name, function in _METHODS.items():
        setattr(Tensor, name, _in_network(function))
