"""Runs random programs compiled and interpreted, compares, and makes failing ones smaller.

    python tests/python/program_fuzz.py --seeds 2000            # each in a process of its own; failures are shrunk and kept
    python tests/python/program_fuzz.py --first 17 --seeds 1 -v

A failure is written to tests/python/fuzz_programs/ as the program's text under a line that says how it was compiled;
test_program_fuzz.py runs every file there.
"""

import argparse
import copy
import dataclasses
import json
import os
import pathlib
import random
import re
import sys
import traceback

import torch
from torch import Tensor, nn

import random_programs
import torchtrt
from random_programs import Compound, Program

KEPT = pathlib.Path(__file__).parent / "fuzz_programs"
BATCHES = (2, 1, 4)
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-7}
# The engine may be this much farther from float64 than eager float32 where they disagree.
ROUNDING_FACTOR = 8


@dataclasses.dataclass
class Settings:
    """The settings of a program's compile."""

    dtype: str
    is_dynamic: bool
    torch_executed_ops: list[str]
    min_block_size: int | None


class Different(Exception):
    """The compiled program gave something else than the interpreter."""


class Invalid(Exception):
    """The program is none: it cannot be scripted, or the interpreter itself fails."""


def make_module(source: str, dtype: torch.dtype):
    """A module whose forward is given as text. Its class is made anew: a class's methods are compiled once."""

    class Holder(torch.jit.ScriptModule):
        def __init__(self):
            super().__init__()
            generator = torch.Generator().manual_seed(0)
            for name, shape in (("w", (3, 3)), ("v", (3,)), ("c", (3, 3, 3))):
                setattr(self, name, nn.Parameter(torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)))
            self.define(source)

    try:
        return Holder().eval()
    except Exception as error:
        raise Invalid(f"not TorchScript: {error}") from error


def arguments(batch: int, dtype: torch.dtype, number: int) -> list:
    generator = torch.Generator().manual_seed(100 * batch + number)
    floats = [torch.randn(batch, 3, generator=generator, dtype=torch.float64).to(dtype) for _ in range(2)]
    return [*floats, torch.randint(-4, 5, (batch, 3), generator=generator), number]


def operators_of(module) -> list[str]:
    graph = module.graph.copy()
    torch._C._jit_pass_inline(graph)
    return sorted(set(re.findall(r"(aten::\w+)", str(graph))))


def settings_for(program: Program, seed: int) -> Settings:
    chance = random.Random(seed)
    operators = operators_of(make_module(program.source(), getattr(torch, program.dtype)))
    share = chance.choice([0.0, 0.1, 0.3])
    return Settings(program.dtype, program.is_dynamic, [name for name in operators if chance.random() < share],
                    chance.choice([1, 1, 2, None]))


def compile_program(source: str, settings: Settings):
    module = make_module(source, getattr(torch, settings.dtype))
    dtype = getattr(torch, settings.dtype)

    def given(kind):
        if settings.is_dynamic:
            return torchtrt.Input(min_shape=[1, 3], opt_shape=[2, 3], max_shape=[4, 3], dtype=kind, shared_dims={0: "batch"})
        return torchtrt.Input([BATCHES[0], 3], dtype=kind)

    options = {"torch_executed_ops": settings.torch_executed_ops}
    if settings.min_block_size is not None:
        options["min_block_size"] = settings.min_block_size
    return module, torchtrt.compile(module, inputs=[given(dtype), given(dtype), given(torch.int64)], **options)


def flat(value) -> list:
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *(part for each in value for part in flat(each))]
    return [value]


def close(actual: Tensor, expected: Tensor, tolerance: float) -> bool:
    """True if all is exact except finite floating values, which may be `tolerance` of the largest apart."""
    if not expected.is_floating_point():
        return torch.equal(actual, expected)
    finite = expected.isfinite()
    if not torch.equal(finite, actual.isfinite()) or not torch.equal(actual[~finite].nan_to_num(), expected[~finite].nan_to_num()):
        return False
    if not finite.any():
        return True
    return (actual - expected)[finite].abs().max().item() <= tolerance * max(expected[finite].abs().max().item(), 1e-3)


