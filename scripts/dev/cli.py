"""The commands of ./dev and their arguments."""

import argparse
import shutil
import subprocess

from . import building, checks, docs, fuzzing, gpu, locks, machine, packaging, releasing, testing, tidying, torch_versions
from .common import ROOT, Failure, say, warn


WITHOUT_ENVIRONMENT = ("clean", "lock")  # an environment is made from locks


def parse():
    parser = argparse.ArgumentParser(
        prog="./dev", description="Sets the machine up as far as needed, builds torchtrt, and runs what you ask for."
    )
    others = ", ".join(torch_versions.OTHERS)
    torch_help = f"another torch than the pinned {torch_versions.pinned()}: {others}; it has an environment and a build folder of its own"
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, text, call, preset=True):
        sub = commands.add_parser(name, help=text, description=text)
        if preset:
            sub.add_argument("--preset", choices=building.PRESETS, default="release", help="default: release")
            sub.add_argument("--torch", metavar="VERSION", default="", help=torch_help)
        sub.set_defaults(call=call)
        return sub

    sub = command(
        "demo", "build and run examples/demo.py", lambda a: testing.run_script(a.preset, "examples/demo.py", a.rest)
    )
    sub.add_argument("rest", nargs=argparse.REMAINDER, metavar="ARGUMENT")

    sub = command(
        "test",
        "build and run the tests, of all or of the named folders",
        test,
    )
    sub.add_argument(
        "folders", nargs="*", metavar="FOLDER", help='a folder of src/ with tests in tests/unit/, "python" or "integrations"'
    )
    sub.add_argument("-k", metavar="FILTER", help="only tests whose name contains this")
    sub.add_argument(
        "--device", help='"cuda" or "cuda:1": what runs on a GPU, all of it or of ' + ", ".join(("cuda", *gpu.SECTIONS))
    )

    sub = command(
        "fuzz",
        "build the targets of tests/fuzz with clang, and let libFuzzer look for inputs that break them",
        lambda a: fuzzing.fuzz(a.targets, a.minutes),
        preset=False,
    )
    sub.add_argument("targets", nargs="*", metavar="TARGET", help="default: all, " + ", ".join(fuzzing.all_targets()))
    sub.add_argument("--minutes", type=float, default=1, metavar="M", help="for each target; default: 1")

    sub = command(
        "build",
        "build everything, or the named targets (a folder, test_<folder>, product, ...)",
        lambda a: building.build(a.preset, a.targets),
    )
    sub.add_argument("targets", nargs="*", metavar="TARGET")

    sub = command(
        "bench", "build and run bench/bench.py, which has a --help of its own; with --device cuda on a GPU", bench
    )
    sub.add_argument("rest", nargs=argparse.REMAINDER, metavar="ARGUMENT")

    sub = command(
        "models",
        "build and run bench/coverage.py: what is in engines, over models of every kind",
        lambda a: testing.run_script(a.preset, "bench/coverage.py", a.rest),
    )
    sub.add_argument("rest", nargs=argparse.REMAINDER, metavar="ARGUMENT")

    sub = command(
        "shapes",
        "build and run bench/shapes.py: random shapes within the ranges that models are compiled for",
        lambda a: testing.run_script(a.preset, "bench/shapes.py", a.rest),
    )
    sub.add_argument("rest", nargs=argparse.REMAINDER, metavar="ARGUMENT")

    sub = command(
        "accuracy",
        "build and run bench/accuracy.py: what bfloat16, float16 and int8 cost in accuracy, on real data",
        lambda a: testing.run_script(a.preset, "bench/accuracy.py", a.rest),
    )
    sub.add_argument("rest", nargs=argparse.REMAINDER, metavar="ARGUMENT")

    sub = command(
        "sweep",
        "build, try every operator in every dtype, write docs/operators.md again, and compare every model: an hour",
        lambda a: testing.sweep(a.preset),
    )

    sub = command(
        "format", "lay the C++ files out with clang-format", lambda a: checks.format_sources(a.files), preset=False
    )
    sub.add_argument("files", nargs="*", metavar="FILE", help="default: all")

    sub = command(
        "check",
        "the cheap checks: format, linters, layering, documentation, lines, types, public headers, clang-tidy of changed files",
        lambda a: checks.check(a.preset, a.quick, a.no_tidy),
    )
    sub.add_argument("--quick", action="store_true", help="leave out types and all that compiles: seconds, for a commit hook")
    sub.add_argument("--no-tidy", action="store_true", help="leave out clang-tidy, which takes up to 20 s for each changed file")

    command("hooks", "let git run check --quick before every commit of this checkout", lambda _: checks.add_hook(), preset=False)

    sub = command(
        "tidy", "clang-tidy over the changed files, or the named ones", lambda a: tidying.tidy(a.preset, a.files)
    )
    sub.add_argument("files", nargs="*", metavar="FILE")

    sub = command(
        "docs",
        "build the documentation's site in build/docs, run its tutorials, and check its links",
        lambda a: docs.build(a.preset, a.without_tutorials, a.pictures),
    )
    sub.add_argument("--without-tutorials", action="store_true", help="write the tutorials' pages without running them")
    sub.add_argument("--pictures", action="store_true", help="draw the pictures of Mermaid blocks that changed, with Chromium, and end")

    command("wheel", "make the wheels in dist/: torchtrt, and torchtrt-runtime, which runs modules in any Python", wheel)

    sub = command(
        "release",
        "wheels for every torch, notes and checksums in dist/VERSION; refuses what is not ready",
        lambda a: releasing.release(a.version, a.releases, a.dry_run),
        preset=False,
    )
    sub.add_argument("version", metavar="VERSION")
    sub.add_argument("--torch", dest="releases", action="append", default=[], metavar="VERSION", help="only for this torch; may be repeated")
    sub.add_argument("--dry-run", action="store_true", help="say what would be done, and what is in the way")

    sub = command(
        "install",
        "install headers, libraries, CMake package and tools",
        lambda a: packaging.install(a.preset, a.prefix),
    )
    sub.add_argument("--prefix", required=True)

    command(
        "lock",
        "write locks/ anew from PyPI after a change of requirements*.txt: files, hashes and licences",
        lambda _: locks.write_all(),
        preset=False,
    )
    command(
        "clean", "remove build/ and dist/; the environment and the compiler cache stay", lambda _: clean(), preset=False
    )
    # Arguments of bench and demo may start with an option, which argparse.REMAINDER alone would not take.
    arguments, unknown = parser.parse_known_args()
    if unknown and not hasattr(arguments, "rest"):
        parser.error(f"unknown argument {unknown[0]}")
    if unknown:
        arguments.rest = [*unknown, *arguments.rest]
    return arguments


