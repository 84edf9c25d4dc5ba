"""The hardware counters of an engine's most expensive kernels, by Nsight Compute (ncu): how close each comes to the limit that binds it."""

import csv
import io
import os
import shutil
import subprocess
import sys
import time

import torch

from gpu_bench import engine_of, traced_case
from gpu_common import SUITE, synchronize

CASES = [(name, batch) for name in ("resnet50", "bert-base") for batch in (1, 32)]
MOST_KERNELS = 5  # lines for each model
TIME, MEMORY, PROCESSORS, TENSOR, WARPS = METRICS = (
    "gpu__time_duration.sum", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active", "sm__warps_active.avg.pct_of_peak_sustained_active")
MICROSECONDS = {"ns": 1e-3, "nsecond": 1e-3, "us": 1.0, "usecond": 1.0, "ms": 1e3, "msecond": 1e3}


def counters(arguments) -> None:
    tool, end = shutil.which("ncu"), time.monotonic() + arguments.seconds
    if tool is None:
        print("FAIL ncu is not on this machine's PATH")
        return
    for name, batch in CASES:
        left = end - time.monotonic()
        if left < 10:
            print(f"SLOW {name} batch {batch} was not reached")
            continue
        # The clocks stay as they are. Kernels start one by one, so that each has counters of its own.
        command = [tool, "--clock-control", "none", "--profile-from-start", "off", "--csv", "--page", "raw", "--metrics", ",".join(METRICS),
                   sys.executable, SUITE, "one-call", name, str(batch)]
        try:
            process = subprocess.run(command, env={**os.environ, "TORCHTRT_CUDA_GRAPHS": "0"}, capture_output=True, text=True, timeout=left)
        except subprocess.TimeoutExpired:
            print(f"SLOW {name} batch {batch} took too long")
            continue
        kernels = _kernels_in(process.stdout)
        if not kernels:
            print(f"FAIL {name} batch {batch}: exit {process.returncode} {(process.stderr or process.stdout)[-300:]!r}")
            continue
        _print(f"{name} batch {batch}", kernels)
    print("SUM counters done on", torch.cuda.get_device_name(0))


@torch.inference_mode()
def one_call(name: str, batch: int) -> None:
    """Lets ncu see one warm call of an engine in float16."""
    _, traced, inputs = traced_case(name, batch)
    compiled = engine_of(traced, inputs)
    for _ in range(4):
        compiled(*inputs)
    synchronize()
    torch.cuda.profiler.start()
    compiled(*inputs)
    synchronize()
    torch.cuda.profiler.stop()


def _kernels_in(text: str) -> list[dict]:
    """The rows of ncu's table, whose second line has units; the time is in microseconds."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if begin is None:
        return []
    units, *rows = csv.DictReader(io.StringIO("\n".join(lines[begin:])))
    kernels = []
    for row in rows:
        kernel = {metric: float((row.get(metric) or "nan").replace(",", "")) for metric in METRICS}
        kernel[TIME] *= MICROSECONDS[units[TIME]]
        kernels.append({**kernel, "name": row["Kernel Name"].partition("(")[0], "grid": row["Grid Size"], "block": row["Block Size"]})
    return kernels


def _print(label: str, kernels: list[dict]) -> None:
    print(f"TABLE {label}: {len(kernels)} kernels, {sum(kernel[TIME] for kernel in kernels):.1f} us with cold caches")
    for kernel in sorted(kernels, key=lambda each: -each[TIME])[:MOST_KERNELS]:
        print(f"TABLE   {kernel[TIME]:6.1f} us, memory {kernel[MEMORY]:5.1f} %, processors {kernel[PROCESSORS]:5.1f} %, tensor cores {kernel[TENSOR]:5.1f} %, "
              f"warps {kernel[WARPS]:5.1f} %  {kernel['name'][:60]} {kernel['grid']} x {kernel['block']}")
