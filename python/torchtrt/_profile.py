"""Shows where a module spends its time."""

import torch

from torchtrt import _compile, _errors, _libraries


def profile(module, inputs, calls: int = 20):
    """Times `module`, a ScriptModule that was compiled or not, on `inputs`, a list of the arguments of its forward: its engines step by step,
    in microseconds and against what the machine can do, and the operators that PyTorch runs beside them. Calls forward 2 * calls + 1
    times; print the result, or use its to_json(). Its to_trace() is a file for Perfetto (ui.perfetto.dev)."""
    if not isinstance(module, torch.jit.ScriptModule):
        _compile._reject(f"module is a {type(module).__name__}", "expected a ScriptModule: what compile() or torch.jit.load gave", "C004")
    arguments = _compile._call(inputs)
    with _errors.translated_errors():
        return _libraries.extension().profile_module(module._c, arguments, calls)
