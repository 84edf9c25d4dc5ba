"""Random TorchScript programs, compiled with random operators kept in PyTorch, against the interpreter.

A few hundred seeds run by default, `--fuzz-seeds N` runs others; tests/python/program_fuzz.py runs thousands and shrinks failures. A
program in which no engine ran shows nothing, so it is not counted.
"""

import collections

import pytest
import torch

import program_fuzz
import random_programs

KEPT = sorted(program_fuzz.KEPT.glob("*.txt"))
ENOUGH = 0.5  # of the programs must run engines


@pytest.mark.parametrize("path", KEPT, ids=[path.stem for path in KEPT])
def test_what_once_failed_runs_as_interpreted(path):
    assert program_fuzz.outcome(*program_fuzz.load(path)) in [("ran", ""), ("no engine", "")]


def test_random_programs_run_as_interpreted(request):
    seeds = request.config.getoption("--fuzz-seeds")
    counts = collections.Counter()
    failures = []
    for seed in range(seeds):
        program = random_programs.Generator(seed).program()
        settings = program_fuzz.settings_for(program, seed)
        kind, text = program_fuzz.outcome(program.source(), settings)
        counts[kind] += 1
        if kind not in ("ran", "no engine", "invalid"):
            failures.append(f"seed {seed}: {kind}: {text}\n{program.source()}{settings}")
    print(dict(counts))
    assert not failures, f"{len(failures)} of {seeds} fail; python tests/python/program_fuzz.py shrinks them\n" + failures[0]
    assert counts["ran"] >= ENOUGH * seeds, counts


# The comparison itself must be able to fail.
@pytest.mark.parametrize("actual, expected", [
    (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.001])),
    (torch.tensor([1.0, float("nan")]), torch.tensor([float("nan"), 1.0])),
    (torch.tensor([1.0, float("inf")]), torch.tensor([1.0, float("-inf")])),
    (torch.tensor([1.0]), torch.tensor([1.0], dtype=torch.float64)),
    (torch.tensor([1.0]), torch.tensor([[1.0]])),
    (torch.tensor([1]), torch.tensor([2])),
    (1, 2), (1, 1.0), (True, False),
], ids=str)
def test_what_differs_is_seen(actual, expected):
    assert not program_fuzz.equal(actual, expected, None)
    assert program_fuzz.equal(expected, expected, None)
