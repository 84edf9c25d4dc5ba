#!/usr/bin/env python3
"""Random shapes within the ranges that models were compiled for: are the results eager's, and what does a new shape cost?

    ./dev shapes [--only TEXT] [--shapes N]

Every model of RANGES is compiled once, with ranges for the batch and, where it allows them, for height and width or the sequence length.
It is called with random shapes of the range, two passes over the same ones after that. A line per model:

    different   the largest difference from eager, relative to the largest value; with both sides' from float64 where that is what decides
    prepared    how often an engine was prepared for a shape, and how often again though none had had to go for want of room (0)
    kept        bytes of what engines keep for shapes, of their bound
    growth      of resident memory from the end of the second pass to the end of the third
    new shape   the median of the first calls of shapes, that in warm calls of the same shape, and the slowest of all
    steady      the geometric mean over the shapes of eager's time over the compiled module's
"""

import argparse
import gc
import os
import pathlib
import random
import re
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable

import torch

import catalog
import models
import settling
import torchtrt

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "python"))
import fallback  # noqa: E402 - of the tests, which compare in the same way

GROWTH = 8 << 20  # bytes of resident memory that are no growth, nor is 1%
WARM_CALLS = 3
NEIGHBOURS = 25  # inputs that differ by a hundred thousandth, by whose median errors from float64 is judged; 9 were too few for EfficientNet

# Sizes of every argument: numbers, or names of what varies, which are one size wherever they stand.
IMAGES = [("batch", 3, "height", "width")]
TEXTS = [("batch", "length"), ("batch", "length")]
BATCH = {"batch": (1, 2, 4)}
SIDES = {"height": (48, 64, 96), "width": (48, 64, 96)}
LENGTH = {"length": (3, 12, 64)}


def resnet50() -> catalog.Case:
    return catalog.traced(models.build("resnet50"), models.sample("resnet50"))


def unet() -> catalog.Case:
    return catalog.traced(settling.settle(models.UNet(8), catalog.noise(2, 3, 64, 64)), catalog.noise(2, 3, 64, 64))


# Gives, by model of catalog.py or function: sizes, the least, best and most of each range, and the divisor of its sizes.
RANGES: dict[str, tuple[list[tuple], dict[str, tuple[int, ...]], Callable[[], catalog.Case] | None]] = {
    **{name: (IMAGES, BATCH | SIDES, None) for name in [
        "resnet18, traced", "mobilenet_v2, traced", "mobilenet_v3_small, traced", "squeezenet1_1, traced", "shufflenet_v2_x0_5, traced",
        "regnet_y_400mf, traced", "efficientnet_b0, traced", "resnet10t of timm, traced",
        "convnext_atto of timm, traced", "lraspp, scripted"]},
    "resnet50, traced": (IMAGES, {"batch": (1, 1, 2), "height": (192, 224, 256), "width": (192, 224, 256)}, resnet50),
    "u-net, traced": (IMAGES, BATCH | {"height": (16, 64, 96, 4), "width": (16, 64, 96, 4)}, unet),
    "lenet, scripted": ([("batch", 1, 32, 32)], {"batch": (1, 8, 64)}, None),
    "vision transformer, scripted": ([("batch", 3, 32, 32)], {"batch": (1, 4, 32)}, None),
    **{name: (TEXTS, BATCH | LENGTH, None) for name in ["bert, traced", "electra, traced", "distilbert, traced", "minilm, traced"]},
    "lstm, scripted": ([("batch", "length", 8)], BATCH | LENGTH, None),
    "transformer encoder, scripted": ([("batch", "length", 32)], BATCH | LENGTH, None),
}


