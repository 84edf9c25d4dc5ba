"""save() and load(), under the reference system's names: torch.jit.save and torch.jit.load with this package's errors."""

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


def load(file_path="", extra_files=None, **_):
    """The ScriptModule that is in the file, compiled or not."""
    if not isinstance(file_path, (str, os.PathLike)) or not os.path.isfile(file_path):
        _reject(f"there is no file {os.fspath(file_path) if isinstance(file_path, (str, os.PathLike)) else file_path!r}",
                "give the path of a module that torch.jit.save wrote", "C004")
    with _errors.translated_errors():
        return torch.jit.load(os.fspath(file_path), map_location="cpu", _extra_files=extra_files)
