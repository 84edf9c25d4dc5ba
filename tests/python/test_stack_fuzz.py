"""Random stacks of layers against eager PyTorch.

A few run by default, `--stack-seeds N` runs others; tests/python/stack_fuzz.py runs thousands and shrinks failures. A stack in which no
engine ran shows nothing, so it is not counted.
"""

import collections

import pytest
import torch

import random_stacks
import stack_fuzz

KEPT = sorted(stack_fuzz.KEPT.glob("*.json"))
ENOUGH = 0.8  # of the stacks must run engines


@pytest.mark.parametrize("path", KEPT, ids=[path.stem for path in KEPT])
def test_what_once_failed_agrees(path):
    assert stack_fuzz.outcome(stack_fuzz.load(path)) == ("ran", "")


def test_random_stacks_agree(request):
    seeds = request.config.getoption("--stack-seeds")
    counts = collections.Counter()
    failures = []
    for seed in range(seeds):
        stack = random_stacks.Generator(seed).stack()
        kind, text = stack_fuzz.outcome(stack)
        counts[kind] += 1
        if kind not in stack_fuzz.FINE:
            failures.append(f"seed {seed}: {kind}: {text}\n{stack}")
    print(dict(counts))
    assert not failures, f"{len(failures)} of {seeds} fail; python tests/python/stack_fuzz.py shrinks them\n" + failures[0]
    assert counts["ran"] >= ENOUGH * seeds, counts


# The comparison itself must be able to fail.
@pytest.mark.parametrize("actual, expected", [
    (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.001])),
    (torch.tensor([1.0, float("nan")]), torch.tensor([1.0, 2.0])),
    (torch.tensor([1.0]), torch.tensor([1.0], dtype=torch.float64)),
    (torch.tensor([1.0]), torch.tensor([[1.0]])),
    (torch.tensor([1]), torch.tensor([2])),
], ids=str)
def test_what_differs_is_seen(actual, expected):
    assert stack_fuzz.difference(actual, expected, expected.double())
    assert not stack_fuzz.difference(expected, expected, expected.double())


def test_a_failure_is_shrunk_to_what_fails():
    stack = random_stacks.Generator(3).stack()
    stack.steps = [{"op": "relu"}, {"op": "cat", "with": [1, 1], "dim": 1}, {"op": "tanh"}, {"op": "add", "with": 3}]
    less = stack_fuzz.shrink(stack, "bad", lambda each: ("bad" if any(step["op"] == "cat" for step in each.steps) else "ran", ""))
    assert [step["op"] for step in less.steps] == ["cat"] and max(less.steps[0]["with"]) == 0
    assert set(less.shape[:1] + less.shape[2:]) == {1} and less.layout == "dense" and not less.is_dynamic