def equal(actual, expected, exact) -> bool:
    """Compares one value. `exact` is the same computed in float64, None where it has already been."""
    if type(actual) is not type(expected):
        return False
    if isinstance(expected, float):
        actual, expected = torch.tensor(actual, dtype=torch.float64), torch.tensor(expected, dtype=torch.float64)
        tolerance = TOLERANCE[torch.float32] if exact is not None else TOLERANCE[torch.float64]
        return close(actual, expected, tolerance)
    if not isinstance(expected, Tensor):
        return actual == expected
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return False
    if close(actual, expected, TOLERANCE.get(expected.dtype, 0)):
        return True
    if not isinstance(exact, Tensor) or not expected.is_floating_point() or exact.shape != expected.shape:
        return False
    error, allowed = ((each.double() - exact).abs().max().item() for each in (actual, expected))
    return error <= ROUNDING_FACTOR * allowed


def describe(value) -> str:
    return f"{value.dtype} {list(value.shape)} {value.flatten()[:8].tolist()}" if isinstance(value, Tensor) else repr(value)


def interpreted(module, given):
    try:
        with torch.jit.optimized_execution(False):
            return flat(module(*given))
    except Exception as error:
        raise Invalid(f"the interpreter fails: {str(error).splitlines()[-1]}") from error


def check_call(module, twin, compiled, settings: Settings, batch: int, number: int) -> None:
    """One call of both, and of the float64 twin; also compares what became of the arguments."""
    dtype = getattr(torch, settings.dtype)
    given, theirs = arguments(batch, dtype, number), arguments(batch, dtype, number)
    expected = interpreted(module, theirs) + flat(theirs)
    exact = [None] * len(expected)
    if twin is not None:
        doubles = [each.double() if isinstance(each, Tensor) and each.is_floating_point() else each for each in arguments(batch, dtype, number)]
        exact = interpreted(twin, doubles) + flat(doubles)
    actual = flat(compiled(*given)) + flat(given)
    if len(actual) != len(expected):
        raise Different(f"{len(actual)} values instead of {len(expected)}")
    for i, (ours, reference) in enumerate(zip(actual, expected)):
        if not equal(ours, reference, exact[i] if len(exact) == len(expected) else None):
            raise Different(f"batch {batch}, n={number}, value {i}: {describe(ours)} instead of {describe(reference)}")


@torch.inference_mode()
def run(source: str, settings: Settings) -> bool:
    """Compiles and compares; whether an engine ran. Raises Invalid, Different, or what the compiler raised."""
    module = make_module(source, getattr(torch, settings.dtype))
    twin = make_module(source, torch.float64) if settings.dtype == "float32" else None
    for number in range(4):
        interpreted(module, arguments(BATCHES[0], getattr(torch, settings.dtype), number))
    with torchtrt.logging.errors():
        module, compiled = compile_program(source, settings)
    for batch in BATCHES if settings.is_dynamic else BATCHES[:1]:
        for number in range(4):
            check_call(module, twin, compiled, settings, batch, number)
    with torch.autograd.profiler.profile(use_kineto=False) as profile:
        for number in (0, 3):
            compiled(*arguments(BATCHES[0], getattr(torch, settings.dtype), number))
    return any(event.name == "tensorrt::execute_engine" for event in profile.function_events)


# A failure's kind: shrinking keeps it, so that it does not wander from one bug to another.
def kind_of(error: BaseException) -> str:
    code = re.search(r"\[[CEI]\d{3}\]", str(error))
    return type(error).__name__ + (code.group() if code else "")


def outcome(source: str, settings: Settings) -> tuple[str, str]:
    """("ran" or "no engine" or "invalid" or a failure's kind, text)."""
    try:
        return ("ran" if run(source, settings) else "no engine"), ""
    except Invalid as error:
        return "invalid", str(error)
    except Exception as error:  # noqa: BLE001 - every failure of the compiler is a finding
        text = str(error) if isinstance(error, (Different, torchtrt.CompileError)) else traceback.format_exc(limit=-3)
        return kind_of(error), text


