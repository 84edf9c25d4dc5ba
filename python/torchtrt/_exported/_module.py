"""A ScriptModule of parameters, buffers and the text of a `forward`."""

import keyword
import math

import torch

# The text of a forward may use these names.
SCOPE = {"torch": torch, "math": math, "RuntimeError": RuntimeError}


def attribute(path: str) -> str:
    """The expression of a parameter or buffer; of the parts of its name, numbers are no identifiers."""
    text = "self"
    for part in path.split("."):
        plain = part.isidentifier() and not keyword.iskeyword(part)
        text = f"{text}.{part}" if plain else f'getattr({text}, "{part}")'
    return text


def build(name: str, tensors: dict[str, torch.Tensor], source: str, scope: dict) -> torch.jit.ScriptModule:
    """Tensors by the paths that state_dict() has for them."""
    root = _holder(name)
    for path, tensor in tensors.items():
        *folders, last = path.split(".")
        module = root
        for folder in folders:
            if not hasattr(module, folder):
                module.add_module(folder, _holder("Part"))
            module = getattr(module, folder)
        if isinstance(tensor, torch.nn.Parameter):
            module.register_parameter(last, tensor)
        else:
            module.register_buffer(last, tensor)
    script = torch.jit.script(root.eval())
    script._c._define(script._concrete_type, source, {**SCOPE, **scope}.get)
    return torch.jit._recursive.wrap_cpp_module(script._c)


def _holder(name: str) -> torch.nn.Module:
    return type(name, (torch.nn.Module,), {"__module__": "exported"})()
