"""Arithmetic of sizes in exported graphs, whose operators are Python's, as expressions of TorchScript."""

import math
import operator

import torch

_BINARY = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.floordiv: "//", operator.mod: "%", operator.truediv: "/", operator.pow: "**",
    operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=",
    operator.and_: "and", operator.or_: "or",
}
_CALLS = {
    math.ceil: "math.ceil({})", math.floor: "math.floor({})", math.trunc: "int({})", math.sqrt: "math.sqrt({})", operator.neg: "(-{})",
    operator.not_: "(not {})", round: "round({})", int: "int({})", float: "float({})", bool: "bool({})", abs: "abs({})",
    torch.sym_not: "(not {})", torch.sym_float: "float({})", torch.sym_int: "int({})", torch.sym_max: "max({}, {})", torch.sym_min: "min({}, {})",
    torch.sym_ite: "({1} if {0} else {2})",
}


def expression(target, arguments: list[str]) -> str | None:
    """Returns the text of a call of Python's own; None if it is no arithmetic of sizes."""
    if target in _BINARY and len(arguments) == 2:
        return f"({arguments[0]} {_BINARY[target]} {arguments[1]})"
    if target in _CALLS:
        return _CALLS[target].format(*arguments)
    if target is torch.sym_sum:
        return f"sum({arguments[0]})"
    return None
