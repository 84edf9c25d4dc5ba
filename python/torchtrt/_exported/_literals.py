"""Constants of an exported graph as TorchScript writes them."""

import math

import torch


class Unwritable(Exception):
    """A graph holds something that TorchScript has no words for; the text says what."""


def written(value) -> str:
    """The text of a number, text, dtype, device or layout, or of a list of them."""
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f'float("{value}")'
    if isinstance(value, complex):
        return f"complex({written(value.real)}, {written(value.imag)})"
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return str(value)
    if isinstance(value, torch.device):
        return f'torch.device("{value}")'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(written, value)) + "]"
    raise Unwritable(f"a constant of type {type(value).__name__}")