class Sweep:
    """One model, compiled for its ranges."""

    def __init__(self, name: str, seed: int):
        self.sizes, self.ranges, make = RANGES[name]
        torch.manual_seed(0)
        self.case = make() if make else catalog.make(name)
        self.chance = random.Random(f"{name} {seed}")
        with torchtrt.logging.errors():
            self.compiled = torchtrt.compile(self.case.script, inputs=self._inputs())

    def _inputs(self) -> list[torchtrt.Input]:
        def shape(sizes, which):
            return [size if isinstance(size, int) else self.ranges[size][which] for size in sizes]

        return [torchtrt.Input(
            min_shape=shape(sizes, 0), opt_shape=shape(sizes, 1), max_shape=shape(sizes, 2), dtype=example.dtype,
            shared_dims={i: size for i, size in enumerate(sizes) if isinstance(size, str)})
            for sizes, example in zip(self.sizes, self.case.calls[0])]

    def arguments(self) -> list[torch.Tensor]:
        """Returns arguments of a random shape. Least and most are as likely as any other size."""
        drawn = {}
        for name, (least, _, most, *multiple) in self.ranges.items():
            step = multiple[0] if multiple else 1
            drawn[name] = self.chance.randrange(least, most + 1, step)
        generator = torch.Generator().manual_seed(self.chance.getrandbits(32))
        given = []
        for sizes, example in zip(self.sizes, self.case.calls[0]):
            shape = [size if isinstance(size, int) else drawn[size] for size in sizes]
            if example.is_floating_point():
                given.append(torch.randn(shape, generator=generator))
            elif int(example.max()) == 1:  # a mask: each text has a length of its own
                lengths = torch.randint(1, shape[1] + 1, (shape[0], 1), generator=generator)
                given.append((torch.arange(shape[1]) < lengths).to(example.dtype))
            else:
                given.append(torch.randint(5, 90, shape, generator=generator))
        return given


