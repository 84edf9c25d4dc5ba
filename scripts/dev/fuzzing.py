"""Runs the targets of tests/fuzz with libFuzzer, each over its corpus in a scratch copy, and keeps what breaks them as regressions."""

import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import building, machine, testing
from .common import ROOT, Failure, say

PRESET = "fuzz"
FOLDER = ROOT / "tests/fuzz"
TIMEOUT_S = 20  # of one input: no part of the code under test works that long on so little
MEMORY_MB = 2048  # of a target, and of one allocation
LONGEST = 16384  # bytes of an input
MINIMIZE_S = 60
TORCH_TARGETS = ("saved_module",)  # of torch_targets/; those that use more of the TorchScript side are for torch_fuzz
FAILURES = ("crash-", "timeout-", "oom-", "leak-")  # libFuzzer's names of files; slow-unit- is a hint alone


@dataclass
class Run:
    target: str
    executions: int = 0
    seconds: int = 0
    known: int = 0  # inputs of the corpus
    found: int = 0  # new ones, which reach other code
    regressions: list[Path] = field(default_factory=list)
    problem: str = ""

    def __str__(self):
        speed = self.executions // max(self.seconds, 1)
        return (f"{self.target:<12} {self.executions:>10} executions  {self.seconds:>5} s  {speed:>7} a second  "
                f"{self.known:>4} inputs  {self.found:>5} new  {len(self.regressions)} crashes")


def all_targets() -> list[str]:
    return sorted([*(file.stem for file in (FOLDER / "targets").glob("*.cpp")), *TORCH_TARGETS])


def work_folder(target: str) -> Path:
    return building.build_folder(PRESET) / "inputs" / target


def variables(target: str) -> dict[str, str]:
    """Sanitizers end a run at the first report. A plan may ask for any memory, which is refused as it is without them. libtorch keeps what
    it allocates for good, and the leak checker cannot tell that from our leaks."""
    return {
        **testing.environment(PRESET),
        "ASAN_OPTIONS": f"allocator_may_return_null=1:detect_leaks={int(target not in TORCH_TARGETS)}",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }


def program(target: str) -> Path:
    return building.build_folder(PRESET) / "bin" / f"fuzz_{target}"


def call(target: str, *arguments, **kwargs) -> int:
    """Runs a target's program. Returns its exit code."""
    command = [str(word) for word in (program(target), *arguments)]
    return subprocess.run(command, cwd=ROOT, env=variables(target), stderr=subprocess.STDOUT, check=False, **kwargs).returncode


def copy_inputs(target: str, to: Path) -> int:
    """Copies the corpus beside what earlier runs found. Returns the number of inputs. Regressions are the tests' alone: changes of a slow
    one are slow, too."""
    to.mkdir(parents=True, exist_ok=True)
    for file in sorted((FOLDER / "corpus" / target).glob("*")):
        shutil.copyfile(file, to / file.name)
    return len(list(to.iterdir()))


def fuzz_one(target: str, minutes: float) -> Run:
    work = work_folder(target)
    crashes = work / "crashes"
    shutil.rmtree(crashes, ignore_errors=True)
    crashes.mkdir(parents=True)
    run = Run(target, known=copy_inputs(target, work / "corpus"))
    log = work / "log.txt"
    begin = time.monotonic()
    with open(log, "w", encoding="utf-8") as output:
        code = call(target, f"-max_total_time={max(1, round(minutes * 60))}", f"-max_len={LONGEST}", f"-timeout={TIMEOUT_S}",
                    f"-rss_limit_mb={MEMORY_MB}", f"-artifact_prefix={crashes}/", "-print_final_stats=1", work / "corpus", stdout=output)
    run.seconds = round(time.monotonic() - begin)
    text = log.read_text(encoding="utf-8", errors="replace")
    run.executions = statistic(text, r"stat::number_of_executed_units: +(\d+)")
    run.found = statistic(text, r"stat::new_units_added: +(\d+)")
    failures = [file for file in sorted(crashes.iterdir()) if file.name.startswith(FAILURES)]
    run.regressions = [keep(target, file) for file in failures if fails_again(target, file)]
    if code != 0:
        run.problem = f"{target} ended with exit code {code}; the end of {log}:\n" + "\n".join(text.splitlines()[-40:])
    return run


def statistic(text: str, pattern: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def fails_again(target: str, failure: Path) -> bool:
    """False for the file that libFuzzer writes where a change of an input fails, not the input. The end of the log tells of it."""
    return not failure.name.startswith("crash-") or call(target, failure, stdout=subprocess.DEVNULL) != 0


def keep(target: str, failure: Path) -> Path:
    """Shrinks an input that fails, as far as a minute goes, and keeps it. libFuzzer cannot shrink those that take too long."""
    folder = FOLDER / "regressions" / target
    folder.mkdir(parents=True, exist_ok=True)
    smaller = failure.with_name("minimized")
    if failure.name.startswith("crash-"):
        call(target, "-minimize_crash=1", f"-max_total_time={MINIMIZE_S}", f"-exact_artifact_path={smaller}", failure, stdout=subprocess.DEVNULL)
    content = (smaller if smaller.exists() else failure).read_bytes()
    kind = failure.name.split("-")[0]
    kept = folder / f"{kind}-{hashlib.sha256(content).hexdigest()[:12]}"
    kept.write_bytes(content)
    return kept


def fuzz(targets, minutes: float) -> int:
    unknown = [name for name in targets if name not in all_targets()]
    if unknown:
        raise Failure(f"there is no target {unknown[0]}; there are {', '.join(all_targets())}")
    if minutes <= 0:
        raise Failure(f"--minutes: expected a number above 0, got {minutes:g}")
    targets = targets or all_targets()
    machine.install_packages(machine.FUZZ_PACKAGES)
    building.build(PRESET, [f"fuzz_{target}" for target in targets])
    say(f"{len(targets)} targets, {minutes:g} minutes each")
    runs = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in concurrent.futures.as_completed([pool.submit(fuzz_one, target, minutes) for target in targets]):
            runs.append(done.result())
            say(str(runs[-1]))
    say("summary")
    for run in sorted(runs, key=lambda each: each.target):
        print(f"  {run}")
    for run in runs:
        if run.problem:
            print(f"\n{run.problem}")
        for file in run.regressions:
            print(f"again with: {program(run.target).relative_to(ROOT)} {file.relative_to(ROOT)}")
    return 1 if any(run.problem for run in runs) else 0
