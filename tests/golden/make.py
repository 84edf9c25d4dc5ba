#!/usr/bin/env python3
"""Makes the golden files: what a version of torchtrt saved, with inputs and what that version computed. Later versions have to load the files
and compute the same: tests/python/test_golden.py.

    python tests/golden/make.py FOLDER

Files of a new version go to a folder of their own beside the others; files that are here are never made again. Runs with one thread and the
instruction set avx2, as the test does, so that the choice of kernels is the same on any CPU that has it."""

import os
import shutil
import sys
from pathlib import Path

os.environ.update(TORCHTRT_MAX_ISA="avx2", ATEN_CPU_CAPABILITY="avx2")

import torch
from torch import nn

import torchtrt

torch.set_num_threads(1)


class Convolutional(nn.Module):
    """Convolutions, pooling, a residual and a linear layer."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1, groups=4)
        self.norm, self.linear = nn.BatchNorm2d(8), nn.Linear(8 * 4 * 4, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        x = torch.max_pool2d(torch.relu(self.second(x) + x), 2)
        return torch.softmax(self.linear(torch.flatten(x, 1)), -1)


class Attention(nn.Module):
    """Projections, attention, a normalization and gelu, with a dynamic length."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(16, 16) for _ in range(4))
        self.norm = nn.LayerNorm(16)

    def heads(self, x):
        return x.reshape(x.size(0), x.size(1), 2, 8).transpose(1, 2)

    def forward(self, x):
        mixed = nn.functional.scaled_dot_product_attention(self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x)))
        return nn.functional.gelu(self.norm(x + self.out(mixed.transpose(1, 2).flatten(2))))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 8, num_layers=2, bidirectional=True, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0]


class Counted(nn.Module):
    """Gives as many rows as the numbers ask for."""

    def forward(self, x):
        return torch.nonzero(torch.sigmoid(x) > 0.5), torch.cumsum(x, 1)


class Mixed(nn.Module):
    """Has a part that stays in PyTorch, between two engines."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(12, 12), nn.Linear(12, 4)

    def forward(self, x):
        x = torch.sin(torch.tanh(self.first(x)) * 2)
        x = torch.linalg.qr(x)[0]
        return torch.exp(-torch.relu(self.second(x) + 1))


class Quantized(nn.Module):
    """Convolutions and linear layers that become products of integers."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.linear = nn.Conv2d(8, 16, 3), nn.Conv2d(16, 16, 1), nn.Linear(16, 8)

    def forward(self, x):
        x = torch.relu(self.second(torch.relu(self.first(x))))
        return self.linear(x.mean((2, 3)))


RANGE = torchtrt.Input(min_shape=(1, 2, 16), opt_shape=(2, 8, 16), max_shape=(4, 16, 16))
# Name, module, Inputs, inputs of the calls, further options. `mixed` is no engine as a whole.
CASES = {
    "convolutional": (Convolutional, [torchtrt.Input((2, 3, 8, 8))], [(2, 3, 8, 8)], {}),
    "attention": (Attention, [RANGE], [(2, 8, 16), (1, 5, 16)], {}),
    "half": (Attention, [RANGE], [(2, 8, 16)], {"enabled_precisions": {torch.float16}, "op_precision": torch.float16}),
    "recurrent": (Recurrent, [torchtrt.Input((2, 5, 6))], [(2, 5, 6)], {}),
    "counted": (Counted, [torchtrt.Input((4, 6))], [(4, 6)], {"min_block_size": 1}),
    "mixed": (Mixed, [torchtrt.Input((12, 12))], [(12, 12)], {"min_block_size": 1, "torch_executed_ops": ["aten::linalg_qr"]}),
    "quantized": (Quantized, [torchtrt.Input((1, 8, 8, 8))], [(1, 8, 8, 8)], {"enabled_precisions": {torch.int8}}),
    "refit": (Convolutional, [torchtrt.Input((2, 3, 8, 8))], [(2, 3, 8, 8)], {"refit": True}),
    "scaled": (Convolutional, [torchtrt.Input((2, 3, 8, 8))], [(2, 3, 8, 8)],
               {"enabled_precisions": {torch.bfloat16}, "op_precision": torch.bfloat16}),
    "gpu": (Attention, [torchtrt.Input((2, 8, 16))], [(2, 8, 16)], {"target": "sm_90"}),
}
MODULES_ALONE = ("mixed", "refit")  # an engine alone has no part in PyTorch, and no source to compile again


def made(name):
    """The scripted module, its Inputs, tensors for the calls and options; the same at every call."""
    torch.manual_seed(sum(map(ord, name)))
    module, inputs, shapes, options = CASES[name]
    dtype = options.get("op_precision", torch.float32)
    return torch.jit.script(module().eval()), inputs, [torch.randn(shape).to(dtype) for shape in shapes], dict(options)


def as_list(outputs):
    return list(outputs) if isinstance(outputs, tuple) else [outputs]


def other_weights(name):
    """Weights for an update of a module, by name."""
    return {key: value * 0.5 if value.is_floating_point() else value for key, value in made(name)[0].state_dict().items()}


def machine_of(cache: Path) -> str:
    """The line of a timing cache that names the machine, its instruction set and threads."""
    return cache.read_text().splitlines()[1]


def main(folder: Path):
    folder.mkdir(parents=True)
    for name in CASES:
        script, inputs, calls, options = made(name)
        if name == "quantized":
            torch.manual_seed(1)
            batches = [torch.randn(1, 8, 8, 8) for _ in range(8)]
            options["calibrator"] = torchtrt.ptq.DataLoaderCalibrator(batches, cache_file=str(folder / "calibration.cache"))
        if name == "convolutional":
            options |= {"tune": True, "timing_cache": str(folder / "timings.txt"), "require_full_compilation": True}
        module = torchtrt.compile(script, inputs=inputs, **options)
        module.save(str(folder / f"{name}.ts"))
        if name not in MODULES_ALONE:
            options = {key: value for key, value in options.items() if key not in ("require_full_compilation", "min_block_size", "tune")}
            (folder / f"{name}.engine").write_bytes(torchtrt.convert_method_to_trt_engine(script, inputs=inputs, **options))
        torch.save([([x], as_list(module(x))) for x in calls], folder / f"{name}.pt")
        if name == "refit":
            torchtrt.update_weights(module, other_weights(name))
            torch.save([([x], as_list(module(x))) for x in calls], folder / "updated.pt")
    embedded = torchtrt.ts.embed_engine_in_new_module((folder / "convolutional.engine").read_bytes())
    embedded.save(str(folder / "embedded.ts"))
    shutil.copy(folder / "convolutional.pt", folder / "embedded.pt")
    print(*sorted(f"{path.stat().st_size:8} {path.name}" for path in folder.iterdir()), sep="\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