class Prepared:
    """Reads how often engines are prepared for shapes from what they tell on stderr while this is entered."""

    LINE = re.compile(r"engine (\S+) is prepared for (.*): (\d+) kept, (\d+) of (\d+) bytes")

    def __init__(self):
        self.made: dict[tuple[str, str], int] = {}
        self.kept: dict[str, int] = {}  # shapes, of an engine
        self.bytes: dict[str, int] = {}
        self.limit = 0
        self.again = 0  # though all that were made before are still kept
        self.refused: list[str] = []  # shapes that an engine left to PyTorch

    def __enter__(self):
        self._file = tempfile.TemporaryFile()
        sys.stderr.flush()
        self._stderr = os.dup(2)
        os.dup2(self._file.fileno(), 2)
        self._level = torchtrt.logging.debug()
        self._level.__enter__()
        return self

    def __exit__(self, *error):
        self._level.__exit__(*error)
        os.dup2(self._stderr, 2)
        os.close(self._stderr)
        self._file.seek(0)
        told = self._file.read().decode(errors="replace")
        self.refused += [line for line in told.splitlines() if "PyTorch runs what an engine was not made for" in line]
        for engine, shapes, kept, size, limit in self.LINE.findall(told):
            key = (engine, shapes)
            if key in self.made and self.kept[engine] == sum(each == engine for each, _ in self.made):
                self.again += 1
            self.made[key] = self.made.get(key, 0) + 1
            self.kept[engine], self.bytes[engine], self.limit = int(kept), int(size), int(limit)
        self._file.close()


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def resident() -> int:
    """Bytes."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def seconds(call: Callable, arguments) -> float:
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def neighbour(arguments, seed: int) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    return tuple(each * (1 + 1e-5 * torch.randn(each.shape, generator=generator)) if each.is_floating_point() else each for each in arguments)


def difference(sweep: Sweep, arguments) -> tuple[float, bool, str]:
    """The largest from eager's results, whether that is allowed, and both sides' from float64 where it had to be asked. Models that amplify
    rounding give one input an error of luck on either side, up to ten times as large as an input beside it: where ours looks too large, the
    medians over some inputs are compared."""
    worst = fallback.difference(sweep.compiled(*arguments), sweep.case.reference(*arguments))
    if worst <= fallback.tolerance(sweep.case) or worst >= 1:
        return worst, worst < 1, ""

    def errors(given):
        return fallback.errors(catalog.Case(sweep.case.script, [given], sweep.case.reference), sweep.compiled)

    ours, eagers = errors(tuple(arguments))
    if ours > fallback.EQUALLY_FAR * eagers:
        ours, eagers = map(statistics.median, zip(*[errors(neighbour(arguments, seed)) for seed in range(NEIGHBOURS)]))
    return worst, ours <= fallback.EQUALLY_FAR * eagers, f"; from float64 {ours:.1e}, eager's {eagers:.1e}"


@torch.inference_mode()
def measure(name: str, shapes: int, seed: int) -> tuple[list[str], bool]:
    """The cells of a line, and whether all is as it should be."""
    sweep = Sweep(name, seed)
    calls = [sweep.arguments() for _ in range(shapes)]
    prepared = Prepared()
    worst, judged, is_right = 0.0, "", True
    first_calls, costs, speedups, seen = [], [], [], set()
    for index, call in enumerate(calls):
        progress(f"{name}: shape {index + 1} of {shapes}")
        with prepared:
            first = seconds(sweep.compiled, call)
        warm = statistics.median(seconds(sweep.compiled, call) for _ in range(WARM_CALLS))
        sweep.case.reference(*call)
        speedups.append(statistics.median(seconds(sweep.case.reference, call) for _ in range(WARM_CALLS)) / warm)
        shape = tuple(argument.shape for argument in call)
        if shape not in seen and index > 0:  # the first call of all makes threads and memory
            first_calls.append(first)
            costs.append(first / warm)
        seen.add(shape)
        apart, is_allowed, how = difference(sweep, call)
        if apart >= worst:
            worst, judged = apart, how
        is_right = is_right and is_allowed
    progress("")
    memory = []
    for _ in range(2):
        with prepared:
            for call in calls:
                sweep.compiled(*call)
        gc.collect()
        memory.append(resident())
    growth = memory[1] - memory[0]
    is_flat = growth <= max(GROWTH, memory[0] // 100)
    report = torchtrt.report(sweep.compiled)
    cells = [
        name, ", ".join(f"{key} {least}..{most}" for key, (least, _, most, *_) in sweep.ranges.items()),
        f"{len(seen)}", f"{report.engine_segments} + {report.torch_segments}", f"{worst:.1e}{judged}",
        f"{sum(prepared.made.values())}, {prepared.again} again",
        f"{sum(prepared.bytes.values()) / 2**20:.1f} of {prepared.limit * max(1, len(prepared.bytes)) / 2**20:.0f} MB",
        f"{growth / 2**20:+.1f} MB",
        f"{statistics.median(first_calls) * 1e3:.1f} ms, {statistics.median(costs):.1f}x, slowest {max(first_calls) * 1e3:.1f} ms",
        f"{statistics.geometric_mean(speedups):.2f}x",
    ]
    for line in prepared.refused:
        print(f"{name}: {line}", file=sys.stderr)
    return cells, is_right and is_flat and prepared.again == 0 and not prepared.refused


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="models whose name contains this")
    parser.add_argument("--shapes", type=int, default=100, metavar="N", help="random shapes of each model (100)")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    header = ["model", "range", "shapes", "engines + PyTorch", "different", "prepared", "kept", "growth", "new shape", "steady"]
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    failed = []
    for name in RANGES:
        if options.only not in name:
            continue
        try:
            cells, is_right = measure(name, options.shapes, options.seed)
        except Exception as error:  # noqa: BLE001 - a model that fails is a line of the table, and the exit code
            cells, is_right = [name, f"{type(error).__name__}: {str(error).strip().splitlines()[-1][:160]}"], False
        print("| " + " | ".join(cells) + " |", flush=True)
        if not is_right:
            failed.append(name)
        gc.collect()
    if failed:
        print("\nfailed: " + "; ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
