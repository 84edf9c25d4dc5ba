"""Runs random stacks of layers compiled and in eager PyTorch, compares, and makes failing ones smaller.

    python tests/python/stack_fuzz.py --seeds 20000 --jobs 16            # failures are shrunk and kept
    python tests/python/stack_fuzz.py --start 17 --seeds 1 -v

Stacks run in worker processes, a crash of which is a finding, too. A failure is written to tests/python/fuzz_stacks/ as JSON;
test_stack_fuzz.py runs every file there.
"""

import argparse
import collections
import copy
import dataclasses
import json
import os
import pathlib
import re
import signal
import sys
import time
import traceback
import warnings

os.environ.setdefault("TORCHTRT_STRICT", "1")

import torch  # noqa: E402: after the environment

import torchtrt  # noqa: E402
from random_stacks import Generator, Stack, StackModule  # noqa: E402

KEPT = pathlib.Path(__file__).parent / "fuzz_stacks"
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-7, torch.float16: 2e-2, torch.bfloat16: 2e-2, torch.int64: 0}
# The engine may be this much farther from float64 than eager PyTorch where they disagree. Rounding is a matter of chance where few values
# are normalized, so most of several inputs must disagree.
ROUNDING_FACTOR = 8
ATTEMPTS = 3
FINE = ("ran", "no engine", "invalid")
TIMEOUT_S = 120  # of a stack


class Different(Exception):
    """The compiled stack gave something else than eager PyTorch."""


class Invalid(Exception):
    """The stack is none: PyTorch itself refuses it."""


def shapes_of(stack: Stack) -> list[list[int]]:
    """Those that the compiled module is called with."""
    if not stack.is_dynamic:
        return [stack.shape]
    return [stack.shape, [3, stack.shape[1], *[1] * stack.spatial], [1, stack.shape[1], *(size + 3 for size in stack.shape[2:])],
            [2, stack.shape[1], *(size + i % 2 for i, size in enumerate(stack.shape[2:]))]]


def input_of(stack: Stack):
    dtype = getattr(torch, stack.dtype)
    if not stack.is_dynamic:
        return torchtrt.Input(stack.shape, dtype=dtype)
    channels = stack.shape[1]
    return torchtrt.Input(min_shape=[1, channels, *[1] * stack.spatial], opt_shape=stack.shape,
                          max_shape=[4, channels, *(size + 4 for size in stack.shape[2:])], dtype=dtype)


