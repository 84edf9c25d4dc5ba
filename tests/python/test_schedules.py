"""Calls run what these texts say: engine.schedule, torchtrtc inspect --shape, and the switches that leave fusion rules and fast kernels
out."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import torch
from torch import nn

import torchtrt
from same import saved

BUILD = Path(os.environ["TORCHTRT_BUILD"])


class Net(nn.Module):
    """A depthwise convolution, its means, and arithmetic over both."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(16, 16, 3, padding=1, groups=16)

    def forward(self, x):
        y = self.conv(x)
        return torch.tanh(y * y.mean((2, 3), keepdim=True).sigmoid() + 1) - y


@pytest.fixture(scope="module")
def x():
    return torch.randn(2, 16, 20, 20, generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def compiled():
    torch.manual_seed(0)
    script = torch.jit.script(Net().eval())
    return torchtrt.compile(script, inputs=[torchtrt.Input(min_shape=[1, 16, 20, 20], opt_shape=[2, 16, 20, 20], max_shape=[4, 16, 20, 20])])


def schedule(module, x) -> str:
    (engine,) = torchtrt.runtime.engines(module).values()
    return engine.schedule([x])


def rules(text: str) -> set[str]:
    return set(re.findall(r"\[\w+, (\w+)\]", text))


def test_a_schedule_names_steps_rules_and_places(compiled, x):
    text = schedule(compiled, x)
    assert text.startswith("schedule ") and " threads, " in text.splitlines()[0]
    assert {"average_output", "pointwise_group"} <= rules(text), text
    assert "in0" in text and "out0 float32[2, 16, 20, 20]" in text
    profiled = next(iter(torchtrt.runtime.engines(compiled).values())).profile([x], 1)
    assert len(profiled) == len([line for line in text.splitlines() if re.match(r" +\d+ ", line)])


def test_rules_are_left_out_for_what_is_loaded_under_the_switch(compiled, x):
    with torchtrt.runtime.kernel_switches(disabled_fusions=["pointwise_group", "average_output"]):
        plain = saved(compiled)
    assert rules(schedule(plain, x)) == set()
    torch.testing.assert_close(plain(x), compiled(x), rtol=1e-5, atol=1e-6)
    assert rules(schedule(saved(compiled), x)) == rules(schedule(compiled, x)), "the switch holds inside of the block alone"


def test_reference_kernels(compiled, x):
    with torchtrt.runtime.kernel_switches(reference_kernels=True):
        reference = saved(compiled)
    assert set(re.findall(r"\[(\w+)", schedule(reference, x).replace("float32[", ""))) == {"reference"}
    torch.testing.assert_close(reference(x), compiled(x), rtol=1e-5, atol=1e-5)


GOLDEN = """schedule "__torch___test_schedules_Net_trt_engine": 1 thread, 153600 bytes of workspace
  0 reformat "reformat_12" [reference] (%0 in0) -> %3 ws+0 float32[2, 16, 20, 20]
  1 convolution "convolution_2" [reference] (%3 ws+0, %1, %2) -> %4 ws+51200 float32[2, 16, 20, 20], 51200 bytes of scratch ws+102400
  2 adaptive_pooling "reduce_3" [reference] (%4 ws+51200) -> %5 ws+102400 float32[2, 16, 1, 1], 51200 bytes of scratch ws+0
  3 activation "activation_4" [reference] (%6 ws+102400) -> %7 ws+102528 float32[2, 16, 1, 1]
  4 elementwise "elementwise_5" [reference] (%4 ws+51200, %7 ws+102528) -> %8 ws+0 float32[2, 16, 20, 20]
  5 elementwise "activation_8" [reference] (%8 ws+0, %9) -> %10 ws+102400 float32[2, 16, 20, 20]
  6 elementwise "elementwise_9" [reference] (%10 ws+102400, %4 ws+51200) -> %11 ws+0 float32[2, 16, 20, 20]
  7 reformat "reformat_14" [reference] (%11 ws+0) -> %12 out0 float32[2, 16, 20, 20]
"""


def test_inspect_and_dump_print_the_golden_text(tmp_path):
    """Reference kernels on one thread are the same on every machine."""
    torch.jit.script(Net().eval()).save(str(tmp_path / "net.ts"))
    environment = {**os.environ, "TORCHTRT_REFERENCE_KERNELS": "1", "OMP_NUM_THREADS": "1"}
    spec = "[(1,16,20,20);(2,16,20,20);(4,16,20,20)]"

    def torchtrtc(*arguments):
        command = [BUILD / "bin" / "torchtrtc", *arguments]
        process = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
        assert process.returncode == 0, process.stderr
        return process.stdout

    torchtrtc("net.ts", "compiled.ts", spec, "--dump=dump")
    (dumped,) = (tmp_path / "dump").glob("*.schedule.*.txt")
    assert dumped.read_text() == GOLDEN
    assert torchtrtc("inspect", "compiled.ts", "--shape", "(2,16,20,20)").startswith(GOLDEN)


def test_an_unknown_rule_is_an_error_that_lists_the_rules(compiled):
    with torchtrt.runtime.kernel_switches(disabled_fusions=["no_such_rule"]), pytest.raises(RuntimeError, match="C003.*no_such_rule") as error:
        saved(compiled)
    assert "pointwise_group" in str(error.value)


def test_shapes_outside_of_the_range_are_the_usual_error(compiled):
    with pytest.raises(RuntimeError, match="E005"):
        schedule(compiled, torch.zeros(5, 16, 20, 20))


def inspect(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run([BUILD / "bin" / "torchtrtc", "inspect", *arguments], capture_output=True, text=True, check=False)


def test_torchtrtc_prints_the_schedule(compiled, x, tmp_path):
    path = str(tmp_path / "compiled.ts")
    compiled.save(path)
    process = inspect(path, "--shape", "(2,16,20,20)")
    assert process.returncode == 0, process.stderr
    assert rules(process.stdout) == rules(schedule(compiled, x))
    assert rules(inspect(path, "--shape", "(2,16,20,20)", "--disable-fusion", "pointwise_group").stdout) == {"average_output"}
    wrong = inspect(path, "--shape", "(2,16,20,20)", "--disable-fusion", "nothing")
    assert wrong.returncode != 0
    assert wrong.stderr.startswith("torchtrtc: [C003] no fusion rule 'nothing'\n  the rules are "), wrong.stderr
