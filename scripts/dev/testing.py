"""Runs what was built and sums up: the unit tests, the same with capped vector instructions, the Python tests."""

import concurrent.futures
import contextlib
import json
import os
import re
import subprocess
import time
import xml.etree.ElementTree
from dataclasses import dataclass

from . import building, machine
from .common import CACHE, ROOT, Environment, Failure, python, run, say

PYTHON_TESTS = "python"
INTEGRATIONS = "integrations"  # Python tests, too, in the environment of Ray, Spark, Beam and Triton
# Only tests of these can have another result with another torch than the pinned one: no other code includes libtorch.
TORCH_FUZZ = "torch_fuzz"  # tests/fuzz/torch_targets
TORCH_SIDE = ("lowering", "partitioning", "conversion", "runtime", "stitching", "vision", "compiler", TORCH_FUZZ, PYTHON_TESTS)
SANITIZED = ("asan", "tsan")
TIMEOUT_S = 1800
KEPT = CACHE / "tests"  # device code that test_cuda compiled, 50 MB for each state of the kernels
KEPT_DAYS = 7  # unused for so long, it goes
VECTOR_CAPS = ("avx2", "sse4")  # values of TORCHTRT_MAX_ISA: eight floats at a time, and one
MEMORY_OF_A_LANE = 6 << 30  # bytes; the tests of whole models take most of it


@dataclass
class Result:
    name: str
    passed: int
    failed: int
    skipped: int
    seconds: float

    def __str__(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.name:<28} {self.passed:>6} passed, {self.failed} failed{skipped}   {self.seconds:.1f} s"