def draw(stack: Stack, shape: list[int], seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(shape, generator=generator, dtype=torch.float64)
    return (x * 4).round().to(torch.int64) if stack.dtype == "int64" else x.to(getattr(torch, stack.dtype))


def laid_out(x: torch.Tensor, layout: str) -> torch.Tensor:
    """The same values with other strides."""
    if layout == "channels_last":
        order = [0, *range(2, x.dim()), 1]
        return x.permute(order).contiguous().permute([0, x.dim() - 1, *range(1, x.dim() - 1)])
    if layout == "crosswise":
        return x.transpose(-1, -2).contiguous().transpose(-1, -2)
    if layout == "part":
        larger = torch.full([x.shape[0] + 1, *(size + 1 for size in x.shape[1:])], 77, dtype=x.dtype)
        part = larger[tuple(slice(0, size) for size in x.shape)]
        return part.copy_(x)
    return x


def difference(actual, expected, exact) -> str:
    """Empty if they agree: within the tolerance of each other, or about as far from float64."""
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return f"{actual.dtype} {list(actual.shape)} instead of {expected.dtype} {list(expected.shape)}"
    if not expected.is_floating_point():
        return "" if torch.equal(actual, expected) else "other integers"
    finite = expected.isfinite() & exact.isfinite()
    if not torch.equal(actual.isfinite()[finite], torch.ones_like(finite)[finite]):
        return "values that are not finite"
    if not finite.any():
        return ""
    ours, theirs, true = (each.double()[finite] for each in (actual, expected, exact))
    largest = max(theirs.abs().max().item(), 1e-3)
    apart = (ours - theirs).abs().max().item()
    if apart <= TOLERANCE[expected.dtype] * largest:
        return ""
    error, allowed = (ours - true).abs().max().item(), (theirs - true).abs().max().item()
    if error <= ROUNDING_FACTOR * allowed:
        return ""
    return f"{apart / largest:.2g} of the largest value apart; from float64 {error:.2g}, PyTorch {allowed:.2g}"


def eager(module, x):
    try:
        return module(x)
    except Exception as error:
        raise Invalid(str(error).splitlines()[0]) from error


def compile_stack(stack: Stack, module):
    with warnings.catch_warnings(), torchtrt.logging.errors():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(module, draw(stack, stack.shape, 0), check_trace=False)
        return torchtrt.compile(traced, inputs=[input_of(stack)], min_block_size=1)


@torch.no_grad()
def run(stack: Stack) -> bool:
    """Compiles and compares; whether an engine ran. Raises Invalid, Different, or what the compiler raised."""
    dtype = getattr(torch, stack.dtype)
    exact_type = torch.float64 if dtype.is_floating_point else dtype
    exact_module = StackModule(stack).of_type(exact_type).eval()
    module = copy.deepcopy(exact_module).of_type(dtype)
    eager(module, draw(stack, stack.shape, 0))
    compiled = compile_stack(stack, module)
    for shape in shapes_of(stack):
        found = []
        for attempt in range(ATTEMPTS):
            x = draw(stack, shape, 1000 + attempt)
            try:
                expected, exact = eager(module, laid_out(x, stack.layout)), eager(exact_module, x.to(exact_type))
            except Invalid:
                if shape == stack.shape:
                    raise
                break
            found.append(difference(compiled(laid_out(x, stack.layout)), expected, exact))
            if not found[-1]:
                break
        if len(found) == ATTEMPTS and all(found):
            raise Different(f"shape {shape}: {found[0]}")
    return torchtrt.report(compiled).engine_segments > 0


def kind_of(error: BaseException) -> str:
    code = re.search(r"\[[CEI]\d{3}\]", str(error))
    return type(error).__name__ + (code.group() if code else "")


def outcome(stack: Stack) -> tuple[str, str]:
    """("ran" or "no engine" or "invalid" or a failure's kind, text)."""
    try:
        return ("ran" if run(stack) else "no engine"), ""
    except Invalid as error:
        return "invalid", str(error)
    except Exception as error:  # noqa: BLE001: every failure of the compiler is a finding
        return kind_of(error), str(error) if isinstance(error, (Different, torchtrt.CompileError)) else traceback.format_exc(limit=-3)


class Worker:
    """A forked process that runs stacks one after the other and writes a line for each, until it ends or crashes."""

    def __init__(self, stacks):
        reader, writer = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            try:
                os.close(reader)
                with os.fdopen(writer, "w") as pipe:
                    for stack in stacks:
                        signal.alarm(TIMEOUT_S)
                        print(json.dumps(outcome(stack)), file=pipe, flush=True)
                os._exit(0)
            finally:  # a fault of this script's must not run on as another parent
                os._exit(1)
        os.close(writer)
        self.pipe = os.fdopen(reader)

    def answers(self):
        """Yields the outcomes that it got to; the last is a crash if it did not end by itself."""
        for line in self.pipe:
            yield tuple(json.loads(line))
        self.pipe.close()
        status = os.waitpid(self.process, 0)[1]
        if status != 0:
            yield "crash", f"wait status {status}"


def isolated(stack: Stack) -> tuple[str, str]:
    """outcome() in a process of its own, where a crash is an outcome, too."""
    return next(Worker([stack]).answers())


def without(steps: list[dict], i: int) -> list[dict]:
    """Returns the steps without step i, whose readers read what it read."""
    def moved(k):
        return k - 1 if k > i else k
    less = copy.deepcopy(steps[:i] + steps[i + 1:])
    for step in less[i:]:
        if isinstance(step.get("with"), int):
            step["with"] = moved(step["with"])
        elif "with" in step:
            step["with"] = [moved(k) for k in step["with"]]
    return less


def smaller(stack: Stack):
    for i in range(len(stack.steps)):
        yield dataclasses.replace(stack, steps=without(stack.steps, i))
    for change in ({"is_dynamic": False}, {"layout": "dense"}, {"dtype": "float32"}):
        if any(getattr(stack, name) != value for name, value in change.items()):
            yield dataclasses.replace(stack, **change)
    for axis, size in enumerate(stack.shape):
        if size > 1 and axis != 1:
            yield dataclasses.replace(stack, shape=[*stack.shape[:axis], size - 1, *stack.shape[axis + 1:]])
    for i, step in enumerate(stack.steps):
        for name, plain in (("bias", False), ("affine", False), ("ceil", False)):
            if step.get(name, plain) != plain:
                yield with_step(stack, i, name, plain)
        for name, plain in (("stride", 1), ("dilation", 1), ("padding", 0), ("output_padding", 0), ("kernel", 1)):
            for k, value in enumerate(step.get(name, [])):
                if value > plain:
                    yield with_step(stack, i, name, [*step[name][:k], value - 1, *step[name][k + 1:]])


def with_step(stack: Stack, i: int, name: str, value) -> Stack:
    return dataclasses.replace(stack, steps=[*stack.steps[:i], {**stack.steps[i], name: value}, *stack.steps[i + 1:]])


def shrink(stack: Stack, kind: str, judge=isolated) -> Stack:
    """Applies every smaller form that fails in the same way, until there is none."""
    again = True
    while again:
        again = False
        for less in smaller(stack):
            if judge(less)[0] == kind:
                stack, again = less, True
                break
    return stack


def keep(stack: Stack) -> pathlib.Path:
    KEPT.mkdir(exist_ok=True)
    path = KEPT / f"seed_{stack.seed}.json"
    path.write_text(json.dumps(dataclasses.asdict(stack)) + "\n", encoding="utf-8")
    return path


def load(path: pathlib.Path) -> Stack:
    return Stack(**json.loads(path.read_text(encoding="utf-8")))


def stacks_of(seeds):
    for seed in seeds:
        yield Generator(seed).stack()


def run_seeds(seeds: list[int], options) -> collections.Counter:
    """Runs them in workers, one after a crash, and prints and keeps what fails."""
    counts = collections.Counter()
    while seeds:
        done = 0
        for kind, text in Worker(stacks_of(seeds)).answers():
            seed = seeds[done]
            done += 1
            counts[kind] += 1
            if options.verbose:
                print(f"seed {seed}: {kind} {text}\n{Generator(seed).stack()}", flush=True)
            if kind in FINE:
                continue
            stack = Generator(seed).stack()
            print(f"seed {seed}: {kind}: {text.strip()[:1500]}\n{stack}", flush=True)
            if not options.no_shrink:
                stack = shrink(stack, kind)
                print(f"seed {seed}: {isolated(stack)[1].strip()[:1500]}\n{stack}\nkept in {keep(stack)}", flush=True)
        seeds = seeds[done:]
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1000, help="how many")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every stack")
    options = parser.parse_args()
    torch.set_num_threads(1)  # a process that forks keeps no team of threads
    start = time.monotonic()
    pipes = []
    for job in range(options.jobs):
        reader, writer = os.pipe()
        if os.fork() == 0:
            try:
                os.close(reader)
                counts = run_seeds(list(range(options.start + job, options.start + options.seeds, options.jobs)), options)
                with os.fdopen(writer, "w") as pipe:
                    json.dump(counts, pipe)
            except BaseException:  # noqa: BLE001: the parent says that the job is lost
                traceback.print_exc()
            finally:
                os._exit(0)
        os.close(writer)
        pipes.append(reader)
    counts = collections.Counter()
    for reader in pipes:
        with os.fdopen(reader) as pipe:
            counts += collections.Counter(json.loads(pipe.read() or '{"lost job": 1}'))
    print(", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())) + f" in {time.monotonic() - start:.0f} s")
    return 0 if counts.keys() <= set(FINE) else 1


if __name__ == "__main__":
    sys.exit(main())
