"""The cheap checks: layout of the sources, layering, self-contained public headers, size. No test is run here."""

import concurrent.futures
import os
import subprocess

from . import building, machine
from .common import ROOT, Failure, python, run, say

SOURCES = (".h", ".cpp")


def captured(command) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def sources() -> list[str]:
    """Every C++ file that is tracked or could be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listing.splitlines() if name.endswith(SOURCES) and (ROOT / name).exists()]


def format_sources(paths) -> None:
    files = paths or sources()
    run(["clang-format", "-i", *files], "clang-format", cwd=ROOT)
    say(f"{len(files)} files formatted")


def check_format() -> None:
    files = sources()
    result = captured(["clang-format", "--dry-run", "-Werror", *files])
    if result.returncode != 0:
        wrong = sorted({line.split(":")[0] for line in result.stderr.splitlines() if "error: code should be" in line})
        raise Failure("these files want ./dev format:\n  " + "\n  ".join(wrong or result.stderr.splitlines()[:20]))
    say(f"format: {len(files)} files")


def tidy(preset: str, files) -> None:
    """clang-tidy over the named files, else over the engine side, where GCC's precompiled header is not in the way."""
    machine.install_packages(["clang-tidy"])
    building.build(preset, ["plan_schema"])
    engine_side = ("base", "device", "network", "kernels", "cpu", "plan", "engine", "rewriting", "optimization", "builder")
    files = files or [str(path) for folder in engine_side for path in sorted((ROOT / "src" / folder).rglob("*.cpp"))]
    say(f"clang-tidy over {len(files)} files, about {5 * len(files) // (os.cpu_count() or 1)} s")
    command = ["clang-tidy", "--quiet", "-p", building.build_folder(preset)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda name: captured([*command, name]), files))
    wrong = [result.stdout for result in results if result.returncode != 0]
    if wrong:
        raise Failure("clang-tidy found:\n" + "\n".join(wrong))
    say("clang-tidy found nothing")


def lint() -> None:
    """ruff over all Python files, with the rules of ruff.toml."""
    machine.add_checks()
    run([python().parent / "ruff", "check", "--quiet", ROOT], "ruff", cwd=ROOT)
    say("ruff found nothing")


def check(preset: str, quick: bool) -> None:
    """Runs every check before failing, so that one look shows all there is to do. `quick` leaves out what compiles."""
    steps = [
        check_format,
        lint,
        lambda: run([python(), ROOT / "scripts/check_layering.py"], "the layering check", cwd=ROOT),
        lambda: run([python(), ROOT / "scripts/check_docs.py"], "the documentation check", cwd=ROOT),
        lambda: run([python(), ROOT / "scripts/lines.py"], "the line count", cwd=ROOT),
    ]
    if not quick:
        steps.append(lambda: building.build(preset, ["public_headers"]))
    problems = []
    for step in steps:
        try:
            step()
        except Failure as failure:
            problems.append(str(failure))
    if problems:
        raise Failure("\n".join(problems))
    say("all checks passed")
