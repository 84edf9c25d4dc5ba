"""The cheap checks: layout of the sources, layering, self-contained public headers, size. No test is run here."""

import subprocess

from . import building
from .common import ROOT, Failure, python, run, say

SOURCES = (".h", ".cpp")


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
    result = subprocess.run(["clang-format", "--dry-run", "-Werror", *files], cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        wrong = sorted({line.split(":")[0] for line in result.stderr.splitlines() if "error: code should be" in line})
        raise Failure("these files want ./dev format:\n  " + "\n  ".join(wrong or result.stderr.splitlines()[:20]))
    say(f"format: {len(files)} files")


def check(preset: str) -> None:
    """Runs every check before failing, so that one look shows all there is to do."""
    steps = [
        check_format,
        lambda: run([python(), ROOT / "scripts/check_layering.py"], "the layering check", cwd=ROOT),
        lambda: building.build(preset, ["public_headers"]),
        lambda: run([python(), ROOT / "scripts/lines.py"], "the line count", cwd=ROOT),
    ]
    problems = []
    for step in steps:
        try:
            step()
        except Failure as failure:
            problems.append(str(failure))
    if problems:
        raise Failure("\n".join(problems))
    say("all checks passed")
