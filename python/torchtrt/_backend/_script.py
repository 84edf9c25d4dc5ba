"""A captured graph as a ScriptModule: a module's own tensors become attributes, sizes of inputs are read from them."""

import dataclasses

import torch

from torchtrt import _inputs
from torchtrt._exported import _module, _ranges
from torchtrt._exported._literals import Unwritable
from torchtrt._exported._source import Statements


@dataclasses.dataclass
class Scripted:
    module: torch.jit.ScriptModule
    passed: list[int]  # the graph's inputs that forward takes
    signature: tuple


def to_script(captured, tensors: dict[int, torch.Tensor], unused: set[int]) -> Scripted:
    """tensors: those that become attributes, by the index of the graph's input; unused: inputs that the graph does not read."""
    body, attributes, passed, declared = Statements(), {}, [], []
    placeholders = captured.graph_module.graph.find_nodes(op="placeholder")
    sizes = _sizes(captured, tensors)
    for i, (node, value) in enumerate(zip(placeholders, captured.values, strict=True)):
        name = body.name(f"input_{i}")
        if i in tensors:
            attributes[name] = tensors[i].detach()
            body.bind(node, f"self.{name}")
        elif i in unused:
            continue
        elif isinstance(value, torch.Tensor):
            passed.append(i)
            declared.append(f"{name}: Tensor")
            body.bind(node, name)
        elif isinstance(value, torch.SymInt) and str(value.node.expr) in sizes:
            body.bind(node, name)
            body.add(f"{name} = {sizes[str(value.node.expr)]}")  # before anything changes the shape of that input
        elif isinstance(value, torch.SymInt):
            passed.append(i)
            declared.append(f"{name}: int")
            body.bind(node, name)
        else:
            raise Unwritable(f"an input of type {type(value).__name__}")
    results = body.write(captured.graph_module)
    if not results:
        raise Unwritable("a graph without results")
    body.add(f"return ({', '.join(body.text(each) for each in results)},)")
    attributes.update(body.tensors)
    source = "\n".join([f"def forward({', '.join(['self', *declared])}):", *body.lines, ""])
    module = _module.build("Graph", attributes, source, {})
    return Scripted(module, passed, tuple(_described(captured.values[i]) for i in passed))


def _sizes(captured, tensors) -> dict[str, str]:
    """Expressions of the symbols that are sizes of an input."""
    found: dict[str, str] = {}
    for i, value in enumerate(captured.values):
        if isinstance(value, torch.Tensor) and i not in tensors:
            for d, size in enumerate(_ranges.sizes(value)):
                if isinstance(size, torch.SymInt):
                    found.setdefault(str(size.node.expr), f"input_{i}.size({d})")
    return found


def _described(value):
    """The Input of a fake tensor; sizes that vary are shared by the names of their symbols."""
    if not isinstance(value, torch.Tensor):
        return value.node.hint
    layout = torch.channels_last if value.dim() == 4 and _is_channels_last(value) else torch.contiguous_format
    if all(isinstance(size, int) for size in _ranges.sizes(value)):
        return _inputs.Input(list(value.shape), dtype=value.dtype, format=layout)
    bounds = [_bounds(size) for size in _ranges.sizes(value)]
    shared = {i: str(size.node.expr) for i, size in enumerate(_ranges.sizes(value)) if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol}
    return _inputs.Input(min_shape=[low for low, _, _ in bounds], opt_shape=[hint for _, hint, _ in bounds], max_shape=[high for _, _, high in bounds],
                         dtype=value.dtype, format=layout, shared_dims=shared)


def _is_channels_last(value) -> bool:
    return not value.is_contiguous() and value.is_contiguous(memory_format=torch.channels_last)


def _bounds(size) -> tuple[int, int, int]:
    """Minimum, usual size and maximum."""
    if isinstance(size, int):
        return size, size, size
    low, high = _ranges.of(size.node.shape_env.bound_sympy(size.node.expr))
    return low, min(max(size.node.hint, low), high), high
