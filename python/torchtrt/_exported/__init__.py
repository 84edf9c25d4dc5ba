"""Compiles a torch.nn.Module or torch.export.ExportedProgram to a ScriptModule by way of torch.export.

Four steps: `_arguments` makes examples of the caller's Inputs, torch.export traces the module with them, `_decompositions` leaves the
operators that engines compute, and `_program` writes the graph as TorchScript, which is compiled like any other.
"""

import torch

from torchtrt import _errors


def _fail(what: str, error: Exception):
    text = str(error).strip().split("\n\n")[0]
    raise _errors.CompileError(
        f"[C004] {what} cannot be exported: {type(error).__name__}: {text}\n"
        '  use torch.compile(module, backend="torchtrt"), which needs no whole graph, trace it with torch.jit.trace(module, example), '
        "or change what the message names") from error


def _device(module) -> torch.device:
    return next((each.device for each in module.parameters()), torch.device("cpu"))


def _export(module, arguments) -> torch.export.ExportedProgram:
    positional, named, shapes = arguments.examples(_device(module))
    with torch.no_grad():
        dynamic = shapes.dynamic_shapes(module, positional, named) if len(shapes) else None
        return torch.export.export(module, positional, named, dynamic_shapes=dynamic, strict=False)


def compile(module, inputs, input_signature, options: dict):  # noqa: A001 - as in the package
    """Does what torchtrt.compile does, for a module that torch.export takes or a program that it made. A program needs no inputs."""
    from torchtrt import _compile
    from torchtrt._exported import _agreements, _arguments, _checks, _decompositions, _guards, _program, _small_sizes

    options = dict(options)
    positional, named = options.pop("arg_inputs", None), options.pop("kwarg_inputs", None)
    if inputs is not None and positional is not None:
        _compile._reject("inputs and arg_inputs are both given", "give one of them: they are the same", "C002")
    inputs = positional if inputs is None else inputs
    is_module = isinstance(module, torch.nn.Module)
    name = type(module).__name__ if is_module and type(module).__name__.isidentifier() else "Exported"
    has_inputs = inputs is not None or input_signature is not None or bool(named)
    arguments = _arguments.Arguments.of(inputs, input_signature, named) if is_module or has_inputs else None
    try:
        original = _export(module, arguments) if is_module else module
        with torch.no_grad():
            program = original.run_decompositions(_decompositions.table())
        _agreements.find(program.graph)
        scripted = _program.to_script(program, name)
        checks = _checks.asked(_guards.conditions(original, {each.path.partition("[")[0] for each in scripted.arguments}))
    except _errors.Error:
        raise
    except Exception as error:  # noqa: BLE001 - of the model, of torch.export, or of TorchScript
        _fail(name if is_module else "the program", error)
    signature = _signature(program, scripted, arguments)
    if is_module:
        _small_sizes.check(module, scripted.module, arguments, _device(module), bool(program.graph_signature.buffers_to_mutate))
    unsaved = [name for name in scripted.module.state_dict() if name not in program.state_dict]
    compiled = _compile.compile_script(scripted.module, None, signature, options, unsaved)
    checked = _checks.put_before(compiled, scripted.declaration, [*scripted.checks, *checks])
    _compile._reports[checked] = _compile._reports[compiled]
    return checked


def _signature(program, scripted, arguments):
    """The Inputs of all arguments, with the sizes that the program shares between them."""
    from torch.utils import _pytree as pytree

    from torchtrt import _compile, _inputs
    from torchtrt._exported import _arguments, _ranges

    ranges = program.range_constraints
    if arguments is None:
        leaves = [_arguments.described(each.value, ranges) for each in scripted.arguments]
        positional, named = pytree.tree_unflatten(leaves, program.call_spec.in_spec)
        arguments = _arguments.Arguments(positional, named)
    arguments = arguments.in_order(program.call_spec.in_spec)
    leaves = arguments.leaves()
    if len(leaves) != len(scripted.arguments):
        _compile._reject(f"inputs has {len(leaves)} values, and the exported program takes {len(scripted.arguments)}",
                         "give one for each argument: " + ", ".join(each.path for each in scripted.arguments), "C002")
    owners: dict = {}
    for i, (leaf, argument) in enumerate(zip(leaves, scripted.arguments)):
        if isinstance(leaf, _inputs.Input) and isinstance(argument.value, torch.Tensor):
            leaves[i] = _arguments.narrowed(leaf, argument.path, _ranges.sizes(argument.value), ranges, owners)
    return arguments.with_leaves(leaves)
