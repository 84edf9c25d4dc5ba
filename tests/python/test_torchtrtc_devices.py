"""The commands report GPUs on machines with one and without."""

import re

import pytest
import torch
from torch import nn

from test_torchtrtc import succeeds, torchtrtc


@pytest.fixture(scope="module")
def relu(tmp_path_factory):
    path = tmp_path_factory.mktemp("devices") / "relu.ts"
    torch.jit.script(nn.ReLU().eval()).save(str(path))
    return path


@pytest.fixture(scope="module")
def compiled(relu):
    succeeds(relu, relu.parent / "compiled.ts", "(2,3)")
    return relu.parent / "compiled.ts"


def lacks(process) -> list[str]:
    """Returns the list of what a run on a GPU lacks, as a check says."""
    if "a run on a GPU lacks nothing here" in process.stdout:
        return []
    assert "a run on a GPU lacks here:\n" in process.stdout, process.stdout
    return re.findall(r"^  (.+)$", process.stdout, re.MULTILINE)


def test_check_names_what_a_run_on_a_gpu_lacks(compiled):
    process = torchtrtc("check", compiled, "--device", "cuda:0")
    named = lacks(process)
    if torch.cuda.is_available():
        assert process.returncode == 0 and "loads for cuda:0" in process.stdout
    else:
        assert any("no engine runs on a GPU" in line for line in named), named
        assert process.returncode == 2 and "[C003] there is no device cuda:0" in process.stderr
    assert "GPU" not in succeeds("check", compiled).stdout
    assert succeeds("check", compiled, "--device=cpu").stdout.endswith("loads for cpu\n")


def test_check_of_a_file_for_a_gpu_names_that_unasked(relu, tmp_path):
    succeeds(relu, tmp_path / "gpu.ts", "(2,3)", "--device=cuda:0", "--target=sm_90")
    process = succeeds("check", tmp_path / "gpu.ts")
    assert "loads, 1 engine\n" in process.stdout
    lacks(process)


def test_inspect_loads_where_it_is_told(compiled):
    assert succeeds("inspect", compiled, "--device=cpu").stdout == succeeds("inspect", compiled).stdout
    process = torchtrtc("inspect", compiled, "--device", "cuda:99")
    assert process.returncode == 2 and "there is no device cuda:99" in process.stderr
