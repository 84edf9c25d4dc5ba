"""torch.compile(model, backend="torchtrt"): compiles each graph that TorchDynamo finds, and runs in eager PyTorch those that it cannot.

A user's program never fails because of this: whatever goes wrong is one logged line and a graph in eager mode. Options that do not
exist are the exception, since they would otherwise have no effect and no message.
"""

import os

import torch

from torchtrt import _compile, _errors, logging

EAGER = "runs in eager PyTorch"


def log(text: str) -> None:
    logging.log(logging.Level.Warning, text)


def _tensors(graph_module, example_inputs):
    yield from graph_module.parameters()
    yield from (each for each in example_inputs if isinstance(each, torch.Tensor))


def needs_gradients(graph_module, example_inputs) -> bool:
    return torch.is_grad_enabled() and any(each.requires_grad for each in _tensors(graph_module, example_inputs))


def is_strict() -> bool:
    return os.environ.get("TORCHTRT_STRICT", "0") not in ("", "0")


def backend(graph_module: torch.fx.GraphModule, example_inputs: list, *, options=None, mode=None):
    """Returns the function that computes the graph. TorchDynamo calls this for each graph."""
    options = dict(options or {})
    _compile._check_names(options)
    if mode not in (None, "default"):
        log(f'torch.compile\'s mode "{mode}" says nothing to torchtrt; give options={{...}}, those of torchtrt.compile')
    if not any(isinstance(each, torch.Tensor) for each in example_inputs):  # constants alone
        return graph_module.forward
    if needs_gradients(graph_module, example_inputs):
        log(f"a graph of {_size(graph_module)} operators needs gradients, which engines do not give, and {EAGER}; "
             "call the model within torch.no_grad() for inference")
        return graph_module.forward
    from torchtrt._backend import _variants

    try:
        return _variants.Variants(graph_module, options).warmed(example_inputs)
    except Exception as error:  # noqa: BLE001 - the program goes on, whatever it was
        if isinstance(error, _errors.InternalError) and is_strict():
            raise
        log(f"a graph of {_size(graph_module)} operators {EAGER}: {first_line(error)}")
        return graph_module.forward


def _size(graph_module) -> int:
    return sum(node.op.startswith("call_") for node in graph_module.graph.nodes)


def first_line(error: Exception) -> str:
    text = str(error).strip().split("\n")[0]
    return text if isinstance(error, _errors.Error) else f"{type(error).__name__}: {text}"
