"""The torchtrt of the runtime wheel: it loads and runs compiled modules, and has no compiler.

    import torchtrt.runtime
    compiled = torch.jit.load("compiled.ts")
"""

import importlib

from torchtrt import _libraries, _torch_fit

_libraries.load_runtime()

_ERRORS = ["CompileError", "EngineError", "Error", "InternalError", "translated_errors"]

__all__ = [*_ERRORS, "runtime"]
__version__ = _torch_fit.VERSIONS.read_text(encoding="utf-8").split()[0]


def __getattr__(name):
    if name in _ERRORS:
        value = getattr(importlib.import_module("torchtrt._errors"), name)
    elif name == "runtime":
        value = importlib.import_module("torchtrt.runtime")
    elif name.startswith("__"):
        raise AttributeError(f"module 'torchtrt' has no attribute {name!r}")
    else:
        raise AttributeError(f"torchtrt.{name}: torchtrt-runtime runs compiled modules and has no compiler; the wheel torchtrt has one")
    globals()[name] = value
    return value
