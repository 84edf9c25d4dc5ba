"""Bound calls of real modules, in a C++ process that watches each allocation, lock and system call of every call."""

import os
import pathlib
import subprocess

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import torchtrt
import torchtrt.ptq
import torchtrt.runtime

BUILD = pathlib.Path(os.environ["TORCHTRT_BUILD"])
RUNNER = BUILD / "bin" / "real_time_runner"
NOBODY_WATCHES = 77
TOLERANCE = 1e-4


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 4))

    def forward(self, x):
        return self.layers(x)


class Pooled(nn.Module):
    """Among its convolutions is one that oneDNN computes in an ordinary call."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(32, 256, 1), nn.ReLU(),
            nn.Conv2d(256, 512, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10), nn.Softmax(1))

    def forward(self, x):
        return self.layers(x)


class Block(nn.Module):
    def __init__(self, size: int = 64, heads: int = 4):
        super().__init__()
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.first, self.second = nn.LayerNorm(size), nn.LayerNorm(size)
        self.feed = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size))
        self.heads, self.size = heads, size

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.first(x)).reshape(batch, length, 3, self.heads, self.size // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        mixed = F.softmax(q @ k.transpose(-1, -2) * (self.size // self.heads) ** -0.5, -1) @ v
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, self.size))
        return x + self.feed(self.second(x))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(16, 32, batch_first=True)

    def forward(self, x, h, c):
        y, state = self.lstm(x, (h, c))
        return y, state[0], state[1]


class Quantizable(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(8, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.Flatten(),
                                    nn.Linear(64 * 64, 16))

    def forward(self, x):
        return self.layers(x)


def case(name: str):
    """The compiled module, its inputs, and the outputs of an ordinary call."""
    torch.manual_seed(0)
    shapes = {"mlp": [(1, 16)], "mlp_of_a_range": [(3, 16)], "pooled": [(1, 3, 32, 32)], "block": [(1, 24, 64)],
              "recurrent": [(1, 5, 16), (1, 1, 32), (1, 1, 32)], "int8": [(1, 8, 8, 8)], "float16": [(1, 24, 64)]}[name]
    model = {"mlp": Mlp, "mlp_of_a_range": Mlp, "pooled": Pooled, "block": Block, "recurrent": Recurrent, "int8": Quantizable, "float16": Block}[name]()
    inputs = [torch.randn(shape) for shape in shapes]
    options = {}
    specs = [torchtrt.Input(shape) for shape in shapes]
    if name == "mlp_of_a_range":
        specs = [torchtrt.Input(min_shape=(1, 16), opt_shape=(2, 16), max_shape=(8, 16))]
    if name == "float16":
        model, inputs = model.half(), [each.half() for each in inputs]
        specs = [torchtrt.Input(shapes[0], dtype=torch.half)]
    if name == "int8":
        batches = [torch.randn(shapes[0]) for _ in range(8)]
        options = {"enabled_precisions": {torch.float, torch.int8}, "calibrator": torchtrt.ptq.DataLoaderCalibrator(batches)}
    compiled = torchtrt.compile(torch.jit.trace(model.eval(), tuple(inputs)), inputs=specs, **options)
    expected = compiled(*inputs)
    return compiled, inputs, expected if isinstance(expected, tuple) else (expected,)


@pytest.mark.parametrize("name", ["mlp", "mlp_of_a_range", "pooled", "block", "recurrent", "int8", "float16"])
def test_bound_calls_are_quiet(name, tmp_path):
    compiled, inputs, expected = case(name)
    compiled.save(str(tmp_path / "module.ts"))
    torch.save(inputs, tmp_path / "inputs.pt")
    for threads in (1, 2):
        command = [str(RUNNER), str(tmp_path / "module.ts"), str(tmp_path / "inputs.pt"), str(tmp_path / "outputs.pt"), "--threads", str(threads)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode == NOBODY_WATCHES:
            pytest.skip(done.stdout.strip())
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout == "quiet\n"
        results = torch.load(tmp_path / "outputs.pt")
        assert len(results) == len(expected)
        for actual, wanted in zip(results, expected, strict=True):
            # Kernels of torchtrt stand in for those of oneDNN, whose sums have another order, and int8 another rounding.
            tolerance = {"int8": 1e-2, "float16": 2e-2}.get(name, TOLERANCE)
            assert (actual.float() - wanted.float()).abs().max() <= tolerance * wanted.float().abs().max()


def test_an_ordinary_call_is_not(tmp_path):
    """The detector sees what libtorch does, in the same process and with the same module."""
    compiled, inputs, _ = case("mlp")
    compiled.save(str(tmp_path / "module.ts"))
    torch.save(inputs, tmp_path / "inputs.pt")
    command = [str(RUNNER), str(tmp_path / "module.ts"), str(tmp_path / "inputs.pt"), str(tmp_path / "outputs.pt"), "--forward"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode == NOBODY_WATCHES:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 1, done.stdout + done.stderr
    assert "call 0: " in done.stdout
    assert " allocations, " in done.stdout and not done.stdout.startswith("call 0: 0 allocations")
