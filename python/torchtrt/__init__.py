"""torchtrt compiles TorchScript modules into TorchScript modules that run engines where they can.

    compiled = torchtrt.compile(script_module, inputs=[torchtrt.Input([1, 3, 224, 224])])
    compiled.save("compiled.ts")

Importing torchtrt maps the runtime and engine libraries (10 ms), so that torch.jit.load knows compiled modules; the compiler
comes with the first name here that needs it.
"""

import contextlib
import importlib

from torchtrt import _announce, _libraries

# This makes torch_tensorrt and trtorch known in folders where Python reads no .pth file. The build tree has them as packages.
with contextlib.suppress(ModuleNotFoundError):
    importlib.import_module("_torchtrt_names")
_libraries.load_runtime()
_announce.announce()

# Name -> the module it is in; loaded on first use.
_HOME = {
    "CompileError": "_errors",
    "Device": "_devices",
    "DeviceType": "_devices",
    "EngineCapability": "_enums",
    "EngineError": "_errors",
    "Error": "_errors",
    "Input": "_inputs",
    "InternalError": "_errors",
    "TensorFormat": "_enums",
    "compile": "_compile",
    "convert_method_to_trt_engine": "_compile",
    "dtype": "_enums",
    "dump_build_info": "_compile",
    "get_build_info": "_compile",
    "load": "_files",
    "memory_format": "_enums",
    "profile": "_profile",
    "report": "_compile",
    "save": "_files",
    "set_device": "_compile",
    "translated_errors": "_errors",
    "verify": "_verify",
    "update_weights": "_weights",
}
_MODULES = ["functional", "graph_rewriting", "logging", "network", "ptq", "runtime", "ts"]

__all__ = [*_HOME, *_MODULES]


def __getattr__(name):
    if name in _HOME:
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"{__name__}.{name}")
    elif name == "__version__":
        from torchtrt import _libraries

        value = _libraries.extension().version()
    else:
        raise AttributeError(f"module 'torchtrt' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__, "__version__"})