def isolated(source: str, settings: Settings) -> tuple[str, str]:
    """outcome() in a forked process, where a crash is an outcome too."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as pipe:
            json.dump(outcome(source, settings), pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = pipe.read()
    status = os.waitpid(child, 0)[1]
    return tuple(json.loads(answer)) if answer and status == 0 else ("crash", f"wait status {status}")


def smaller_bodies(body: list):
    """The body without one statement, or with one statement replaced by a part of it."""
    for i, statement in enumerate(body):
        yield body[:i] + body[i + 1:]
        if isinstance(statement, Compound):
            for p, (header, inner) in enumerate(statement.parts):
                yield body[:i] + inner + body[i + 1:]
                if p > 0:
                    yield body[:i] + [Compound(statement.parts[:p])] + body[i + 1:]
                for less in smaller_bodies(inner):
                    yield body[:i] + [Compound([*statement.parts[:p], (header, less), *statement.parts[p + 1:]])] + body[i + 1:]


def smaller(program: Program, settings: Settings):
    for i in range(len(program.returned)):
        if len(program.returned) > 1:
            yield dataclasses.replace(program, returned=program.returned[:i] + program.returned[i + 1:]), settings
    for body in smaller_bodies(program.body):
        yield dataclasses.replace(program, body=body), settings
    for i in range(len(settings.torch_executed_ops)):
        less = settings.torch_executed_ops[:i] + settings.torch_executed_ops[i + 1:]
        yield program, dataclasses.replace(settings, torch_executed_ops=less)
    if settings.is_dynamic:
        yield program, dataclasses.replace(settings, is_dynamic=False)


def shrink(program: Program, settings: Settings, kind: str, judge=isolated):
    """Applies every smaller form that fails in the same way, until there is none."""
    again = True
    while again:
        again = False
        for less, fewer in smaller(copy.deepcopy(program), settings):
            if judge(less.source(), fewer)[0] == kind:
                program, settings, again = less, fewer, True
                break
    return program, settings


def keep(name: str, program: Program, settings: Settings) -> pathlib.Path:
    KEPT.mkdir(exist_ok=True)
    path = KEPT / f"{name}.txt"
    path.write_text(f"# {json.dumps(dataclasses.asdict(settings))}\n{program.source()}", encoding="utf-8")
    return path


def load(path: pathlib.Path) -> tuple[str, Settings]:
    first, _, source = path.read_text(encoding="utf-8").partition("\n")
    return source, Settings(**json.loads(first.removeprefix("# ")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every program")
    options = parser.parse_args()
    torch.set_num_threads(1)  # a process that forks keeps no team of threads
    with torch.autograd.profiler.profile(use_kineto=False):
        pass  # it complains once of what the machine lacks, and not again in every child
    counts: dict[str, int] = {}
    for seed in range(options.first, options.first + options.seeds):
        program = random_programs.Generator(seed).program()
        try:
            settings = settings_for(program, seed)
        except Invalid as error:
            kind, text = "invalid", str(error)
        else:
            kind, text = isolated(program.source(), settings)
        counts[kind] = counts.get(kind, 0) + 1
        if options.verbose:
            print(f"seed {seed}: {kind}\n{program.source()}{text}", flush=True)
        if kind in ("ran", "no engine", "invalid"):
            continue
        print(f"seed {seed}: {kind}: {text.strip()[:2000]}", flush=True)
        if not options.no_shrink:
            program, settings = shrink(program, settings, kind)
            print(f"{isolated(program.source(), settings)[1].strip()[:2000]}\n{program.source()}{settings}\nkept in "
                  f"{keep(f'seed_{seed}', program, settings)}", flush=True)
    print(", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())))
    return 0 if counts.keys() <= {"ran", "no engine", "invalid"} else 1


if __name__ == "__main__":
    sys.exit(main())
