"""save() and load(), under the reference system's names: torch.jit.save and torch.jit.load with this package's errors and checks."""

import contextlib
import io
import os

import torch

from torchtrt import _errors


def _reject(message: str, advice: str, code: str = "C003"):
    raise _errors.CompileError(f"[{code}] {message}\n  {advice}")


def save(module, file_path="", *, output_format="torchscript", **_) -> None:
    """Writes a compiled module, as torch.jit.save does. Options for other formats say nothing here."""
    if output_format not in ("torchscript", "exported_program"):  # the latter is the reference's default, also for ScriptModules
        _reject(f"a compiled module has no form {output_format!r}", 'leave output_format out, or give "torchscript"')
    if not isinstance(module, torch.jit.ScriptModule):
        _reject(f"cannot save a {type(module).__name__}", "give a ScriptModule, such as torchtrt.compile returns", "C004")
    if not isinstance(file_path, (str, os.PathLike)) or not os.fspath(file_path):
        _reject("no file was given to save to", 'save(module, "compiled.ts")')
    torch.jit.save(module, os.fspath(file_path))


@contextlib.contextmanager
def _loading_for(location):
    """Engines that were compiled for a GPU, on a machine without one, go to the location that the caller names."""
    torch.ops.tensorrt.load_for("" if location is None else str(torch.device(location)))
    try:
        yield
    finally:
        torch.ops.tensorrt.load_for("")


def load(file_path="", extra_files=None, map_location=None, _extra_files=None, **_):
    """Returns the ScriptModule in the file, compiled or not: a path or an open binary file. Before torch.jit.load reads the file,
    everything it trusts is checked: sizes of tensors against their records, their places in these, how deep values and code lie. A damaged
    file raises EngineError (E001); torch.jit.load may end the process. A module is still a program: load only those whose makers you trust.
    map_location: where tensors and engines go; without it, where they were when the file was saved, or to the CPU where no GPU is."""
    extra = _extra_files if extra_files is None else extra_files
    location = map_location if map_location is not None or torch.cuda.is_available() else "cpu"
    with _errors.translated_errors(), _loading_for(map_location):
        if hasattr(file_path, "read"):
            content = bytearray(file_path.read())
            if content:
                torch.ops.tensorrt.check_module_bytes(torch.frombuffer(content, dtype=torch.uint8))
            return torch.jit.load(io.BytesIO(content), map_location=location, _extra_files=extra)
        if not isinstance(file_path, (str, os.PathLike)) or not os.path.isfile(file_path):
            _reject(f"there is no file {os.fspath(file_path) if isinstance(file_path, (str, os.PathLike)) else file_path!r}",
                    "give the path of a module that torch.jit.save wrote", "C004")
        path = os.fspath(file_path)
        torch.ops.tensorrt.check_module(path)
        return torch.jit.load(path, map_location=location, _extra_files=extra)
