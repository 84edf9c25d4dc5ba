"""A graph of TorchDynamo, which calls functions of torch, as a graph of operators with symbolic sizes."""

import contextlib
import copy
import dataclasses

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import make_fx

from torchtrt._exported import _agreements, _decompositions


@dataclasses.dataclass
class Captured:
    graph_module: torch.fx.GraphModule
    values: list  # of the graph's inputs: fake tensors, symbolic numbers
    fixed: set[int]  # inputs that are a module's own tensors and that the graph does not write
    is_writing: bool  # to some input


def _is_autocast(graph_module) -> bool:
    """Casts are in the graph only where it is traced behind autocast, which takes composite operators apart."""
    inside = any(node.target in (torch.amp._enter_autocast, torch.amp.autocast_mode._enter_autocast) for node in graph_module.graph.nodes)
    return inside or any(torch.is_autocast_enabled(kind) for kind in ("cpu", "cuda"))


def _is_fixed(node, given) -> bool:
    """True for a parameter or buffer, as TorchDynamo marks them. Nobody can tell if an inference tensor was written."""
    is_own = bool(node.meta.get("tensor_dict", {}).get("_dynamo_static_input_type"))
    return is_own and isinstance(given, torch.Tensor) and not given.is_inference()


def numbers(graph_module) -> list[int]:
    """Inputs that are floats of the program, which TorchDynamo wraps in tensors: all that the graph does with them is item()."""
    found = []
    for i, node in enumerate(graph_module.graph.find_nodes(op="placeholder")):
        value = node.meta.get("example_value")
        is_scalar = isinstance(value, torch.Tensor) and value.dim() == 0 and value.dtype == torch.float64 and value.device.type == "cpu"
        if is_scalar and all(user.op == "call_method" and user.target == "item" for user in node.users):
            found.append(i)
    return found


def _with_constants(graph_module, constants: dict[int, float]):
    """A copy in which these inputs have values, which take no part in it any more."""
    if not constants:
        return graph_module
    graph = copy.deepcopy(graph_module.graph)
    for i, node in enumerate(graph.find_nodes(op="placeholder")):
        for user in list(node.users) if i in constants else []:
            user.replace_all_uses_with(constants[i])
            graph.erase_node(user)
    return torch.fx.GraphModule(graph_module, graph)


@contextlib.contextmanager
def _numbers_of_data(mode):
    """item() gives a symbol."""
    before, mode.allow_scalar_outputs = mode.allow_scalar_outputs, True
    try:
        yield
    finally:
        mode.allow_scalar_outputs = before


def capture(graph_module, inputs, constants: dict[int, float]) -> Captured:
    """inputs: of a call; constants: the values of those numbers that are taken to be fixed."""
    placeholders = graph_module.graph.find_nodes(op="placeholder")
    values = [node.meta["example_value"] for node in placeholders]
    mode = next((each.fake_mode for each in values if isinstance(each, FakeTensor)), None)
    if mode is None:
        raise ValueError("it has no tensors among its inputs")
    versions = [each._version if isinstance(each, torch.Tensor) else 0 for each in values]
    trace = make_fx(_with_constants(graph_module, constants), pre_dispatch=not _is_autocast(graph_module),
                    decomposition_table=_decompositions.table(), _allow_non_fake_inputs=True)
    with torch.no_grad(), mode, _numbers_of_data(mode), torch._guards.tracing(None):
        traced = trace(*values)
    _agreements.find(traced.graph)
    written = {i for i, (each, before) in enumerate(zip(values, versions)) if isinstance(each, torch.Tensor) and each._version != before}
    fixed = {i for i, node in enumerate(placeholders) if i not in written and _is_fixed(node, inputs[i])}
    return Captured(traced, values, fixed, bool(written))
