"""Tests and times of engines on a GPU: what tests/gpu and the unit tests of the backend offer, with this build."""

import os
import re
import signal
import subprocess
import time

from . import building, testing
from .common import ROOT, Failure, python, run, say

SUITE = ROOT / "tests/gpu/suite.py"
SECTIONS = ("smoke", "operators", "models", "exports", "files", "threads", "capture", "replay", "misuse", "processes", "rows")
PROGRAMS = ("test_cuda", "test_cuda_networks")  # unit tests that run on a device, with those of the CPU's kernels and engines
SECTION_S = 900


def variables(preset: str, device: str) -> dict[str, str]:
    return {**testing.environment(preset), "TORCHTRT_GPU": device, "TORCHTRT_TEST_DEVICE": device, "HF_HUB_OFFLINE": "1"}


def indexed(device: str) -> str:
    """"cuda" is the first one. A Failure says why there is no such device."""
    if not re.fullmatch(r"cuda(:\d+)?", device):
        raise Failure(f'"{device}" is no GPU, expected "cuda" or for example "cuda:1"')
    device = device if ":" in device else "cuda:0"
    probe = f"import torch; torch.ones(1, device='{device}')"
    tried = subprocess.run([python(), "-c", probe], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        told = [line for line in tried.stderr.splitlines() if line.strip()]
        raise Failure(f"PyTorch cannot use {device} here: {told[-1] if told else f'exit code {tried.returncode}'}")
    return device


def read(section: str, output: str, code: int, seconds: float) -> testing.Result:
    """Returns the counts of a section of the suite. Each line of a failure counts, so that a sum that is missing hides nothing."""
    problems = len(re.findall(r"^(?:FAIL|CRASH) ", output, re.MULTILINE))
    sums = re.findall(rf"^SUM {section}: (\d+) (?:passed|equal)", output, re.MULTILINE)
    late = sum(int(count) for count in re.findall(r"^SUM .*?(\d+) not reached", output, re.MULTILINE))
    if code != 0 or not sums:
        problems = max(problems, 1)
    return testing.Result(f"gpu {section}", sum(map(int, sums)), problems, late, seconds)


def run_section(section: str, environment: dict, folder) -> testing.Result:
    begin = time.monotonic()
    command = [python(), SUITE, section, "--out", folder, "--seconds", str(SECTION_S - 10)]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=SECTION_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with the processes that it started
        output, _ = process.communicate()
        output += f"\nFAIL {section} no end after {SECTION_S} s\n"
    (folder / f"{section}.log").write_text(output, encoding="utf-8")
    for line in output.splitlines():
        if line.startswith(("FAIL", "CRASH", "SLOW", "SUM")):
            print(line[:300], flush=True)
    return read(section, output, process.returncode, time.monotonic() - begin)


def test(preset: str, device: str, names, pattern: str | None) -> int:
    """All of it, or the named sections and programs ("operators", "cuda")."""
    device = indexed(device)
    known = {**{program.removeprefix("test_"): program for program in PROGRAMS}, **{section: section for section in SECTIONS}}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Failure(f'nothing named "{unknown[0]}" runs on a GPU, expected of: {", ".join(known)}')
    if pattern and any(known[name] in SECTIONS for name in names):
        raise Failure(f"-k chooses tests of {', '.join(PROGRAMS)}; a section of tests/gpu runs as a whole")
    chosen = [known[name] for name in names] or list(known.values())
    programs = [program for program in PROGRAMS if program in chosen]
    sections = [section for section in SECTIONS if section in chosen and not pattern]
    building.build(preset, [*programs, *(["product"] if sections else [])])
    environment = variables(preset, device)
    folder = building.build_folder(preset) / "gpu-results"
    folder.mkdir(parents=True, exist_ok=True)
    results = []
    for program in programs:
        results.append(testing.run_unit(program, [building.build_folder(preset) / "bin" / program], environment, pattern))
        say(str(results[-1]))
    for section in sections:
        if section == "files":
            made = ROOT / "build/gpu/for_sm_90.ts"
            made.parent.mkdir(parents=True, exist_ok=True)
            run([python(), SUITE, "pack", made], "compiling for sm_90", cwd=ROOT, env=environment)
        results.append(run_section(section, environment, folder))
        say(str(results[-1]))
    return testing.summary(results)


def bench(preset: str, device: str, arguments) -> None:
    """The table of times, with the other arguments of bench/bench.py."""
    testing.run_script(preset, "bench/bench.py", ["--device", indexed(device), *arguments])
