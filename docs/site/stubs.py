"""Signatures of the Python package, from its stubs: autodoc shows them where a function takes **options."""

import ast
import copy
import functools

import contents

STUBS = {"torchtrt": "python/torchtrt/__init__.pyi", "torchtrt.ts": "python/torchtrt/ts/__init__.pyi"}


@functools.cache
def tree(module: str) -> ast.Module:
    return ast.parse(contents.read(STUBS[module]))


@functools.cache
def aliases() -> dict[str, ast.expr]:
    """Private names for types, which stand for nothing outside of the stubs."""
    found = {}
    for module in STUBS:
        for node in tree(module).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(target, ast.Name) and target.id.startswith("_"):
                found[target.id] = node.value
    return found


class _Expand(ast.NodeTransformer):
    def visit_Name(self, node):
        return self.visit(copy.deepcopy(aliases()[node.id])) if node.id in aliases() else node

    def visit_Constant(self, node):
        # Types may be texts, because they name a class before it is there.
        return self.visit(ast.parse(node.value, mode="eval").body) if isinstance(node.value, str) and node.value else node


def annotation(node: ast.expr | None) -> str:
    return ast.unparse(_Expand().visit(copy.deepcopy(node))) if node is not None else ""


def find(module: str, path: list[str]):
    body = tree(module).body
    node = None
    for name in path:
        node = next((each for each in body if getattr(each, "name", None) == name), None)
        if node is None:
            return None
        body = getattr(node, "body", [])
    return node


def signature(function: ast.FunctionDef) -> tuple[str, str]:
    """The arguments, in parentheses, and the result."""
    arguments = copy.deepcopy(function.args)
    for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if each is not None and each.annotation is not None:
            each.annotation = ast.parse(annotation(each.annotation), mode="eval").body
    names = [each for each in arguments.args if each.arg not in ("self", "cls")]
    trimmed = ast.arguments(arguments.posonlyargs, names, arguments.vararg, arguments.kwonlyargs, arguments.kw_defaults, arguments.kwarg,
                            arguments.defaults)
    return f"({ast.unparse(trimmed)})", annotation(function.returns)


def of(name: str) -> tuple[str, str] | None:
    """The signature of "torchtrt.compile" or "torchtrt.Input", if a stub has it."""
    module = next((each for each in sorted(STUBS, key=len, reverse=True) if name.startswith(each + ".")), None)
    if module is None:
        return None
    node = find(module, name.removeprefix(module + ".").split("."))
    if isinstance(node, ast.ClassDef):
        node = next((each for each in node.body if getattr(each, "name", "") == "__init__"), None)
        return (signature(node)[0], "") if node is not None else None
    return signature(node) if isinstance(node, ast.FunctionDef) else None


def classes(names) -> str:
    """reStructuredText of classes that only the extension has: what reports, profiles and verifications hold."""
    lines = []
    for name in names:
        lines += _class(find("torchtrt", [name]), "")
    return "\n".join(lines) + "\n"


def _class(node: ast.ClassDef, indent: str) -> list[str]:
    inner = indent + "   "
    text = ast.get_docstring(node)
    lines = [f"{indent}.. py:class:: {node.name}", ""] + ([inner + line for line in text.splitlines()] + [""] if text else [])
    for each in node.body:
        if isinstance(each, ast.AnnAssign):
            lines += [f"{inner}.. py:attribute:: {each.target.id}", f"{inner}   :type: {annotation(each.annotation)}", ""]
        elif isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
            arguments, result = signature(each)
            lines += [f"{inner}.. py:method:: {each.name}{arguments} -> {result}", ""]
            lines += [f"{inner}   {line}" for line in (ast.get_docstring(each) or "").splitlines()] + [""]
        elif isinstance(each, ast.ClassDef):
            lines += _class(each, inner)
    return lines