def environment(preset: str) -> dict[str, str]:
    """Returns the environment of every program of the project: strict, with the built package and tools in reach."""
    folder = building.build_folder(preset)
    return {
        **os.environ,
        "TORCHTRT_STRICT": "1",
        "TORCHTRT_BUILD": str(folder),
        "TORCHTRT_TEST_CACHE": str(KEPT),
        "CCACHE_DIR": os.environ.get("CCACHE_DIR") or str(CACHE / "ccache"),  # for what tests and tutorials compile
        "PYTHONPATH": str(folder / "python"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": f"{folder / 'bin'}:{python().parent}:{os.environ['PATH']}",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "ASAN_OPTIONS": "detect_leaks=1",
    }


def forget_kept() -> None:
    """Removes files that no run of the last days has used."""
    oldest = time.time() - KEPT_DAYS * 24 * 3600
    for file in KEPT.glob("*/*"):
        with contextlib.suppress(FileNotFoundError):  # another ./dev may do the same
            if file.stat().st_mtime < oldest:
                file.unlink()


def lanes() -> int:
    """Returns how many test programs run side by side: one for each core, as far as memory reaches. Four is the limit, because each uses
    all cores for some of its time."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(4, os.cpu_count() or 1, memory // MEMORY_OF_A_LANE))


def test_environment(preset: str) -> dict[str, str]:
    """Threads that wait sleep, because a neighbour wants the core."""
    return {**environment(preset), "OMP_WAIT_POLICY": "passive"}


def unit_tests(preset: str):
    """The programs that CMake registered, with their labels."""
    command = ["ctest", "--test-dir", building.build_folder(preset), "--show-only=json-v1"]
    listing = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for test in listing["tests"]:
        labels = [value for entry in test["properties"] if entry["name"] == "LABELS" for value in entry["value"]]
        yield test["name"], test.get("command", []), labels


def run_unit(name: str, command, variables: dict, pattern: str | None) -> Result:
    begin = time.monotonic()
    arguments = [*command, "--gtest_brief=1"] + ([f"--gtest_filter=*{pattern}*"] if pattern else [])
    try:
        process = subprocess.run(
            arguments,
            cwd=ROOT,
            env=variables,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=TIMEOUT_S,
        )
        output, code = process.stdout + process.stderr, process.returncode
    except subprocess.TimeoutExpired as expired:
        printed = expired.stdout or b""  # bytes, even where text was asked for
        output, code = f"{printed.decode(errors='replace') if isinstance(printed, bytes) else printed}\nno end after {TIMEOUT_S} s", 1
    count = {
        word: int(found.group(1)) if (found := re.search(rf"^\[  {word} +\] (\d+) tests?", output, re.MULTILINE)) else 0
        for word in ("PASSED", "SKIPPED", "FAILED")
    }
    failed = count["FAILED"] or (1 if code != 0 else 0)
    if failed:
        print(output)
        print(f"{name}: exit code {code}; again with: {' '.join(arguments)}", flush=True)
    return Result(name, count["PASSED"], failed, count["SKIPPED"], time.monotonic() - begin)


def run_python(preset: str, pattern: str | None) -> Result:
    # Neighbours in a file often share what is slow to make, so that each process takes long runs of them.
    lane_options = ["--numprocesses", str(lanes()), "--dist", "worksteal"]
    return run_pytest(PYTHON_TESTS, preset, python(), ["tests", f"--ignore=tests/{INTEGRATIONS}", *lane_options], pattern)


def run_integrations(preset: str, pattern: str | None) -> Result:
    interpreter = machine.make_integrations() / "bin" / "python"
    return run_pytest(INTEGRATIONS, preset, interpreter, [f"tests/{INTEGRATIONS}"], pattern)


def run_pytest(name: str, preset: str, interpreter, what, pattern: str | None) -> Result:
    begin = time.monotonic()
    report = building.build_folder(preset) / ("pytest.xml" if name == PYTHON_TESTS else f"pytest-{name}.xml")
    report.unlink(missing_ok=True)
    variables = test_environment(preset)
    variables["PATH"] = f"{interpreter.parent}:{variables['PATH']}"
    command = [
        interpreter,
        "-m",
        "pytest",
        "-q",
        "-ra",
        "--tb=short",
        "-p",
        "no:cacheprovider",
        f"--junitxml={report}",
        *what,
    ]
    if pattern:
        command += ["-k", pattern]
    code = subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode
    if not report.exists():
        return Result(name, 0, 1, 0, time.monotonic() - begin)
    suites = list(xml.etree.ElementTree.parse(report).getroot().iter("testsuite"))
    total, skipped, failed = (
        sum(int(suite.get(key, 0)) for suite in suites for key in keys)
        for keys in (("tests",), ("skipped",), ("failures", "errors"))
    )
    no_tests_chosen = 5
    if code not in (0, no_tests_chosen):
        failed = max(failed, 1)
    return Result(name, max(total - skipped - failed, 0), failed, skipped, time.monotonic() - begin)


def test(preset: str, folders, pattern: str | None) -> int:
    if Environment.torch:
        folders = folders or [each for each in TORCH_SIDE if each in (TORCH_FUZZ, PYTHON_TESTS) or (ROOT / "tests/unit" / each).is_dir()]
    with_python = not folders or PYTHON_TESTS in folders
    with_integrations = not folders or INTEGRATIONS in folders
    targets = [f"test_{folder}" for folder in folders if folder not in (PYTHON_TESTS, INTEGRATIONS)]
    if folders and (with_python or with_integrations):
        targets.append("product")
    building.build(preset, targets)

    variables = test_environment(preset)
    forget_kept()
    results = []

    def note(result: Result) -> None:
        results.append(result)
        say(str(result))

    chosen = [entry for entry in unit_tests(preset) if not folders or entry[0].removesuffix("_deferred") in targets]
    runs = [(name, command, variables) for name, command, _ in chosen]
    for cap in VECTOR_CAPS:
        capped = {**variables, "TORCHTRT_MAX_ISA": cap}
        runs += [(f"{name} ({cap})", command, capped) for name, command, labels in chosen if "vector" in labels]
    with concurrent.futures.ThreadPoolExecutor(lanes()) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run_unit, *each, pattern) for each in runs]):
            note(done.result())
    if (with_python or with_integrations) and preset in SANITIZED:
        say("the Python tests run with the presets release and dev only: the interpreter is not sanitized")
        with_python = with_integrations = False
    if with_python and any((ROOT / "tests").rglob("test_*.py")):
        machine.add_browser()
        note(run_python(preset, pattern))
    if with_integrations and any((ROOT / "tests" / INTEGRATIONS).glob("test_*.py")):
        note(run_integrations(preset, pattern))
    return summary(results)


def summary(results) -> int:
    passed, failed, skipped = (
        sum(getattr(result, key) for result in results) for key in ("passed", "failed", "skipped")
    )
    say("summary")
    for result in results:
        print(f"  {result}")
    if passed + failed == 0:
        raise Failure("no test was run")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""), flush=True)
    return 1 if failed else 0


def run_script(preset: str, script: str, arguments) -> None:
    """Builds the product and runs one of the repository's Python programs with it."""
    building.build(preset, ["product"])
    say(f"running {script}")
    run([python(), ROOT / script, *arguments], script, cwd=ROOT, env=environment(preset))


def sweep(preset: str) -> None:
    """Finds out on this machine what docs/operators.md and the table of models say. All parts run; the first to fail is named at the
    end."""
    building.build(preset, ["product"])
    variables = environment(preset)
    tests = [ROOT / "tests/python" / name for name in ("test_operators.py", "test_evaluators.py")]
    parts = {
        "operators": [python(), "-m", "pytest", "-q", "--tb=short", "--every-dtype", *tests],
        "models": [python(), ROOT / "bench/coverage.py", "--all"],
        "shapes": [python(), ROOT / "bench/shapes.py"],
    }
    page = subprocess.run(
        [python(), ROOT / "tests/python/operator_page.py"], env=variables, capture_output=True, text=True, check=True
    )
    (ROOT / "docs/operators.md").write_text(page.stdout, encoding="utf-8")
    say("docs/operators.md is written again")
    failures = []
    for name, arguments in parts.items():
        say(f"running {name}")
        try:
            run(arguments, name, cwd=ROOT, env=variables)
        except Failure as failure:
            failures.append(failure)
    if failures:
        raise failures[0]
