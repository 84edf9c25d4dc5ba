#!/usr/bin/env python3
"""Loads a folder of golden files and computes everything again; tests/python/test_golden.py compares.

    python tests/golden/replay.py FOLDER RESULTS

RESULTS becomes a file with the outputs of every case by name, the numbers of engines that reports tell, and the names of timings that were read
from the timing cache."""

import shutil
import sys
import tempfile
from pathlib import Path

import make  # sets the instruction set; before torch
import torch

import torchtrt


def calls(folder: Path, name: str):
    return [inputs for inputs, _ in torch.load(folder / f"{name}.pt")]


def outputs(module, folder: Path, name: str):
    return [make.as_list(module(*inputs)) for inputs in calls(folder, name)]


def current_machine(scratch: Path) -> str:
    script, inputs, _, _ = make.made("convolutional")
    torchtrt.compile(script, inputs=inputs, tune=True, timing_cache=str(scratch / "new.txt"), require_full_compilation=True)
    return make.machine_of(scratch / "new.txt")


def timings(folder: Path, scratch: Path, machine: str):
    """Returns what a compile takes from the old timing cache, as if this machine had written it: pairs of implementation and is_cached."""
    cache = scratch / "timings.txt"
    cache.write_text((folder / "timings.txt").read_text().replace(make.machine_of(folder / "timings.txt"), machine))
    script, inputs, _, _ = make.made("convolutional")
    compiled = torchtrt.compile(script, inputs=inputs, timing_cache=str(cache), require_full_compilation=True)
    found = [timing for segment in torchtrt.report(compiled).segments for timing in segment.timings]
    return [(timing.implementation, timing.is_cached) for timing in found]


def recalibrated(folder: Path, scratch: Path):
    """The module that the old calibration cache makes."""
    shutil.copy(folder / "calibration.cache", scratch)
    script, inputs, _, options = make.made("quantized")
    calibrator = torchtrt.ptq.CacheCalibrator(str(scratch / "calibration.cache"))
    return torchtrt.compile(script, inputs=inputs, calibrator=calibrator, **options)


def main(folder: Path, results: Path):
    torch.set_num_threads(1)
    found = {"module": {}, "engine": {}, "segments": {}}
    for path in sorted(folder.glob("*.ts")):
        module = torchtrt.load(str(path))
        found["module"][path.stem] = outputs(module, folder, path.stem)
        found["segments"][path.stem] = torchtrt.report(module).engine_segments if path.stem != "embedded" else 1
    if (folder / "refit.ts").exists():
        module = torchtrt.load(str(folder / "refit.ts"))
        torchtrt.update_weights(module, make.other_weights("refit"))
        found["updated"] = outputs(module, folder, "updated")
    for path in sorted(folder.glob("*.engine")):
        found["engine"][path.stem] = outputs(torchtrt.ts.embed_engine_in_new_module(path.read_bytes()), folder, path.stem)
    with tempfile.TemporaryDirectory() as scratch:
        machine = current_machine(Path(scratch))
        found["is_same_machine"] = machine == make.machine_of(folder / "timings.txt")
        found["timings"] = timings(folder, Path(scratch), machine)
        found["calibrated"] = outputs(recalibrated(folder, Path(scratch)), folder, "quantized")
    torch.save(found, results)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
