"""Modules that are compiled for a GPU on a machine that need not have one: what they are marked as, where they run, what graphs say of devices."""

import copy
import io
import os
import pathlib
import re
import subprocess
import sys

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import nets
import torchtrt
import torchtrt.runtime

SHAPE = [1, 1, 32, 32]


class AddsZeros(torch.nn.Module):
    """Adds a tensor that is made on a device which the code names."""

    def forward(self, x):
        return torch.relu(x) + torch.zeros(x.shape[-1], device=torch.device("cpu"))


def _engine(module):
    (engine,) = torchtrt.runtime.engines(module).values()
    return engine


def _binaries(module):
    """The number of pieces of machine code that an engine carries, by architecture."""
    return dict(re.findall(r'^binaries for "(\w+)": (\d+), [1-9]\d* bytes$', _engine(module).inspect(), re.MULTILINE))


@pytest.fixture(scope="module")
def nvrtc():
    if not (pathlib.Path(torch.__file__).parents[1] / "nvidia/cu13/lib/libnvrtc.so.13").exists():
        pytest.skip("there is no NVRTC beside PyTorch")


def _saved(module):
    file = io.BytesIO()
    torch.jit.save(module, file)
    file.seek(0)
    return file


@pytest.fixture(scope="module")
def for_gpu():
    if torch.cuda.is_available():
        pytest.skip("compiles without a GPU")
    return torchtrt.compile(torch.jit.script(nets.lenet()), inputs=[nets.images()], device="cuda:0", target="sm_90")


def test_an_engine_says_for_what_it_was_compiled_and_where_it_runs(for_gpu):
    assert _engine(for_gpu).device_info() == "0%9%0%cuda%sm_90"
    assert _engine(for_gpu).device() == torch.device("cpu")


def test_it_computes_what_pytorch_does(for_gpu):
    torch.testing.assert_close(for_gpu(nets.images()), nets.lenet()(nets.images()), rtol=1e-4, atol=1e-5)


def test_an_engine_for_the_cpu_says_so():
    compiled = torchtrt.compile(torch.jit.script(nets.lenet()), inputs=[SHAPE])
    assert _engine(compiled).device_info() == "0%0%0%cpu%generic"


@pytest.mark.parametrize("load", [torch.jit.load, torchtrt.load], ids=["torch.jit.load", "torchtrt.load"])
def test_a_file_for_a_gpu_runs_on_the_cpu_and_stays_for_a_gpu(for_gpu, load):
    loaded = load(_saved(for_gpu))
    assert _engine(loaded).device_info() == "0%9%0%cuda%sm_90"
    assert torch.equal(loaded(nets.images()), for_gpu(nets.images()))
    again = load(_saved(loaded))
    assert _engine(again).device_info() == "0%9%0%cuda%sm_90"


def test_the_caller_may_name_the_cpu_and_then_it_stays_there(for_gpu):
    loaded = torchtrt.load(_saved(for_gpu), map_location="cpu")
    assert _engine(loaded).device_info() == "0%0%0%cpu%generic"
    assert torch.equal(loaded(nets.images()), for_gpu(nets.images()))


def test_a_copy_shares_the_engine(for_gpu):
    assert _engine(copy.deepcopy(for_gpu)).device_info() == _engine(for_gpu).device_info()


def test_the_state_ends_with_a_marker_without_elements(for_gpu):
    (strings, weights, _, _), _ = _engine(for_gpu).__getstate__()
    assert strings[2] == "0%9%0%cuda%sm_90"
    assert weights[-1].numel() == 0


@pytest.mark.usefixtures("nvrtc")
def test_it_carries_machine_code_for_its_architecture(for_gpu):
    assert int(_binaries(for_gpu)["sm_90"]) >= 3
    assert list(_binaries(for_gpu)) == ["sm_90"]
    assert _binaries(torch.jit.load(_saved(for_gpu))) == _binaries(for_gpu)
    assert _binaries(torchtrt.load(_saved(torch.jit.load(_saved(for_gpu))), map_location="cpu")) == _binaries(for_gpu)


@pytest.mark.usefixtures("nvrtc", "for_gpu")
def test_the_architecture_of_binaries_has_no_letter():
    compiled = torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[SHAPE], target="sm_90a")
    assert _binaries(compiled) == {"sm_90": "1"}


@pytest.mark.usefixtures("nvrtc", "for_gpu")
def test_an_engine_as_bytes_carries_machine_code():
    plan = torchtrt.convert_method_to_trt_engine(torch.jit.script(torch.nn.ReLU().eval()), inputs=[SHAPE], target="sm_90")
    assert _binaries(torchtrt.ts.embed_engine_in_new_module(plan)) == {"sm_90": "1"}


def test_an_engine_for_no_named_architecture_carries_none():
    assert _binaries(torchtrt.compile(torch.jit.script(nets.lenet()), inputs=[SHAPE])) == {}


COMPILES = """
import sys, torch, torchtrt
torchtrt.logging.set_reportable_log_level(torchtrt.logging.Level.Info)
module = torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[[2, 3]], target=sys.argv[1])
print([engine.inspect().count("binaries for") for engine in torchtrt.runtime.engines(module).values()])
"""


# Preloaded, it lets nobody open NVRTC. That stays where it is for PyTorch, some of whose libraries are linked to it.
HIDES_NVRTC = """
#include <dlfcn.h>
#include <string.h>

extern "C" void* dlopen(const char* name, int flags) noexcept {
  const auto next = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
  return next(name != nullptr && strstr(name, "libnvrtc") != nullptr ? "libnone.so" : name, flags);
}
"""


