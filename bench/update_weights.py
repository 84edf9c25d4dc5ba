#!/usr/bin/env python3
"""Measures what other weights cost a compiled module: a fresh compile and torchtrt.update_weights in turns, and a call with and without
`refit`.

    python bench/update_weights.py [--models resnet50,bert_base] [--rounds 3]

Results of the update and of the compile are compared: they have to be equal.
"""

import argparse
import copy
import io
import statistics
import sys
import time

import models
import table
import timing
import torch

import torchtrt


def other_weights(module: torch.nn.Module, seed: int) -> torch.nn.Module:
    """A copy whose parameters are a little different."""
    other = copy.deepcopy(module)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.mul_(1 + 0.01 * torch.randn(parameter.shape, generator=generator))
    return other


def seconds_of(call) -> tuple[float, object]:
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def megabytes(module) -> float:
    file = io.BytesIO()
    torch.jit.save(module, file)
    return len(file.getvalue()) / 1e6


def tensors_of(result) -> list[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        return [result]
    values = result.values() if isinstance(result, dict) else result
    return [tensor for value in values for tensor in tensors_of(value)]


def measure(name: str, rounds: int) -> list[str]:
    module, sample = models.build(name), models.sample(name)
    plain = torchtrt.compile(module, inputs=[sample])
    updatable = torchtrt.compile(module, inputs=[sample], refit=True)
    compiles, updates, equal = [], [], True
    for index in range(rounds):
        other = other_weights(module, index)
        seconds, fresh = seconds_of(lambda other=other: torchtrt.compile(other, inputs=[sample]))
        compiles.append(seconds)
        updates.append(seconds_of(lambda other=other: torchtrt.update_weights(updatable, other))[0])
        pairs = zip(tensors_of(fresh(sample)), tensors_of(updatable(sample)), strict=True)
        equal = equal and all(torch.equal(a, b) for a, b in pairs)
    calls = timing.in_turn({"plain": lambda: plain(sample), "refit": lambda: updatable(sample)})
    ratio = statistics.median(updates) / statistics.median(compiles)
    return [name, f"{statistics.median(compiles):.2f}", f"{statistics.median(updates):.2f}", f"{ratio:.2f}", "yes" if equal else "NO",
            f"{megabytes(plain):.1f}", f"{megabytes(updatable):.1f}", f"{calls['plain'].median:.3f}", f"{calls['refit'].median:.3f}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="lenet,mobilenet_v3_large,resnet50,bert_base")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows = []
    with torchtrt.logging.errors(), torch.no_grad():
        for name in options.models.split(","):
            print(f"{name} ...", file=sys.stderr, flush=True)
            rows.append(measure(name, options.rounds))
    print(table.render(["model", "compile s", "update s", "ratio", "equal", "file MB", "with refit", "call ms", "with refit"], rows))
    return 0 if all(row[4] == "yes" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
