"""`with` inside of a scripted forward: autocast becomes casts by PyTorch's rules, no_grad and record_function go, and nothing crosses the
border of a context that nobody knows."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import torchtrt
from same import assert_same, saved

COMMAND = Path(os.environ["TORCHTRT_BUILD"]) / "bin" / "torchtrtc"


class Autocast(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)
        self.matrix = nn.Parameter(torch.randn(8, 6))

    def forward(self, x):
        x = self.first(x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = torch.relu(self.second(x))
            z = torch.softmax(torch.matmul(y, self.matrix), 1)
        return y, z, torch.tanh(x) * 2


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.matrix = nn.Parameter(torch.randn(8, 8))

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            inside = self.linear(x)
            both = inside + x
            with torch.autocast("cpu", enabled=False):
                outside = self.linear(x)
            constant = torch.matmul(self.matrix, self.matrix)
        return inside, both, outside, constant


class WithoutDtype(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        with torch.autocast("cpu"):
            y = self.linear(x)
        with torch.autocast("cpu", enabled=False):
            return self.linear(x), y


class Cuda(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        with torch.autocast("cuda", dtype=torch.float16):
            return self.linear(x)


class InBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        y = self.linear(x)
        if bool(x.sum() > 0):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                y = torch.relu(self.linear(y))
        return y + 1


def assert_same_in_dtype(actual, expected):
    """Casts round as PyTorch's: what is computed in bfloat16 is within its steps, the rest within float32's."""
    for a, e in zip(actual, expected, strict=True):
        assert a.dtype == e.dtype and a.shape == e.shape
        tolerance = 2e-2 if e.dtype == torch.bfloat16 else 5e-3
        assert (a.float() - e.float()).abs().max() <= tolerance * e.float().abs().max()


@pytest.mark.parametrize("made", [Autocast, Nested, WithoutDtype])
@pytest.mark.parametrize("how", ["shape", "sample", "frozen", "whole"])
def test_autocast_is_cast(made, how):
    module, x = torch.jit.script(made().eval()), torch.randn(4, 8)
    expected = module(x)
    assert torch.bfloat16 in [each.dtype for each in expected]
    source = torch.jit.freeze(module) if how == "frozen" else module
    inputs = [x] if how == "sample" else [torchtrt.Input([4, 8])]
    compiled = torchtrt.compile(source, inputs=inputs, require_full_compilation=how == "whole")
    for each in (compiled, saved(compiled)):
        assert_same_in_dtype(each(x), expected)
    assert "prim::Enter" not in str(compiled.graph)
    assert torchtrt.report(compiled).engine_segments == 1 and torchtrt.report(compiled).torch_segments == 0


def test_autocast_of_another_device_casts_nothing():
    module, x = torch.jit.script(Cuda().eval()), torch.randn(4, 8)
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([4, 8])], require_full_compilation=True)
    assert_same(compiled(x), module(x).detach())


@pytest.mark.parametrize("sign", [1, -1])
def test_autocast_in_a_branch(sign):
    module, x = torch.jit.script(InBranch().eval()), torch.rand(4, 8) * sign
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([4, 8])], min_block_size=1)
    expected = module(x)
    assert_same_in_dtype([compiled(x)], [expected])


def test_both_verify_compare_with_what_autocast_gives(tmp_path):
    module, x = torch.jit.script(Autocast().eval()), torch.randn(4, 8)
    module.save(str(tmp_path / "module.ts"))
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([4, 8])])
    compiled.save(str(tmp_path / "compiled.ts"))
    loaded = torch.jit.load(str(tmp_path / "module.ts"))
    assert torchtrt.verify(loaded, compiled, [x]).agrees
    assert loaded(x)[0].dtype == torch.bfloat16  # comparing left the module as it was
    float32 = torchtrt.compile(torch.jit.script(WithoutAutocast(Autocast())).eval(), inputs=[torchtrt.Input([4, 8])])
    float32.save(str(tmp_path / "float32.ts"))
    assert not torchtrt.verify(module, float32, [x]).agrees
    for name, agrees in [("compiled", True), ("float32", False)]:
        done = subprocess.run([COMMAND, "verify", tmp_path / "module.ts", tmp_path / f"{name}.ts", "(4,8)"],
                              capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == (0 if agrees else 1), done.stdout + done.stderr


class WithoutAutocast(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        x = self.module.first(x)
        y = torch.relu(self.module.second(x))
        return y, torch.softmax(torch.matmul(y, self.module.matrix), 1), torch.tanh(x) * 2


class NoGrad(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            y = torch.relu(self.linear(x))
            if torch.is_grad_enabled():
                y = y + 100
        with torch.autograd.profiler.record_function("scores"):
            y = torch.exp(y)
        return y - 1


def test_no_grad_and_record_function_are_no_obstacle():
    module, x = torch.jit.script(NoGrad().eval()), torch.randn(2, 4)
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([2, 4])], require_full_compilation=True)
    assert_same(compiled(x), module(x))


class NoGradAroundWhatIsObserved(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            y = torch.fft.rfft(torch.relu(x)).abs()
        return torch.relu(y * 2) + 1


class NoGradAroundWrites(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        y = self.linear(x)
        with torch.no_grad():
            self.mean.mul_(0.5).add_(y.detach().mean(0))
            spectrum = torch.fft.rfft(y).abs()
        return torch.relu(spectrum * 2) + self.mean.sum()


@pytest.mark.parametrize("made", [NoGradAroundWhatIsObserved, NoGradAroundWrites])
def test_contexts_around_what_an_example_run_needs(made):
    module, x = torch.jit.script(made().eval()), torch.randn(2, 4)
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([2, 4])], min_block_size=1)
    for each in (compiled, saved(compiled)):
        for _ in range(2):
            fresh = torch.jit.script(made().eval())
            fresh.load_state_dict(module.state_dict())
        assert_same(each(x).detach(), fresh(x).detach())


def test_no_grad_stays_around_what_others_see():
    module = torch.jit.script(NoGradAroundWrites().eval())
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([2, 4])], min_block_size=1)
    x = torch.randn(2, 4, requires_grad=True)
    compiled(x)
    assert not compiled.mean.requires_grad


@torch.jit.script
class Log:
    def __init__(self, text: str):
        self.text = text

    def __enter__(self):
        print("into " + self.text)

    def __exit__(self, type: Any, value: Any, trace: Any):  # noqa: A002
        print("out of " + self.text)


class Unknown(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        x = torch.relu(self.first(x))
        with Log("the middle"):
            x = torch.sigmoid(self.second(x))
            x = torch.fft.rfft(x).abs()
            x = torch.tanh(x)
        return torch.relu(self.third(torch.cat([x, x], 1)[:, :4])) + 1


def test_nothing_crosses_an_unknown_context(capfd):
    module, x = torch.jit.script(Unknown().eval()), torch.randn(2, 4)
    expected = module(x)
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([2, 4])], min_block_size=1)
    capfd.readouterr()
    assert_same(compiled(x).detach(), expected.detach())
    assert capfd.readouterr().out == "into the middle\nout of the middle\n"
    text = str(compiled.graph)
    engines = [at for at in range(len(text)) if text.startswith("tensorrt::execute_engine", at)]
    enter, leave = text.index("prim::Enter"), text.index("prim::Exit")
    assert sum(at < enter for at in engines) == 1 and sum(at > leave for at in engines) == 1
    assert any(enter < at < leave for at in engines)


def test_report_names_the_context():
    module = torch.jit.script(Unknown().eval())
    with pytest.raises(torchtrt.CompileError, match="prim::Enter|prim::CreateObject"):
        torchtrt.compile(module, inputs=[torchtrt.Input([2, 4])], require_full_compilation=True)
    report = json.loads(torchtrt.report(torchtrt.compile(module, inputs=[torchtrt.Input([2, 4])])).to_json())
    assert any(node["node"].startswith("prim::Enter") and node["target"] == "torch" for node in report["nodes"])