@pytest.mark.usefixtures("for_gpu")
@pytest.mark.parametrize("target, words", [("sm_90", "NVRTC, which compiles kernels for the GPU, is missing"), ("sm_10", "NVRTC")])
def test_without_a_compiler_the_file_carries_none_and_the_log_says_so(tmp_path, target, words):
    hides = tmp_path / "hides.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-o", hides, "-x", "c++", "-"], input=HIDES_NVRTC, text=True, check=True)
    environment = {**os.environ, "LD_PRELOAD": str(hides)} if target == "sm_90" else dict(os.environ)
    process = subprocess.run([sys.executable, "-c", COMPILES, target], env=environment, capture_output=True, text=True, check=False)
    assert process.stdout == "[0]\n", process.stderr
    assert f"carries no machine code for {target}" in process.stderr
    assert words in process.stderr


def test_what_pytorch_runs_follows_the_inputs():
    if torch.cuda.is_available():
        pytest.skip("compiles without a GPU")
    module = torch.jit.script(AddsZeros().eval())
    x = torch.randn(2, 8)
    compiled = torchtrt.compile(module, inputs=[x], device="cuda:0", target="sm_90", min_block_size=1, torch_executed_ops=["aten::zeros"])
    torch.testing.assert_close(compiled(x), module(x))
    assert "prim::device" in str(compiled.graph)


def test_what_pytorch_makes_goes_to_the_engine_s_device(tmp_path):
    if torch.cuda.is_available():
        pytest.skip("compiles without a GPU")
    module = torch.jit.script(AddsZeros().eval())
    x = torch.randn(2, 8)
    settings = {"inputs": [x], "min_block_size": 1, "torch_executed_ops": ["aten::zeros"]}
    for_gpu = torchtrt.compile(module, device="cuda:0", target="sm_90", **settings)
    for_gpu.save(str(tmp_path / "for_gpu.ts"))
    loaded = torch.jit.load(str(tmp_path / "for_gpu.ts"))
    assert 'prim::CallMethod[name="device"]' in str(loaded.graph)
    torch.testing.assert_close(loaded(x), module(x))
    assert "CallMethod" not in str(torchtrt.compile(module, **settings).graph)


def test_a_gpu_that_is_not_there_is_named(for_gpu):
    with pytest.raises(torchtrt.CompileError, match=r"\[C003\] the device cuda:0 cannot be used here: libtorch finds no GPU"):
        torchtrt.compile(torch.jit.script(nets.lenet()), inputs=[SHAPE], device="cuda:0")


def test_fake_tensors_bring_no_gpus():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with FakeTensorMode():  # as torch.export and torch.compile enter it; libtorch then counts eight GPUs
        torch.ones(2)
    with pytest.raises(torchtrt.CompileError, match=r"\[C003\] the device cuda:7 cannot be used here: libtorch finds no GPU"):
        torchtrt.compile(torch.jit.script(AddsZeros().eval()), inputs=[torchtrt.Input([2, 3])], device="cuda:7")


def test_build_info_tells_of_gpus():
    assert "\ndevices: cpu" in torchtrt.get_build_info()


class CellsOfGpuTraces(torch.nn.Module):
    """The operators that a trace on a GPU records for lstm_cell and gru_cell, which PyTorch's CPU does not have."""

    def forward(self, gates, state_gates, h, c, thirds, state_thirds, b, d):
        plain = torch.ops.aten._thnn_fused_lstm_cell(gates + b, state_gates + d, c, None, None)
        biased = torch.ops.aten._thnn_fused_lstm_cell(gates, state_gates, c, b, d)
        gru = torch.ops.aten._thnn_fused_gru_cell(thirds, state_thirds, h, b[:12], d[:12])
        return plain[0], plain[1], biased[0], biased[1], biased[2], gru[0], gru[1]


def test_cells_of_a_trace_on_a_gpu_compute_as_the_operators_do():
    generator = torch.Generator().manual_seed(3)
    x, h, c, w, u, b, d = (torch.randn(size, generator=generator) for size in ((2, 3), (2, 4), (2, 4), (16, 3), (16, 4), 16, 16))
    given = [x @ w.t(), h @ u.t(), h, c, x @ w[:12].t(), h @ u[:12].t(), b, d]
    compiled = torchtrt.compile(
        torch.jit.script(CellsOfGpuTraces().eval()), inputs=[torchtrt.Input(list(each.shape)) for each in given], require_full_compilation=True)
    plain_h, plain_c, biased_h, biased_c, lstm_gates, gru, gru_gates = compiled(*given)
    expected = torch.lstm_cell(x, (h, c), w, u, b, d)
    for got in ((plain_h, plain_c), (biased_h, biased_c)):
        torch.testing.assert_close(got, expected)
    torch.testing.assert_close(gru, torch.gru_cell(x, h, w[:12], u[:12], b[:12], d[:12]))
    # The backward pass reads these: gates behind their functions, and of the GRU the state and its share of the new one, too.
    entering, staying, fresh, shown = (given[0] + b + given[1] + d).chunk(4, -1)
    torch.testing.assert_close(lstm_gates, torch.cat([entering.sigmoid(), staying.sigmoid(), fresh.tanh(), shown.sigmoid()], -1))
    assert gru_gates.shape == (2, 20)
    torch.testing.assert_close(gru_gates[:, 12:], torch.cat([h, given[5][:, 8:] + d[8:12]], -1))
