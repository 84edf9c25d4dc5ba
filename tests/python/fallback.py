"""Compiles the catalog's models with chosen operators kept in PyTorch and compares: what test_fallback.py and bench/coverage.py share."""

import copy
import random
import re

import torch
from torch import Tensor

import torchtrt
from catalog import Case

EQUALLY_FAR = 1.5  # from float64, with some room for the luck of one input
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-7, torch.float16: 2e-2, torch.bfloat16: 2e-2}


def tensors(value) -> list:
    """The tensors and numbers of nested collections, in order."""
    if isinstance(value, dict):
        return [part for key in value for part in tensors(value[key])]
    if isinstance(value, (tuple, list)):
        return [part for each in value for part in tensors(each)]
    return [] if value is None else [value]


def operators_of(script) -> list[str]:
    graph = script.graph.copy()
    with torch.jit.optimized_execution(True):  # without it, calls within what was called stay calls
        torch._C._jit_pass_inline(graph)
    return sorted(set(re.findall(r"(aten::\w+)", str(graph))))


def chosen_operators(script, seed: int) -> list[str]:
    chance = random.Random(seed)
    share = chance.choice([0.05, 0.15, 0.4])
    return [name for name in operators_of(script) if chance.random() < share]


def inputs_of(case: Case) -> list:
    """One Input per tensor argument, over the sizes that the calls give; a list of tensors gets one, of all its elements' sizes."""
    given = []
    for position, first in enumerate(case.calls[0]):
        seen = [call[position] for call in case.calls if position < len(call)]
        if isinstance(first, list):
            seen = [element for each in seen for element in each]
        if isinstance(seen[0], Tensor):
            sizes = [list(each.shape) for each in seen]
            low, high = [min(size) for size in zip(*sizes)], [max(size) for size in zip(*sizes)]
            given.append(torchtrt.Input(min_shape=low, opt_shape=sizes[0], max_shape=high, dtype=seen[0].dtype))
    return given


def compile_case(case: Case, **options):
    with torchtrt.logging.errors():
        return torchtrt.compile(case.script, inputs=inputs_of(case), **options)


def tolerance(case: Case) -> float:
    """Returns the tolerance, as a share of each result's largest value, for the widest of the model's floating dtypes."""
    held = {each.dtype for each in case.script.parameters()} & TOLERANCE.keys()
    return max((TOLERANCE[dtype] for dtype in held), default=TOLERANCE[torch.float32])


def difference(actual, expected) -> float:
    """The largest difference of floating values, of the largest in their tensor. Infinite where anything exact differs."""
    ours, theirs = tensors(actual), tensors(expected)
    if len(ours) != len(theirs):
        return float("inf")
    worst = 0.0
    for one, other in zip(ours, theirs):
        if not isinstance(other, Tensor):
            if one != other:
                return float("inf")
            continue
        if one.dtype != other.dtype or one.shape != other.shape:
            return float("inf")
        if not other.is_floating_point():
            if not torch.equal(one, other):
                return float("inf")
        elif other.numel():
            if not torch.equal(one.isfinite(), other.isfinite()):
                return float("inf")
            one, other = one.nan_to_num(0, 0, 0), other.nan_to_num(0, 0, 0)
            worst = max(worst, ((one - other).abs().max() / other.abs().max().clamp_min(1e-6)).item())
    return worst


def _doubled(value):
    """Returns the tensors of the value, floating ones in float64."""
    return [each.double() if isinstance(each, Tensor) and each.is_floating_point() else each for each in tensors(value)]


@torch.inference_mode()
def errors(case: Case, compiled) -> tuple[float, float]:
    """Returns how far the compiled module and eager PyTorch are from the same in float64. This judges deep untrained models, which amplify
    rounding beyond the tolerance on both sides."""
    ours = theirs = 0.0
    exactly = copy.deepcopy(case.reference).double()
    for call in case.calls:
        exact = _doubled(exactly(*[each.double() if isinstance(each, Tensor) and each.is_floating_point() else each for each in call]))
        ours = max(ours, difference(_doubled(compiled(*call)), exact))
        theirs = max(theirs, difference(_doubled(case.reference(*call)), exact))
    return ours, theirs


@torch.inference_mode()
def expected_of(case: Case) -> list:
    return [case.reference(*call) for call in case.calls]


@torch.inference_mode()
def compare(case: Case, compiled, expected: list | None = None) -> tuple[float, bool]:
    """The largest difference over the calls, and whether an engine ran."""
    expected = expected_of(case) if expected is None else expected
    worst = max(difference(compiled(*call), result) for call, result in zip(case.calls, expected, strict=True))
    with torch.autograd.profiler.profile(use_kineto=False) as profile:
        compiled(*case.calls[0])
    return worst, any(event.name == "tensorrt::execute_engine" for event in profile.function_events)
