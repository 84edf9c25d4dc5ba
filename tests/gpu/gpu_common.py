"""Helpers of all sections of suite.py."""

import collections
import os
import pathlib
import re
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parents[1] / "bench")]

SUITE = str(HERE / "suite.py")
DEVICE = os.environ.get("TORCHTRT_GPU", "cuda:0")


def first_line(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if re.match(r"(\w+\.)*(RuntimeError: )?\[[CEI]\d{3}\]", line)]
    return f"{type(error).__name__}: {(told or lines or [''])[0][:220]}"


def engines_of(module) -> dict:
    import torchtrt.runtime

    return torchtrt.runtime.engines(module)


def implementations(module) -> collections.Counter:
    """Counts the implementations that were chosen, over all engines."""
    return collections.Counter(name for engine in engines_of(module).values() for name in re.findall(r"\[([a-z_0-9]+)\]\s*$", engine.inspect(), re.M))


def to_gpu(x: torch.Tensor) -> torch.Tensor:
    """Returns it on the GPU with the same strides: .to() would lay it out anew."""
    whole = torch.as_strided(x, (x.untyped_storage().nbytes() // x.element_size(),), (1,), 0)
    return whole.to(DEVICE).as_strided(x.shape, x.stride(), x.storage_offset())


def synchronize() -> None:
    if DEVICE != "cpu":  # the scripts themselves are tried on the CPU
        torch.cuda.synchronize()


def exact_settings() -> None:
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
