"""Bounds of symbolic sizes as numbers: sizes without an upper bound have the largest that an Input may have."""

import sympy

ANY = 2**31 - 1
# torch.export treats all sizes from this one on alike. Ranges contain 0 and 1 again, since no check of a program tells them apart.
GENERAL = 2


def of(bounds) -> tuple[int, int]:
    """Returns the least and the largest size of torch's ValueRanges; None stands for an unknown range."""
    if bounds is None:
        return 0, ANY
    low = int(bounds.lower) if isinstance(bounds.lower, sympy.Integer) else 0
    high = int(bounds.upper) if isinstance(bounds.upper, sympy.Integer) else ANY
    return (0 if low <= GENERAL else low), min(high, ANY)


def sizes(tensor) -> list:
    """Numbers, and symbolic sizes where they are no number in truth."""
    return [size if isinstance(size, int) or size.node.maybe_as_int() is None else size.node.maybe_as_int() for size in tensor.shape]
