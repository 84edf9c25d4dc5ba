"""The three kinds of error. Every text begins with a stable code, "[E005] ...", which docs/errors explains."""

from __future__ import annotations

import contextlib
import re

import torch

_CODE = re.compile(r"\[([CEI]\d{3})\] ")


class Error(RuntimeError):
    """Base of the three. `code` is stable, `str()` the whole text."""

    def __init__(self, text: str):
        super().__init__(text)
        found = _CODE.search(text)
        self.code = found.group(1) if found else ""


class CompileError(Error):
    """The module, the options or the input specifications cannot be compiled; the text says what to change."""


class EngineError(Error):
    """Misuse or a fault while an engine is loaded or run."""


class InternalError(Error):
    """A bug of torchtrt."""


_KINDS = {"C": CompileError, "E": EngineError, "I": InternalError}
# Before the text of an error that a module raises itself, whose statement is quoted above.
_RAISED = "\nbuiltins.RuntimeError: "
# libtorch puts these behind an error's text.
_TRAILERS = ("\nException raised from ", "\nThe above operation failed in interpreter")


def from_exception(error: BaseException) -> Error | None:
    """Returns the torchtrt error that libtorch turned into a RuntimeError, or None."""
    if isinstance(error, Error):
        return error
    text = str(error).rpartition(_RAISED)[2]
    found = _CODE.search(text)
    if not found:
        return None
    text = text[found.start():]
    for trailer in _TRAILERS:
        text = text.partition(trailer)[0]
    return _KINDS[found.group(1)[0]](text.rstrip())


@contextlib.contextmanager
def translated_errors():
    """Raises torchtrt's own errors where a compiled module, run or loaded inside, raises libtorch's RuntimeError for them,
    or torch.jit.Error where the module itself raises."""
    try:
        yield
    except (RuntimeError, torch.jit.Error) as error:
        ours = from_exception(error)
        if ours is None or ours is error:
            raise
        raise ours from error