def test(arguments) -> int:
    if arguments.device:
        return gpu.test(arguments.preset, arguments.device, arguments.folders, arguments.k)
    return testing.test(arguments.preset, arguments.folders, arguments.k)


def wheel(arguments) -> None:
    packaging.make_wheel(arguments.preset)


def bench(arguments) -> None:
    device = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    device.add_argument("--device")
    chosen, rest = device.parse_known_args(arguments.rest)
    if any(argument.startswith(("--peers", "--plot", "--memory")) for argument in rest):
        machine.add_peers()
    if chosen.device and chosen.device != "cpu":
        gpu.bench(arguments.preset, chosen.device, rest)
    else:
        testing.run_script(arguments.preset, "bench/bench.py", rest)


def clean() -> None:
    for folder in ("build", "dist"):
        shutil.rmtree(ROOT / folder, ignore_errors=True)
    say("build/ and dist/ are gone")


def main() -> int:
    args = parse()
    try:
        if args.command not in WITHOUT_ENVIRONMENT:
            machine.make_ready(getattr(args, "torch", ""))
        return args.call(args) or 0
    except Failure as failure:
        warn(f"dev: {failure}")
        return 1
    except subprocess.CalledProcessError as error:
        warn(f"dev: {error}\n{error.stderr or ''}")
        return 1
    except KeyboardInterrupt:
        return 130
