#!/usr/bin/env python3
"""Measures what batch_invariant=True costs: calls with and without it in turns, warm, medians, and the layers that run otherwise.

    python bench/batch_invariance.py [--models resnet50,bert_base] [--batches 1,8] [--dtypes float32,bfloat16] [--rounds 30]

Rows of the batch are compared with single runs first: with the option they have to be equal.
"""

import argparse
import statistics
import time

import models
import table
import torch

import torchtrt


def compiled(module, inputs: tuple, dtype: torch.dtype, asked: bool):
    specs = [torchtrt.Input(list(x.shape), dtype=x.dtype) for x in inputs]
    return torchtrt.compile(module, inputs=specs, op_precision=dtype, batch_invariant=asked, check_results=False)


def tensors_of(result) -> list[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        return [result]
    values = result.values() if isinstance(result, dict) else result
    return [tensor for value in values for tensor in tensors_of(value)]


def seconds_of(run, inputs: tuple) -> float:
    begin = time.perf_counter()
    run(*inputs)
    return time.perf_counter() - begin


def has_equal_rows(run, alone, inputs: tuple) -> bool:
    together = tensors_of(run(*inputs))
    for row in {0, len(inputs[0]) - 1}:
        single = tensors_of(alone(*(x[row : row + 1].contiguous() for x in inputs)))
        if not all(torch.equal(a[0], b[row]) for a, b in zip(single, together, strict=True)):
            return False
    return True


def measure(name: str, batch: int, dtype: torch.dtype, rounds: int) -> list[str]:
    module, inputs = models.build(name), models.arguments(name, batch)
    plain, invariant = (compiled(module, inputs, dtype, asked) for asked in (False, True))
    equal = has_equal_rows(invariant, compiled(module, tuple(x[:1] for x in inputs), dtype, True), inputs)
    times = [(seconds_of(plain, inputs), seconds_of(invariant, inputs)) for _ in range(rounds + 3)][3:]
    before, after = (statistics.median(column) * 1e3 for column in zip(*times))
    ratio = statistics.median(b / a for a, b in times)
    steps = sum(len(segment.invariant) for segment in torchtrt.report(invariant).segments)
    return [name, str(batch), str(dtype).removeprefix("torch."), f"{before:.2f}", f"{after:.2f}", f"{ratio:.2f}", str(steps), "yes" if equal else "NO"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="resnet50,bert_base")
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--dtypes", default="float32,bfloat16")
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    rows = []
    with torch.inference_mode(), torchtrt.logging.errors():
        for name in options.models.split(","):
            for dtype in options.dtypes.split(","):
                for batch in options.batches.split(","):
                    rows.append(measure(name, int(batch), getattr(torch, dtype), options.rounds))
    header = ["model", "batch", "dtype", "ms", "ms, invariant", "ratio", "steps otherwise", "rows equal"]
    print(f"{torch.get_num_threads()} threads, medians of {options.rounds} calls in turns")
    print(table.render(header, rows))


if __name__ == "__main__":
    main()
