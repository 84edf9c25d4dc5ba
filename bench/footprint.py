"""What a compiled model costs beside its calls: memory while it is compiled, size, time to load, first call.

Each figure comes from a process of its own, which this file also is: `footprint.py compile|load MODEL BATCH FILE`.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

LOADS = 5  # processes that load; the median is reported


def _status(field: str) -> int:
    """Bytes of a line such as VmHWM in /proc/self/status."""
    for line in open("/proc/self/status"):
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {field}")


def _compile(name: str, batch: int, file: str) -> dict:
    import torch

    import models
    import torchtrt

    module, x = models.build(name), models.sample(name, batch)
    with torch.inference_mode():
        traced = torch.jit.trace(module, x, check_trace=False)
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        before = _status("VmRSS")
        compiled = torchtrt.compile(traced, inputs=[torchtrt.Input(list(x.shape))])
        peak = _status("VmHWM") - before
    torch.jit.save(compiled, file)
    return {"compile_peak_bytes": peak, "weight_bytes": sum(p.numel() * p.element_size() for p in module.parameters())}


def _load(name: str, batch: int, file: str) -> dict:
    import torch

    import models
    import torchtrt.runtime  # noqa: F401  the engine's operator

    x = models.sample(name, batch)
    start = time.perf_counter()
    module = torch.jit.load(file)
    loaded = time.perf_counter()
    with torch.inference_mode():
        module(x)
        first = time.perf_counter() - loaded
        calls = []
        for _ in range(20):
            start_call = time.perf_counter()
            module(x)
            calls.append(time.perf_counter() - start_call)
    return {"load_seconds": loaded - start, "first_call_ms": first * 1e3, "call_ms": statistics.median(calls) * 1e3}


def _child(action: str, name: str, batch: int, file: str) -> dict:
    process = subprocess.run([sys.executable, __file__, action, name, str(batch), file], stdout=subprocess.PIPE,
                             text=True, check=True)
    return json.loads(process.stdout.splitlines()[-1])


def measure(name: str, batch: int) -> dict:
    """compile_peak_bytes beyond what the process held, weight_bytes, file_bytes; load_seconds, first_call_ms, call_ms (medians)."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder) / "model.ts")
        facts = _child("compile", name, batch, file)
        facts["file_bytes"] = pathlib.Path(file).stat().st_size
        loads = [_child("load", name, batch, file) for _ in range(LOADS)]
        facts["load_seconds_of_each"] = [load["load_seconds"] for load in loads]
        return facts | {key: statistics.median(load[key] for load in loads) for key in loads[0]}


if __name__ == "__main__":
    print(json.dumps({"compile": _compile, "load": _load}[sys.argv[1]](sys.argv[2], int(sys.argv[3]), sys.argv[4])))
