"""./dev reads the output of tests on a GPU, and tells what is missing on a machine without one."""

import importlib
import pathlib
import sys

import pytest
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
gpu = importlib.import_module("dev.gpu")
common = importlib.import_module("dev.common")


def test_a_section_that_passed():
    result = gpu.read("files", "TABLE passed: x\nSUM files: 17 passed, 0 failed\n", 0, 1.0)
    assert (result.passed, result.failed, result.skipped) == (17, 0, 0)


def test_failures_and_what_was_not_reached():
    output = "FAIL relu-float16 - differs\nCRASH gather-int8 exit -11\nSUM operators: 6000 passed, 1 failed, 1 crashed, 12 not reached; steps: 9\n"
    result = gpu.read("operators", output, 0, 1.0)
    assert (result.passed, result.failed, result.skipped) == (6000, 2, 12)


@pytest.mark.parametrize(("output", "code"), [("", 0), ("SUM files: 3 passed, 0 failed\n", -11), ("TABLE passed: x\n", 1)])
def test_a_section_that_did_not_end_has_failed(output, code):
    assert gpu.read("files", output, code, 1.0).failed == 1


def test_every_section_of_the_suite_is_run():
    suite = (common.ROOT / "tests/gpu/suite.py").read_text(encoding="utf-8")
    sections = suite.split("in (", 1)[1].split(")", 1)[0].replace(" ", "").split(",")
    assert {*gpu.SECTIONS, "kernels", "precisions", "startup", "tuned", "invariance", "counters"} == set(sections)  # these print times


@pytest.mark.parametrize("name", ["cpu", "cuda:x", "gpu", "cuda:"])
def test_a_name_that_is_no_gpu(name):
    with pytest.raises(common.Failure, match="is no GPU, expected"):
        gpu.indexed(name)


def test_a_gpu_that_is_not_there():
    with pytest.raises(common.Failure, match="PyTorch cannot use cuda:99 here: "):
        gpu.indexed("cuda:99")
    if not torch.cuda.is_available():
        with pytest.raises(common.Failure, match="PyTorch cannot use cuda:0 here: "):
            gpu.test("release", "cuda", [], None)


@pytest.mark.parametrize("device, told", [("cuda:x", "is no GPU, expected"), ("cuda:99", "PyTorch cannot use cuda:99 here: ")])
def test_a_benchmark_of_a_gpu_that_is_not_there(device, told):
    with pytest.raises(common.Failure, match=told):
        gpu.bench("release", device, ["--peers"])
