"""Collects the answers of the ways of running a model as arrays, and measures how far two answers are apart. Knows nothing of torch."""

import numpy


def flat(value) -> list[numpy.ndarray]:
    """All arrays in a result: tensors and numbers in lists, tuples and dictionaries, in their order."""
    if value is None or isinstance(value, str):
        return []
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        return [(value.float() if "bfloat16" in str(value.dtype) else value).numpy()]  # numpy has no bfloat16
    if hasattr(value, "values"):
        return flat(list(value.values()))
    if isinstance(value, (list, tuple)):
        return [array for each in value for array in flat(each)]
    return [numpy.asarray(value)]


def difference(answer: list[numpy.ndarray], reference: list[numpy.ndarray], ordered: bool = True) -> float:
    """The largest difference relative to the largest value, over all arrays; infinite where shapes differ. Where not `ordered`, as of boxes
    whose scores tie, values are compared by rank."""
    if [each.shape for each in answer] != [each.shape for each in reference]:
        return float("inf")
    worst = 0.0
    for ours, theirs in zip(answer, reference):
        ours, theirs = (each.astype(numpy.float64).ravel() for each in (ours, theirs))
        if ours.size == 0:
            continue
        if not ordered:
            ours, theirs = numpy.sort(ours), numpy.sort(theirs)
        apart = numpy.abs(ours - theirs).max() / max(numpy.abs(theirs).max(), 1e-30)
        worst = max(worst, float(apart) if numpy.isfinite(apart) else float("inf"))
    return worst
