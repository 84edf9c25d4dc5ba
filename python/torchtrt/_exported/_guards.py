"""Turns the conditions on sizes that torch.export found, such as "(L['x'].size()[0] % 8) != 0", into conditions of TorchScript."""

import ast
import re

import torch
from torch.fx.experimental.symbolic_shapes import ShapeGuardPythonPrinter

from torchtrt._exported._literals import Unwritable

_OPERATORS = {"FloorDiv": "//", "CleanDiv": "//", "Mod": "%", "PythonMod": "%", "IntTrueDiv": "/", "PowByNatural": "**", "Eq": "==", "Ne": "!=", "Lt": "<",
              "Le": "<=", "Gt": ">", "Ge": ">="}
_FUNCTIONS = {"Max": "max", "Min": "min", "Abs": "abs", "ToFloat": "float", "TruncToInt": "int", "CeilToInt": "math.ceil", "FloorToInt": "math.floor",
              "max": "max", "min": "min"}

_EQUAL_SIZES = re.compile(r"[\w\[\]'\"]+\.size\(\)\[\d+\] == [\w\[\]'\"]+\.size\(\)\[\d+\]")


class _Plain(ast.NodeTransformer):
    """L['x'] becomes x, L['rest'][0] of *rest becomes rest_0; functions of torch's sizes become operators."""

    def __init__(self, names: set[str]):
        self._names = names

    def visit_Subscript(self, node):  # noqa: N802 - the name that ast calls
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) or not isinstance(node.slice, ast.Constant):
            return node
        key = str(node.slice.value)
        if node.value.id == "L":
            return ast.Name(key, ast.Load())
        single = f"{node.value.id}_{key}"
        return ast.Name(single, ast.Load()) if node.value.id not in self._names and single in self._names else node

    def visit_Call(self, node):  # noqa: N802
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute):  # of a tensor: size() and stride()
            return node
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        arguments = [ast.unparse(each) for each in node.args]
        if name in _OPERATORS and len(arguments) == 2:
            return ast.parse(f"(({arguments[0]}) {_OPERATORS[name]} ({arguments[1]}))", mode="eval").body
        if name in _FUNCTIONS:
            return ast.parse(f"{_FUNCTIONS[name]}({', '.join(arguments)})", mode="eval").body
        raise Unwritable(f"the function {name} in a condition on sizes")


def _environment(program):
    """Returns what torch knows of the sizes of a program that it exported; None where all of them are known."""
    values = [node.meta.get("val") for node in program.graph.find_nodes(op="placeholder")]
    sizes = [size for value in values for size in (value.shape if isinstance(value, torch.Tensor) else [value])]
    return next((size.node.shape_env for size in sizes if isinstance(size, torch.SymInt)), None)


def _written(program) -> list[str]:
    """Returns the conditions as torch writes them. Programs of torch 2.8 hold none, and run with sizes that take another path; those that it
    exported in this process know them still."""
    if hasattr(program, "_guards_code"):
        return program._guards_code or []
    environment = _environment(program)
    if environment is None:
        return []
    sources = environment.var_to_sources
    printer = ShapeGuardPythonPrinter(sources, lambda source: source.name(), sources)
    return [printer.doprint(guard.expr) for guard in environment.guards if guard.expr.free_symbols <= sources.keys()]


def conditions(program, names: set[str]) -> list[str]:
    """Returns the conditions of a program that torch.export returned or loaded. names: those of the arguments. Sizes that are one are one
    symbol, which is checked anyway."""
    found = []
    for text in _written(program):
        if ".size()" in text or ".stride()" in text:
            condition = ast.unparse(_Plain(names).visit(ast.parse(text.strip(), mode="eval").body))
            found += [condition] if not _EQUAL_SIZES.fullmatch(condition) else []
    return found
