"""Arguments and results of an exported program in TorchScript: nested as in Python, where tuples, lists and dictionaries say how."""

import collections
import dataclasses
import keyword
import typing
from types import GenericAlias
from typing import Any

import torch

from torchtrt._exported._literals import Unwritable

_NAMES = {torch.Tensor: "Tensor", int: "int", float: "float", bool: "bool", str: "str", type(None): "Optional[Tensor]"}


@dataclasses.dataclass(frozen=True)
class Value:
    """An expression, and the Python form of its type."""

    text: str
    type: Any


def inner(spec) -> list:
    """The specs inside of one. torch 2.8 has them as an attribute, whose name later releases keep for a warning."""
    return spec.children() if hasattr(spec, "children") else list(spec.children_specs)


def _keys(spec) -> Any:
    """Returns a list of the keys of a dictionary, or of a class that is one, such as the outputs of transformers; None for others."""
    keys = spec.context
    if spec.type is collections.defaultdict:
        keys = keys[1]
    if dataclasses.is_dataclass(spec.type) and isinstance(keys, list) and keys and isinstance(keys[0], list):
        keys = keys[0]  # of the fields; those that are None come second
    return keys if isinstance(keys, list) and len(keys) == spec.num_children else None


def _is_named_tuple(spec) -> bool:
    return spec.type is collections.namedtuple or (isinstance(spec.type, type) and issubclass(spec.type, tuple) and hasattr(spec.type, "_fields"))


def _fields(spec) -> list[str] | None:
    """Names of the children of what becomes a named tuple."""
    if _is_named_tuple(spec):
        named: Any = spec.context if isinstance(spec.context, type) else spec.type
        return list(named._fields)
    keys = _keys(spec)
    is_named = keys is not None and all(isinstance(key, str) and key.isidentifier() and not keyword.iskeyword(key) for key in keys)
    return keys if is_named else None


def result(spec, leaves, scope: dict) -> Value:
    """The expression of a result; adds the named tuples that it needs to the scope."""
    if spec.is_leaf():
        return next(leaves)
    children = [result(child, leaves, scope) for child in inner(spec)]
    types: set[Any] = {child.type for child in children}
    if spec.type is list and len(types) <= 1:
        inside = ", ".join(child.text for child in children)
        kind: Any = next(iter(types), torch.Tensor)
        return Value(f"[{inside}]" if children else "torch.jit.annotate(List[Tensor], [])", GenericAlias(list, (kind,)))
    if spec.type in (dict, collections.OrderedDict) and len(types) == 1 and len({type(key) for key in _keys(spec)}) == 1:
        inside = ", ".join(f"{key!r}: {child.text}" for key, child in zip(_keys(spec), children))
        return Value(f"{{{inside}}}", GenericAlias(dict, (type(_keys(spec)[0]), children[0].type)))
    fields = _fields(spec) if spec.type not in (tuple, list) else None
    if fields:
        return _named(spec, fields, children, scope)
    inside = ", ".join(child.text for child in children)
    return Value(f"({inside},)" if children else "()", GenericAlias(tuple, tuple(child.type for child in children)))


def _named(spec, fields, children, scope) -> Value:
    """TorchScript has no classes like those of transformers' outputs, and no dictionaries of several types: their names stay."""
    named = spec.context if isinstance(spec.context, type) else spec.type
    name = "Results" if named is dict else named.__name__
    while name in scope:
        name += "_"
    scope[name] = typing.NamedTuple(name, [(field, _storable(child.type)) for field, child in zip(fields, children)])
    return Value(f"{name}({', '.join(child.text for child in children)})", scope[name])


def _storable(kind):
    return typing.Optional[torch.Tensor] if kind is type(None) else kind


def argument_type(spec, leaves) -> str:
    """Returns the declaration of an argument's type."""
    if spec.is_leaf():
        return _NAMES[next(leaves)]
    children = [argument_type(child, leaves) for child in inner(spec)]
    same = len(set(children)) <= 1
    if spec.type is tuple and children:
        return f"Tuple[{', '.join(children)}]"
    if spec.type is list and same:
        return f"List[{children[0] if children else 'Tensor'}]"
    if spec.type in (dict, collections.OrderedDict) and same and children:
        return f"Dict[{_NAMES[type(_keys(spec)[0])]}, {children[0]}]"
    raise Unwritable(f"an argument of type {getattr(spec.type, '__name__', spec.type)}, or one that holds several types")


def paths(spec, base: str):
    """The expressions of an argument's leaves, in order."""
    if spec.is_leaf():
        yield base
        return
    keys = _keys(spec) if spec.type not in (tuple, list) else None
    for i, child in enumerate(inner(spec)):
        yield from paths(child, f"{base}[{(keys[i] if keys else i)!r}]")
