"""The caller's settings during a compile do not become part of the compiled module."""

import contextlib
import io

import pytest
import torch
from torch import nn

import torchtrt
from same import assert_same


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.linear = nn.Conv2d(1, 2, 3, padding=1), nn.Linear(16, 4)
        self.register_buffer("steps", torch.arange(4) + 1)

    def forward(self, x):
        y = self.linear(torch.relu(self.conv(x)).flatten(2))
        grid = torch.linspace(0, 1, 4) + torch.zeros(4)
        y = y * (self.steps / 2) + grid
        return y + torch.matmul(self.linear.weight, self.linear.weight.t()).sum()


@contextlib.contextmanager
def default_dtype():
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


@contextlib.contextmanager
def deterministic():
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


@contextlib.contextmanager
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def flush_denormal():
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


@contextlib.contextmanager
def matmul_precision():
    torch.set_float32_matmul_precision("medium")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision("highest")


@contextlib.contextmanager
def without_onednn():
    with torch.backends.mkldnn.flags(enabled=False):
        yield


SETTINGS = {
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "autocast in float16": lambda: torch.autocast("cpu", dtype=torch.float16),
    "autocast for cuda": lambda: torch.autocast("cuda", dtype=torch.float16),
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "default dtype": default_dtype,
    "deterministic": deterministic,
    "one thread": one_thread,
    "flush denormal": flush_denormal,
    "matmul precision": matmul_precision,
    "without oneDNN": without_onednn,
}


def bytes_of(module):
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def net():
    torch.manual_seed(0)
    return Net().eval()


@pytest.mark.filterwarnings("ignore:User provided device_type of 'cuda'")
@pytest.mark.parametrize("front", ["scripted", "traced", "frozen"])
@pytest.mark.parametrize("with_samples", [False, True])
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_leaves_no_trace(net, front, with_samples, setting):
    torch.manual_seed(1)
    x = torch.randn(2, 1, 4, 4)
    module = torch.jit.trace(net, x) if front == "traced" else torch.jit.script(net)
    module = torch.jit.freeze(module) if front == "frozen" else module
    expected = module(x)
    inputs = [x] if with_samples else [torchtrt.Input([2, 1, 4, 4])]
    plain = torchtrt.compile(module, inputs=inputs, torch_executed_ops=["aten::flatten"], min_block_size=1)
    with SETTINGS[setting]():
        before = (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype(), torch.is_autocast_enabled("cpu"),
                  torch.get_autocast_dtype("cpu"), torch.get_num_threads())
        compiled = torchtrt.compile(module, inputs=inputs, torch_executed_ops=["aten::flatten"], min_block_size=1)
        assert before == (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype(),
                          torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.get_num_threads())
    assert bytes_of(compiled) == bytes_of(plain)
    assert_same(compiled(x).detach(), expected.detach())
    # Not even the user's module has been touched.
    assert_same(module(x).detach(), expected.detach())


@pytest.mark.filterwarnings("ignore:User provided device_type of 'cuda'")
@pytest.mark.parametrize("setting", SETTINGS)
def test_engines_and_eager_modules_too(net, setting):
    module = torch.jit.script(net)
    plain = torchtrt.convert_method_to_trt_engine(module, inputs=[torchtrt.Input([2, 1, 4, 4])])
    with SETTINGS[setting]():
        assert torchtrt.convert_method_to_trt_engine(module, inputs=[torchtrt.Input([2, 1, 4, 4])]) == plain
        assert torchtrt.ts.check_method_op_support(module)
        compiled = torchtrt.compile(net, inputs=[torchtrt.Input([2, 1, 4, 4])])
    x = torch.randn(2, 1, 4, 4)
    assert_same(compiled(x).detach(), net(x).detach())


def test_another_default_dtype_is_told(net, capfd):
    with default_dtype():
        torchtrt.compile(torch.jit.script(net), inputs=[torchtrt.Input([2, 1, 4, 4])])
    assert "the default dtype is double" in capfd.readouterr().err
