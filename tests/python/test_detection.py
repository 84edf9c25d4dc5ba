"""Scripted detection models and voice detection: control flow, lists of images of several sizes, state over calls. Compiled they give
what PyTorch gives, also in a C++ process without Python, where libtorchtrt_vision brings torchvision's operators."""

import os
import pathlib
import subprocess

import pytest
import torch

import catalog
import fallback
import torchtrt
from same import FELL_BACK

BUILD = pathlib.Path(os.environ["TORCHTRT_BUILD"])
FEWEST_BOXES = 20
SMALL = ["faster r-cnn mobile, scripted", "ssdlite, scripted", "retinanet mobile, scripted"]
LARGE = ["faster r-cnn, scripted", "ssd, scripted", "retinanet, scripted", "mask r-cnn, scripted"]  # with --all-models


def pytest_generate_tests(metafunc):
    if "detector" in metafunc.fixturenames:
        metafunc.parametrize("detector", SMALL + (LARGE if metafunc.config.getoption("--all-models") else []))


def assert_can_tell(detections) -> None:
    """Enough boxes with scores of their own, and other ones for other images: else anything would pass."""
    for each in detections:
        assert len(each["scores"]) >= FEWEST_BOXES and each["scores"].unique().numel() > 0.9 * len(each["scores"])
    best = torch.stack([each["scores"][0] for each in detections])
    assert best.max() - best.min() > 100 * fallback.TOLERANCE[torch.float32] * best.max()


def run_in_cpp(compiled, case, folder, *options) -> list:
    """All tensors of all calls, from a process that links the runtime alone."""
    compiled.save(str(folder / "module.ts"))
    torch.save([list(call) for call in case.calls], folder / "calls.pt")
    done = subprocess.run([BUILD / "bin" / "runtime_runner", folder / "module.ts", folder / "calls.pt", folder / "results.pt", "--each",
                           "--maps", *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "libtorchtrt_runtime" in done.stdout and "libpython" not in done.stdout and "libtorch_python" not in done.stdout
    return list(torch.load(folder / "results.pt"))


@torch.inference_mode()
def test_detection_is_pytorchs_for_images_of_several_sizes(detector, tmp_path, capfd):
    case = catalog.make(detector)
    compiled = fallback.compile_case(case)
    with torch.jit.optimized_execution(False):  # specialising these graphs takes minutes and decides nothing here
        worst, engine_ran = fallback.compare(case, compiled)
        expected = [case.reference(*call) for call in case.calls]
    assert engine_ran and worst <= fallback.TOLERANCE[torch.float32]
    assert_can_tell([each for _, detections in expected for each in detections])
    assert FELL_BACK not in capfd.readouterr().err
    results = run_in_cpp(compiled, case, tmp_path, "--library", BUILD / "lib" / "libtorchtrt_vision.so")
    assert fallback.difference(results, expected) <= fallback.TOLERANCE[torch.float32]


@pytest.fixture(scope="module")
def voice():
    case = catalog.make("silero-vad")
    return case, fallback.compile_case(case)


@torch.inference_mode()
def test_voice_detection_carries_its_state_over_calls(voice, tmp_path):
    case, compiled = voice
    results = run_in_cpp(compiled, case, tmp_path)
    worst, engine_ran = fallback.compare(case, compiled)
    assert engine_ran and worst <= fallback.TOLERANCE[torch.float32]
    case.reference.reset_states()
    expected = [case.reference(*call) for call in case.calls]
    assert fallback.difference(results, expected) <= fallback.TOLERANCE[torch.float32]
    assert max(expected) > 0.9 and min(expected) < 0.1  # words and the silence between them


@torch.inference_mode()
def test_other_methods_of_the_voice_detector_still_work(voice):
    case, compiled = voice
    compiled.reset_states()
    first = [compiled(*call) for call in case.calls[:4]]
    again = [compiled(*call) for call in case.calls[:4]]
    assert not all(torch.equal(a, b) for a, b in zip(first, again))
    compiled.reset_states()
    assert all(torch.equal(compiled(*call), result) for call, result in zip(case.calls, first))


def test_what_stays_in_pytorch_has_reasons(voice):
    report = torchtrt.report(voice[1])
    assert report.engine_segments > 0 and report.torch_segments > 0
    assert all(segment.reasons for segment in report.segments if segment.target == "torch")
