"""The cheap checks: layout of the sources, linters, layering, documentation, self-contained public headers, size. No test is run here."""

import concurrent.futures
import os
import subprocess
import time

from . import building, locks, machine, third_party, tidying
from .common import ROOT, Failure, captured, python, run, say

SOURCES = (".h", ".cpp")
# Files without words, or of others: saved modules and plans.
NO_TEXT = (".ts", ".pt", ".engine", ".cache", ".min.js")
FUZZED = ("tests/fuzz/corpus/", "tests/fuzz/regressions/")  # bytes of any kind


def tracked() -> list[str]:
    """Every file that is tracked or could be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listing.splitlines() if (ROOT / name).is_file()]


def sources() -> list[str]:
    return [name for name in tracked() if name.endswith(SOURCES)]


def format_sources(paths) -> None:
    files = paths or sources()
    run(["clang-format", "-i", *files], "clang-format", cwd=ROOT)
    say(f"{len(files)} files formatted")


def check_format(files) -> None:
    processes = os.cpu_count() or 1
    parts = [part for i in range(processes) if (part := files[i::processes])]
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        results = list(pool.map(lambda part: captured(["clang-format", "--dry-run", "-Werror", *part]), parts))
    messages = [line for result in results if result.returncode != 0 for line in result.stderr.splitlines()]
    if messages:
        wrong = sorted({line.split(":")[0] for line in messages if "error: code should be" in line})
        raise Failure("these files want ./dev format:\n  " + "\n  ".join(wrong or messages[:20]))
    say(f"format: {len(files)} files")


def linter(name: str):
    return python().parent / name


def check_python() -> None:
    """ruff over all Python files, with the rules of ruff.toml."""
    run([linter("ruff"), "check", "--quiet", ROOT], "ruff", cwd=ROOT)
    say("ruff found nothing")


def check_spelling(files) -> None:
    """codespell over text, with the exceptions of .codespellrc."""
    files = [name for name in files if not name.endswith(NO_TEXT) and not name.startswith(FUZZED)]
    if files:
        run([linter("codespell"), *files], "codespell", cwd=ROOT)
    say(f"spelling: {len(files)} files")


def check_types() -> None:
    """mypy over the packages and scripts of mypy.ini."""
    run([linter("mypy"), "--cache-dir", ROOT / "build" / "mypy"], "mypy", cwd=ROOT)


def script(name: str, purpose: str):
    return lambda: run([python(), ROOT / "scripts" / name], purpose, cwd=ROOT)


def add_hook() -> None:
    """Writes the hook by hand, so that no package has to fetch anything. A hook of the user's own stays."""
    place = captured(["git", "rev-parse", "--git-path", "hooks/pre-commit"]).stdout.strip()
    hook = ROOT / place
    text = "#!/bin/sh\n# Made by ./dev hooks; delete this file to be rid of it.\nexec ./dev check --quick\n"
    if hook.exists() and hook.read_text(encoding="utf-8") != text:
        raise Failure(f"{hook} is there already: add ./dev check --quick to it")
    hook.parent.mkdir(parents=True, exist_ok=True)
    hook.write_text(text, encoding="utf-8")
    hook.chmod(0o755)
    say(f"wrote {hook}")


def check(preset: str, quick: bool, no_tidy: bool) -> None:
    """Runs every check before failing, so that one look shows all there is to do. `quick` leaves out the slow ones, and looks only at changed
    files where the others cannot have become wrong."""
    machine.add_checks()
    files = tidying.changed_files("") if quick else tracked()
    steps = [
        ("format", lambda: check_format([name for name in files if name.endswith(SOURCES)])),
        ("ruff", check_python),
        ("spelling", lambda: check_spelling(files)),
        ("locks", locks.check),
        ("third parties", third_party.check),
        ("layering", script("check_layering.py", "the layering check")),
        ("documentation", script("check_docs.py", "the documentation check")),
        ("lines", script("lines.py", "the line count")),
    ]
    if not quick:
        steps += [
            ("types", check_types),
            ("public headers", lambda: building.build(preset, ["public_headers"])),
        ]
        if not no_tidy:
            steps.append(("clang-tidy", lambda: tidying.tidy(preset, [])))
    problems = []
    rows = []
    for name, step in steps:
        start = time.monotonic()
        try:
            step()
            result = "passed"
        except Failure as failure:
            problems.append(str(failure))
            result = "failed"
        rows.append(f"{name:<14} {time.monotonic() - start:7.1f} s  {result}")
    print("\n" + "\n".join(rows) + "\n", flush=True)
    if problems:
        raise Failure("\n".join(problems))
    say("all checks passed")
