"""An ExportedProgram as a ScriptModule with the same arguments and results."""

import dataclasses

import torch
from torch.export.graph_signature import ConstantArgument, CustomObjArgument, InputKind, OutputKind, TokenArgument

from torchtrt._exported import _checks, _module, _structure
from torchtrt._exported._literals import Unwritable, written
from torchtrt._exported._source import Statements

_STORED = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


@dataclasses.dataclass
class Argument:
    """A leaf of the arguments: its path in `forward`, and its value while exporting, a fake tensor or a constant."""

    path: str
    value: object


@dataclasses.dataclass
class Scripted:
    module: torch.jit.ScriptModule
    declaration: str  # of forward
    arguments: list[Argument]
    checks: list[str]


def _names(program, count: int, named: list[str]) -> list[str]:
    """Returns the names of the arguments of forward."""
    signature = program.module_call_graph[0].signature
    known = list(signature.forward_arg_names or []) if signature is not None else []
    positional = known[:count] if len(known) >= count else [f"argument_{i}" for i in range(count)]
    return [*positional, *named]


def _declaration(program, values: list) -> tuple[str, list[str]]:
    """The first line of forward, and the paths of all leaves."""
    spec = program.call_spec.in_spec
    positional, named = _structure.inner(spec)
    children = [*_structure.inner(positional), *_structure.inner(named)]
    names = _names(program, positional.num_children, [str(key) for key in named.context])
    kinds = iter([torch.Tensor if isinstance(value, torch.Tensor) else _kind(value) for value in values])
    rest = iter(values)
    declared, paths = [], []
    constants = []
    for name, child in zip(names, children, strict=True):
        declared.append(f"{name}: {_structure.argument_type(child, kinds)}")
        paths += _structure.paths(child, name)
        leaves = [next(rest) for _ in range(child.num_leaves)]
        constants.append(child.is_leaf() and not isinstance(leaves[0], (torch.Tensor, torch.SymInt)))
        if constants[-1]:
            declared[-1] += f" = {written(leaves[0])}"
    for i in reversed(range(len(declared))):  # TorchScript wants defaults at the end
        if not constants[i]:
            declared[:i] = [each.split(" = ")[0] for each in declared[:i]]
            break
    return f"def forward({', '.join(['self', *declared])}):", paths


def _kind(value):
    for numeric, plain in ((torch.SymInt, int), (torch.SymFloat, float), (torch.SymBool, bool)):
        if isinstance(value, numeric):
            return plain
    return type(value)


def to_script(program: torch.export.ExportedProgram, name: str) -> Scripted:
    """Raises Unwritable for what TorchScript cannot say."""
    body, tensors = Statements(), {}
    scope: dict[str, type] = {}
    signature = program.graph_signature
    placeholders = program.graph.find_nodes(op="placeholder")
    given = []
    for node, spec in zip(placeholders, signature.input_specs, strict=True):
        if isinstance(spec.arg, (TokenArgument, CustomObjArgument)):
            raise Unwritable(f"an argument of class {type(spec.arg).__name__}")
        if spec.kind in _STORED:
            tensors[spec.target] = _stored(program, spec)
            body.bind(node, _module.attribute(spec.target))
        else:
            given.append((node, spec.arg.value if isinstance(spec.arg, ConstantArgument) else node.meta["val"]))
    declaration, paths = _declaration(program, [value for _, value in given])
    for path, (node, value) in zip(paths, given, strict=True):
        body.name(path.partition("[")[0])
        body.bind(node, path if isinstance(value, (torch.Tensor, torch.SymInt)) else written(value))
    outputs = body.write(program.graph_module)
    body.add("return " + _results(program, body, outputs, dict(zip([node.name for node, _ in given], paths)), scope))
    tensors.update(body.tensors)
    source = "\n".join([declaration, *body.lines, ""])
    module = _module.build(name, tensors, source, scope)
    arguments = [Argument(path, value) for path, (_, value) in zip(paths, given)]
    return Scripted(module, declaration, arguments, _size_checks(program, arguments))


def _stored(program, spec) -> torch.Tensor:
    value = program.state_dict.get(spec.target)
    value = program.constants.get(spec.target) if value is None else value
    if not isinstance(value, torch.Tensor) or type(value) not in (torch.Tensor, torch.nn.Parameter):
        raise Unwritable(f"{spec.target}, which is a {type(value).__name__}")
    return value


def _results(program, body, outputs, paths: dict[str, str], scope) -> str:
    """Writes what the program does to buffers and arguments; gives the expression of its results."""
    leaves = []
    changed = {}
    for value, spec in zip(outputs, program.graph_signature.output_specs, strict=True):
        if spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION):
            target = _module.attribute(spec.target) if spec.kind is OutputKind.BUFFER_MUTATION else paths[spec.target]
            body.add(f"torch.ops.aten.copy_({target}, {body.text(value)})")
            changed[value] = target
        elif spec.kind is OutputKind.USER_OUTPUT:
            kind = torch.Tensor if isinstance(meta := _meta(value), torch.Tensor) else _kind(meta)
            leaves.append(_structure.Value(changed.get(value) or body.text(value), kind))
        else:
            raise Unwritable(f"an output of kind {spec.kind.name}")
    return _structure.result(program.call_spec.out_spec, iter(leaves), scope).text


def _meta(value):
    return value.meta["val"] if isinstance(value, torch.fx.Node) else value


def _size_checks(program, arguments) -> list[str]:
    symbols: dict[str, str] = {}
    return [line for each in arguments for line in _checks.lines(each.path, each.value, program.range_constraints, symbols)]
