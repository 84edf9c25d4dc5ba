"""All that a process needs to load and run compiled modules: importing this maps the runtime and engine libraries, no compiler.

    import torchtrt.runtime
    compiled = torch.jit.load("compiled.ts")
"""

import contextlib
import functools
import os

import torch

from torchtrt import _libraries
from torchtrt._errors import EngineError, translated_errors

__all__ = ["EngineError", "counters", "engines", "kernel_switches", "load_plugin_library", "load_vision", "prepare", "share_weights", "translated_errors"]

_ENGINE_TYPE = "__torch__.torch.classes.tensorrt.Engine"
_WEIGHT_SET_TYPE = "__torch__.torch.classes.tensorrt.WeightSet"

_libraries.load_runtime()


def load_vision() -> None:
    """Makes torch.ops.torchvision.nms, roi_align and their relatives work without torchvision: detection models saved elsewhere load.
    Where torchvision is installed, its own operators count. In C++, link torchtrt::vision or open libtorchtrt_vision.so."""
    _libraries.load_vision()


def load_plugin_library(path) -> None:
    """Registers the plugins of a shared library for the modules that this process loads from now on. EngineError where a path names no file;
    a name alone is looked for where the system finds libraries, when it is needed."""
    if os.sep in str(path) and not os.path.isfile(path):
        raise EngineError(f"[E009] there is no plugin library '{path}'\n  check the path")
    libraries = [each for each in os.environ.get("TORCHTRT_PLUGINS", "").split(":") if each]
    place = os.path.abspath(path) if os.sep in str(path) else str(path)  # the working directory may be another one by then
    os.environ["TORCHTRT_PLUGINS"] = ":".join([*libraries, place])


@contextlib.contextmanager
def kernel_switches(reference_kernels: bool = False, disabled_fusions=()):
    """Engines that are compiled or loaded inside the block run reference kernels, or without the named fusion rules: to find out if a kernel
    or a fusion is wrong or slow. `torchtrt.runtime.engines(module)[name].schedule(inputs)` shows what runs. An unknown rule is an error
    (C003) when an engine is loaded, which lists the rules."""
    wanted = {"TORCHTRT_REFERENCE_KERNELS": "1" if reference_kernels else "", "TORCHTRT_DISABLE_FUSION": ",".join(disabled_fusions)}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def prepare(module) -> int:
    """Makes the first call of a loaded compiled module cost what later ones do. libtorch plans now how to run the methods that only call
    engines, which takes 0.4 ms in each of their first two calls. If the engines are small, such methods are called with zeros, and so is
    the module. No result changes. torchtrt.compile returns prepared modules. Returns the number of methods planned; others wait for their
    first call, which libtorch learns from. TypeError unless it is a ScriptModule."""
    if not isinstance(module, torch.jit.ScriptModule):
        raise TypeError(f"prepare: expected a ScriptModule, as torch.jit.load returns it, got {type(module).__name__}")
    methods, arguments = torch.ops.tensorrt.prepare(module)
    if arguments:
        with torch.inference_mode():
            module(*arguments)  # the way from Python into libtorch takes as long to fetch as what lies behind
    return methods


def share_weights(enabled: bool = True) -> None:
    """Has the weights of engines that this process, and the processes that it starts, load from now on in memory once for all processes of
    one user on one machine that load the same file. Sets TORCHTRT_SHARE_WEIGHTS, which does the same for programs in other languages.
    Results are the same. Where the system does not allow it, each process has its own copy, and the log (level info) says why;
    `torchtrt.runtime.engines(module)[name].shared_bytes()` tells how much of an engine is shared."""
    os.environ["TORCHTRT_SHARE_WEIGHTS"] = "1" if enabled else "0"


def counters() -> dict[str, dict]:
    """What the engines of this process have done since it began, for Prometheus and its like: {engine's name: {"calls": calls that it ran,
    "seconds": their time, "fallbacks": calls that PyTorch ran in its place, "errors": calls that ended in an error, "new_shapes": sets of
    shapes that it was prepared for during a call}}. Engines of one name count together, and numbers never fall. On a GPU, the time ends
    when the work is handed over. examples/metrics.py serves them."""
    return {name: {"calls": calls, "fallbacks": fallbacks, "errors": errors, "new_shapes": new_shapes, "seconds": seconds}
            for name, calls, fallbacks, errors, new_shapes, seconds in torch.ops.tensorrt.counters()}


def engines(module) -> dict:
    """The engines that a compiled ScriptModule holds, by the name of their attribute or, with refit, their own. Each is a
    torch.classes.tensorrt.Engine with the methods
    name(), inputs(), outputs(), inspect(), schedule(inputs), profile(inputs, calls), memory_bytes(), shared_bytes() and
    workspace_bytes(inputs). TypeError for what is no ScriptModule."""
    if not isinstance(module, torch.jit.ScriptModule):
        raise TypeError(f"engines: expected a ScriptModule, as torch.jit.load returns it, got {type(module).__name__}")
    found = {}
    for prefix, inner in module.named_modules():
        if not inner._c._has_method("forward"):
            continue
        for node in inner.graph.findAllNodes("prim::GetAttr"):
            held = str(node.output().type())
            if held in (_ENGINE_TYPE, _WEIGHT_SET_TYPE):
                path = _path(node)
                value = functools.reduce(lambda owner, name: owner.getattr(name), path, inner._c)
                dotted = ".".join([prefix] * bool(prefix) + path)
                if held == _ENGINE_TYPE:
                    found[dotted] = value
                else:
                    folder = dotted.removesuffix(path[-1])
                    found.update({folder + engine.name(): engine for engine in value.current()[0]})
    return found


def _path(node) -> list[str]:
    """The attributes on the way from the module to what the node reads."""
    owner = node.input().node()
    return [*(_path(owner) if owner.kind() == "prim::GetAttr" else []), node.s("name")]
