"""Kernels chosen by the clock: a file that is written once, read from then on, and never needed."""

import os

import pytest
import torch
from torch import nn

import torchtrt

SHAPE = (1, 32, 20, 20)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = nn.Conv2d(32, 32, 3, padding=1), nn.Conv2d(32, 64, 1), nn.Linear(64, 10)

    def forward(self, x):
        x = torch.relu(self.second(torch.relu(self.first(x))))
        return self.third(x.mean((2, 3)))


@pytest.fixture
def net():
    torch.manual_seed(0)
    return torch.jit.script(Net().eval())


def compiled(net, **options):
    return torchtrt.compile(net, inputs=[torchtrt.Input(SHAPE)], **options)


def timings(module):
    return [timing for segment in torchtrt.report(module).segments for timing in segment.timings]


def saved(module, path):
    module.save(str(path))
    return path.read_bytes()


def tuned(net, cache, **options):
    return compiled(net, require_full_compilation=True, tune=True, timing_cache=str(cache), **options)


def test_times_once_and_compiles_to_the_same_bytes_from_then(net, tmp_path):
    cache = tmp_path / "cache"
    first = tuned(net, cache)
    assert timings(first) and not any(timing.is_cached for timing in timings(first))
    written = cache.read_text()
    assert written.startswith("torchtrt timings 1\nmachine torchtrt ")
    second = tuned(net, cache)
    read = compiled(net, require_full_compilation=True, timing_cache=str(cache))
    for again in (second, read):
        assert len(timings(again)) == len(timings(first)) and all(timing.is_cached for timing in timings(again))
    assert cache.read_text() == written
    assert saved(second, tmp_path / "net.ts") == saved(first, tmp_path / "net.ts") == saved(read, tmp_path / "net.ts")
    x = torch.randn(SHAPE)
    torch.testing.assert_close(first(x), net(x), rtol=1e-4, atol=1e-5)


def other_than_rule(cache):
    """Has the file name another implementation for the first convolution than the one that it is chosen by rule; gives its name."""
    lines = cache.read_text().splitlines()
    i = next(i for i, line in enumerate(lines) if line.startswith("time") and " convolution " in line and "[32,32,3,3]" in line)
    _, _, _, by_rule, _, problem = lines[i].split(" ", 5)
    other = "onednn" if by_rule != "onednn" else "packed_gemm"
    lines[i] = f"time {other} 1.5 {by_rule} 3 {problem}"
    cache.write_text("\n".join(lines) + "\n")
    return other


def test_hints_travel_with_the_module_and_the_report_says_so(net, tmp_path):
    cache = tmp_path / "cache"
    tuned(net, cache)
    other = other_than_rule(cache)
    module = compiled(net, timing_cache=str(cache))
    cache.unlink()
    chosen = [timing for timing in timings(module) if timing.implementation == other and timing.microseconds == 1.5]
    assert len(chosen) == 1 and chosen[0].by_rule_microseconds == 3
    assert f"{other} 1.5 us, by rule {chosen[0].by_rule} 3.0 us" in str(torchtrt.report(module))
    module.save(str(tmp_path / "net.ts"))
    loaded = torch.jit.load(str(tmp_path / "net.ts"))
    assert timings(loaded)[0].implementation == timings(module)[0].implementation
    x = torch.randn(SHAPE)
    torch.testing.assert_close(loaded(x), net(x), rtol=1e-4, atol=1e-5)
    profile = torchtrt.profile(loaded, [x], calls=2)
    assert other in {step.implementation for engine in profile.engines for step in engine.steps if step.name == chosen[0].step}


@pytest.mark.parametrize("content", ["", "torchtrt timings 1\nmachine x\ntime a b\n", "torchtrt timings 9\n", "something else\n",
                                     "torchtrt timings 1\nmachine another one\ntime reference 1 highway 2 convolution\n"])
def test_a_file_that_says_nothing_changes_nothing(net, tmp_path, content):
    cache = tmp_path / "cache"
    cache.write_text(content)
    module = compiled(net, timing_cache=str(cache))
    assert saved(module, tmp_path / "net.ts") == saved(compiled(net), tmp_path / "net.ts")
    assert cache.read_text() == content and not timings(module)


def test_without_seconds_nothing_is_timed(net, tmp_path):
    module = tuned(net, tmp_path / "cache", tuning_seconds=0.0)
    assert not timings(module) and not os.listdir(tmp_path)


def test_engines_are_timed_against_pytorch_beside(net, tmp_path):
    module = compiled(net, tune=True, timing_cache=str(tmp_path / "cache"), sample_inputs=[torch.randn(SHAPE)])
    assert (tmp_path / "cache").exists() and torchtrt.report(module).segments


def test_a_whole_method_as_an_engine(net, tmp_path):
    options = {"inputs": [torchtrt.Input(SHAPE)], "timing_cache": str(tmp_path / "cache")}
    first = torchtrt.convert_method_to_trt_engine(net, "forward", tune=True, **options)
    assert torchtrt.convert_method_to_trt_engine(net, "forward", **options) == first


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_seconds_that_are_none(net, seconds):
    with pytest.raises(torchtrt.CompileError, match="tuning_seconds"):
        compiled(net, tuning_seconds=seconds)
