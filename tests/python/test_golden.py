"""Files that an earlier build saved load, and compute what they did: tests/golden."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torchtrt

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
FOLDERS = sorted(path for path in GOLDEN.iterdir() if (path / "timings.txt").is_file())
ENGINES = ("attention", "convolutional", "counted", "half", "quantized", "recurrent")
MODULES = (*ENGINES, "mixed")
FIRST = "0.1.0"  # its folder has no files of the kinds below
LATER_ENGINES = ("gpu",)
LATER_MODULES = ("gpu", "embedded", "refit")
SCALES = ("scaled",)  # convolutions with a scale, which plans have since 1.5


VERSION_OFFSET = 8  # of major and minor version in a plan's header, two bytes each


def version_of(plan: bytes) -> tuple[int, int]:
    return struct.unpack_from("<HH", plan, VERSION_OFFSET)


def scales_of(folder):
    return SCALES if version_of((folder / "convolutional.engine").read_bytes()) >= (1, 5) else ()


def engines_of(folder):
    return ENGINES if folder.name == FIRST else (*ENGINES, *LATER_ENGINES, *scales_of(folder))


def modules_of(folder):
    return MODULES if folder.name == FIRST else (*MODULES, *LATER_MODULES, *scales_of(folder))


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda path: path.name)
def replayed(request, tmp_path_factory):
    """The folder, and what replay.py computes of its files in a process of its own, whose instruction set is that of make.py."""
    found = results_of("replay.py", request.param, tmp_path_factory)
    return request.param, {**found, "runtime": results_of("replay_runtime.py", request.param, tmp_path_factory)}


def results_of(script, folder, tmp_path_factory):
    results = tmp_path_factory.mktemp("golden") / "results.pt"
    done = subprocess.run([sys.executable, GOLDEN / script, folder, results], capture_output=True, text=True,
                          env={**os.environ, "TORCHTRT_STRICT": ""}, check=False)
    assert done.returncode == 0, done.stderr
    assert "what an engine was not made for" not in done.stderr
    return torch.load(results)


def assert_same(got, want, is_same_machine, name):
    assert [value.dtype for value in got] == [value.dtype for value in want]
    for a, b in zip(got, want, strict=True):
        if is_same_machine or not a.is_floating_point():
            assert torch.equal(a, b)
        elif name == "quantized":
            torch.testing.assert_close(a, b, rtol=0, atol=0.02 * b.abs().max().item())
        else:
            tolerance = {torch.float16: 1e-2, torch.bfloat16: 5e-2}.get(a.dtype, 1e-4)
            torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


def assert_all_same(got, folder, name, is_same_machine):
    want = [outputs for _, outputs in torch.load(folder / f"{name}.pt")]
    for mine, theirs in zip(got, want, strict=True):
        assert_same(mine, theirs, is_same_machine, name)


def test_modules(replayed):
    folder, found = replayed
    assert set(found["module"]) == set(modules_of(folder))
    for name, got in found["module"].items():
        assert_all_same(got, folder, name, found["is_same_machine"])


def test_modules_with_the_runtime_alone(replayed):
    folder, found = replayed
    assert set(found["runtime"]) == set(modules_of(folder))
    for name, got in found["runtime"].items():
        assert_all_same(got, folder, name, found["is_same_machine"])


def test_engines(replayed):
    folder, found = replayed
    assert set(found["engine"]) == set(engines_of(folder))
    for name, got in found["engine"].items():
        assert_all_same(got, folder, name, found["is_same_machine"])


def test_reports(replayed):
    """The report of each module is read, and says how many engines there are."""
    folder, found = replayed
    assert found["segments"] == {name: 2 if name == "mixed" else 1 for name in modules_of(folder)}


def test_weights_are_updated(replayed):
    """A module that keeps its source gets other weights, and computes with them."""
    folder, found = replayed
    if folder.name == FIRST:
        pytest.skip("no module of this folder keeps its source")
    assert_all_same(found["updated"], folder, "updated", found["is_same_machine"])
    assert not torch.allclose(found["updated"][0][0], found["module"]["refit"][0][0])


def test_timing_cache(replayed):
    """Every timing of the old file is read, whatever its implementations are called today."""
    _, found = replayed
    assert found["timings"] == [("packed_gemm", True), ("packed_gemm", True)]


def test_calibration_cache(replayed):
    """The old file's ranges are read. A later compiler may make other steps of them, and so other bits."""
    folder, found = replayed
    assert_all_same(found["calibrated"], folder, "quantized", is_same_machine=False)


def test_the_newest_folder_has_the_format_that_is_written():
    """A new minor version of the plan format adds a folder."""
    module = torch.jit.script(torch.nn.ReLU().eval())
    written = version_of(torchtrt.convert_method_to_trt_engine(module, inputs=[torchtrt.Input((2, 3))]))
    assert written in {version_of((folder / "convolutional.engine").read_bytes()) for folder in FOLDERS}


@pytest.mark.parametrize(("step", "says"), [
    ((0, 1), r"\[E002\] the plan is too new: it has format 1\.\d+, this library reads 1\.0 to 1\.\d+\n  load it with the version of torchtrt that made it"),
    ((1, 0), r"\[E002\] the plan has format 2\.\d+, this library reads 1\.x\n  load it with a torchtrt whose plan format is 2"),
])
def test_a_plan_of_a_later_format_is_too_new(step, says):
    """The header of a plan says a version that this library does not know, as a plan of a later release would."""
    data = bytearray((FOLDERS[-1] / "convolutional.engine").read_bytes())
    major, minor = version_of(data)
    newest = max(version_of((folder / "convolutional.engine").read_bytes())[1] for folder in FOLDERS)
    struct.pack_into("<HH", data, VERSION_OFFSET, major + step[0], newest + step[1] if step[1] else minor)
    with pytest.raises(torchtrt.EngineError, match=says):
        torchtrt.ts.embed_engine_in_new_module(bytes(data))
