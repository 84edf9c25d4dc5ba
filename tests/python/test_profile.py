"""Shows where a module spends its time: torchtrt.profile and torchtrtc profile."""

import json

import pytest
import torch
from torch import nn

import torchtrt
from nets import Mixed
from test_torchtrtc import succeeds, torchtrtc


@pytest.fixture(scope="module")
def mixed():
    torch.manual_seed(0)
    with torch.inference_mode():
        return torchtrt.compile(torch.jit.script(Mixed().eval()), inputs=[torchtrt.Input([64, 32])], min_block_size=1)


def test_engines_and_operators(mixed):
    profile = torchtrt.profile(mixed, [torch.randn(64, 32)], calls=3)
    assert profile.forwards == 3 and profile.threads == torch.get_num_threads()
    steps = {step.family: step for engine in profile.engines for step in engine.steps}
    assert all(engine.calls >= 1 and engine.milliseconds > 0 and not engine.note for engine in profile.engines)
    assert steps["matrix_multiply"].flops in (2 * 64 * 64 * 32, 2 * 64 * 64 * 64)
    for family, step in steps.items():
        # PyTorch gives inverses column by column; the engine's copy of one counts no bytes.
        assert family == "copy" or (step.bytes > 0 and profile.share_of_bandwidth(step) > 0 and profile.share_of_peak(step) >= 0)
    assert max(engine.calls for engine in profile.engines) == 3
    (inverse,) = [each for each in profile.operators if each.name.startswith("aten::linalg_inv")]
    assert not any(each.name == "tensorrt::execute_engine" for each in profile.operators)
    assert inverse.calls == 1 and inverse.milliseconds > 0
    assert profile.engines[0].name in str(profile)
    assert json.loads(profile.to_json())["operators"]


def test_inputs_that_an_engine_does_not_take_are_told(mixed):
    small = torch.jit.script(nn.Sequential(nn.ReLU(), nn.Tanh()).eval())
    compiled = torchtrt.compile(small, inputs=[torchtrt.Input([2, 3])], min_block_size=1)
    profile = torchtrt.profile(compiled, [torch.randn(4, 5)], calls=1)
    ((steps, note),) = [(engine.steps, engine.note) for engine in profile.engines]
    assert steps == [] and "[E" in note and "no steps" in str(profile)


def test_misuse():
    module = torch.jit.script(nn.ReLU())
    with pytest.raises(torchtrt.CompileError, match="calls is 0"):
        torchtrt.profile(module, [torch.ones(1)], calls=0)
    with pytest.raises(RuntimeError, match="forward"):
        torchtrt.profile(module, [])


def test_command_line(mixed, tmp_path):
    mixed.save(str(tmp_path / "mixed.ts"))
    process = succeeds("profile", tmp_path / "mixed.ts", "(64,32)", "--calls", "2", "--threads", "1", "--most", "3",
                       "--json", tmp_path / "profile.json")
    assert "1 thread\n" in process.stdout and "aten::linalg_inv" in process.stdout
    assert json.loads((tmp_path / "profile.json").read_text())["threads"] == 1
    assert torchtrtc("profile", tmp_path / "mixed.ts", "(64,32)", "--calls", "0").returncode == 2
