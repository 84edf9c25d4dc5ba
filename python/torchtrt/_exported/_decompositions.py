"""Takes operators without a converter apart where PyTorch knows simpler ones."""

import functools

import torch

from torchtrt import _libraries


@functools.cache
def _converted() -> frozenset[str]:
    """Names with overload of all operators that engines compute."""
    return frozenset(schema.partition("(")[0] for schema in _libraries.extension().converter_schemas())


def table() -> dict:
    """Operator -> the function that computes it by others."""
    known = _converted()
    decompositions = dict(torch.export.default_decompositions().items())
    return {operator: function for operator, function in decompositions.items()
            if not isinstance(operator, torch._ops.OpOverload) or operator.name() not in known}
