"""The sizes that an exported program was made for, checked at every call of its compiled form.

A program computes wrong numbers, without a word, for sizes that its trace took for constants. The compiler drops checks inside of a
module, since it cannot run them in engines, so these are put in front of what it made.
"""

from typing import Any

import torch

from torchtrt._exported import _module, _ranges
from torchtrt._exported._literals import written

_METHOD = "check_sizes"
_WAY_OUT = "the module was exported for sizes like these alone: export it with a range that has others"


def lines(path: str, value, ranges: dict, symbols: dict[str, str]) -> list[str]:
    """Statements that raise for a tensor of other sizes, or another constant; symbols has the expression of each size that was met before."""
    if not isinstance(value, torch.Tensor):
        return _constant(path, value)
    conditions, expected = [f"{path}.dim() == {value.dim()}"], []
    for i, size in enumerate(_ranges.sizes(value)):
        here = f"{path}.size({i})"
        text = str(size if isinstance(size, int) else size.node.expr)
        if isinstance(size, int):
            conditions.append(f"{here} == {size}")
        elif text in symbols:
            conditions.append(f"{here} == {symbols[text]}")
        elif size.node.expr.is_Symbol:
            symbols[text] = here
            low, high = _ranges.of(ranges.get(size.node.expr))
            conditions += [f"{here} >= {low}"] * (low > 0) + [f"{here} <= {high}"] * (high < _ranges.ANY)
            text += f" from {low}" * (low > 0) + f" to {high}" * (high < _ranges.ANY)
        expected.append(text)
    message = f"[E005] input {path!r}: expected [{', '.join(expected)}], got {{}}\n  {_WAY_OUT}"
    return [f"    if not ({' and '.join(conditions)}):", f"        raise RuntimeError({message!r}.format({path}.size()))"]


def _constant(path: str, value) -> list[str]:
    """A number, a text or None is a part of the program."""
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return []
    condition = f"{path} is None" if value is None else f"{path} == {written(value)}"
    message = f"[E005] input {path!r}: the module was exported for {value!r} alone\n  export it with the value that it is called with"
    return [f"    if not ({condition}):", f"        raise RuntimeError({message!r})"]


def asked(conditions: list[str]) -> list[str]:
    """Statements for what the module asked of sizes while it was exported."""
    found = []
    for condition in conditions:
        message = f"[E005] the sizes of the inputs do not fulfil {condition}\n  {_WAY_OUT}"
        found += [f"    if not ({condition}):", f"        raise RuntimeError({message!r})"]
    return found


def put_before(compiled: torch.jit.ScriptModule, declaration: str, statements: list[str]) -> torch.jit.ScriptModule:
    """The compiled module with these as a method that `forward` calls first."""
    if not statements:
        return compiled
    # A method that has run keeps the graph it ran with; those of a clone have not run.
    bindings: Any = torch._C  # declares only some of its functions
    checked = torch.jit._recursive.wrap_cpp_module(bindings._hack_do_not_use_clone_module_with_class(compiled._c, [], []))
    source = "\n".join([declaration.replace("forward", _METHOD), *statements, "    return", ""])
    checked._c._define(checked._concrete_type, source, _module.SCOPE.get)
    graph = checked._c._get_method("forward").graph
    call = graph.create("prim::CallMethod", list(graph.inputs()), 1)
    call.s_("name", _METHOD)
    next(call.outputs()).setType(torch._C.NoneType.get())
    call.insertBefore(next(iter(graph.nodes())))
    torch._C._jit_pass_inline(graph)
    return torch.jit._recursive.wrap_cpp_module(checked._c)
