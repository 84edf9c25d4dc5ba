"""Files that an earlier build saved load, and compute what they did: tests/golden."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
FOLDERS = sorted(path for path in GOLDEN.iterdir() if (path / "timings.txt").is_file())
ENGINES = ("attention", "convolutional", "counted", "half", "quantized", "recurrent")
MODULES = (*ENGINES, "mixed")


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda path: path.name)
def replayed(request, tmp_path_factory):
    """The folder, and what replay.py computes of its files in a process of its own, whose instruction set is that of make.py."""
    results = tmp_path_factory.mktemp("golden") / "results.pt"
    done = subprocess.run([sys.executable, GOLDEN / "replay.py", request.param, results], capture_output=True, text=True,
                          env={**os.environ, "TORCHTRT_STRICT": ""}, check=False)
    assert done.returncode == 0, done.stderr
    assert "what an engine was not made for" not in done.stderr
    return request.param, torch.load(results)


def assert_same(got, want, is_same_machine, name):
    assert [value.dtype for value in got] == [value.dtype for value in want]
    for a, b in zip(got, want, strict=True):
        if is_same_machine or not a.is_floating_point():
            assert torch.equal(a, b)
        elif name == "quantized":
            torch.testing.assert_close(a, b, rtol=0, atol=0.02 * b.abs().max().item())
        else:
            tolerance = 1e-2 if a.dtype == torch.float16 else 1e-4
            torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


def assert_all_same(got, folder, name, is_same_machine):
    want = [outputs for _, outputs in torch.load(folder / f"{name}.pt")]
    for mine, theirs in zip(got, want, strict=True):
        assert_same(mine, theirs, is_same_machine, name)


@pytest.mark.parametrize("name", MODULES)
def test_modules(replayed, name):
    folder, found = replayed
    assert set(found["module"]) == set(MODULES)
    assert_all_same(found["module"][name], folder, name, found["is_same_machine"])


@pytest.mark.parametrize("name", ENGINES)
def test_engines(replayed, name):
    folder, found = replayed
    assert set(found["engine"]) == set(ENGINES)
    assert_all_same(found["engine"][name], folder, name, found["is_same_machine"])


def test_timing_cache(replayed):
    """Every timing of the old file is read, whatever its implementations are called today."""
    _, found = replayed
    assert found["timings"] == [("packed_gemm", True), ("packed_gemm", True)]


def test_calibration_cache(replayed):
    folder, found = replayed
    assert_all_same(found["calibrated"], folder, "quantized", found["is_same_machine"])
