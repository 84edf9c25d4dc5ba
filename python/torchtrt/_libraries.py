"""Finds and loads the C++ libraries, which lie in lib/ beside this file: the runtime alone, or the compiler with all."""

import ctypes
import importlib
import importlib.util
import pathlib

import torch

from torchtrt import _errors, _torch_fit

FOLDER = pathlib.Path(__file__).parent / "lib"


def _runtime_path() -> pathlib.Path:
    path = FOLDER / "libtorchtrt_runtime.so"
    if not path.exists():
        raise ImportError(f"{path} is missing: build it with ./dev build, or install the wheel")
    problem = _torch_fit.problem(torch.__version__)
    if problem:  # the loader would name an undefined symbol
        raise ImportError(problem)
    return path


def load_runtime() -> None:
    """Registers torch.classes.tensorrt.Engine and torch.ops.tensorrt.execute_engine. Doing it again does nothing."""
    path = _runtime_path()
    torch.ops.load_library(str(path))
    problem = ctypes.CDLL(str(path)).torchtrt_runtime_problem
    problem.restype = ctypes.c_char_p
    text = problem()
    if text is not None:
        raise _errors.EngineError(text.decode())


def load_vision() -> None:
    """Registers torchvision's operators where torchvision is not. An installed torchvision is imported first, since it could not
    be any more afterwards: a name is registered once."""
    if importlib.util.find_spec("torchvision"):
        import torchvision  # noqa: F401
    torch.ops.load_library(str(FOLDER / "libtorchtrt_vision.so"))


def extension():
    """The compiled extension, which brings the compiler."""
    load_runtime()
    return importlib.import_module("torchtrt._torchtrt")
