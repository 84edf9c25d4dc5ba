"""A compiled module against the module it was made of."""

import torch

from torchtrt import _compile, _errors, _libraries


def verify(module, compiled, inputs, calls: int = 20):
    """Holds `compiled` against `module`, an nn.Module (scripted first) or ScriptModule, both in evaluation mode, on `inputs`, a list of the
    arguments of their forward: the results of both, and every engine against the same operators in PyTorch on the tensors that reach it.

    The result has `agrees`, `verdict`, `outputs`, `segments` in the order of their first calls, and of the segments that disagree the
    `first` and the `worst`, or None: relative error (to the largest value of a tensor) beside what its dtype is allowed, error in units
    in the last place (the most of all elements), source lines, the operator from which on they differ, and medians of `calls` times in
    milliseconds. Print it, or use its to_json(). Raises CompileError where there are no calls."""
    script = _compile._script(module)
    for name, each in [("module", script), ("compiled", compiled)]:
        if not isinstance(each, torch.jit.ScriptModule):
            _compile._reject(f"{name} is a {type(each).__name__}", "expected a ScriptModule: what compile() took, and what it gave", "C004")
    arguments = _compile._call(inputs)
    with _errors.translated_errors():
        return _libraries.extension().verify_module(script._c, compiled._c, arguments, calls)
