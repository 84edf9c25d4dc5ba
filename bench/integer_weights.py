#!/usr/bin/env python3
"""Times calls of few rows with integer weights beside float32 of torchtrt and of PyTorch: matrices, and blocks of a decoder of GPT-2's size.

    python bench/integer_weights.py [--rows 1] [--threads 1 2] [--rounds 30] [--smoke]

Each module has so many layers that no cache holds its weights, and the table has milliseconds of one layer or block. All ways take turns
within one run. "GB/s" is the speed at which weights are read, scales included. torchtrt-bench-weights shows the limit of the machine beside.
"""

import argparse
import functools

import torch
from torch import nn

import timing
import torchtrt

WAYS = {"float32": {}, "int8": {"weight_precision": "int8"}, "int4": {"weight_precision": "int4"}}
BYTES = {"PyTorch": 4, "float32": 4, "int8": 1 + 4 / 64, "int4": 0.5 + 4 / 64}  # of a weight


class Pairs(nn.Module):
    """Products with matrices of `columns` x `depth` and of the transposed shape in turns: a result is the next operand."""

    def __init__(self, columns, depth, count):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(*((depth, columns) if i % 2 == 0 else (columns, depth)), bias=False) for i in range(count))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Block(nn.Module):
    """A decoder's block for one token, without its attention to earlier ones."""

    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        queries, keys, values = self.attention(self.first(x)).chunk(3, -1)
        x = x + self.projection(values * torch.sigmoid(queries * keys))
        return x + self.down(nn.functional.gelu(self.up(self.second(x)), approximate="tanh"))


def cases(smoke: bool):
    """Name, module, depth and number of layers or blocks."""
    if smoke:
        return [("256 x 256", Pairs(256, 256, 2), 256, 2), ("block, 128 wide", nn.Sequential(Block(128)), 128, 1)]
    return [
        ("4096 x 4096", Pairs(4096, 4096, 8), 4096, 8),
        ("11008 x 4096", Pairs(11008, 4096, 4), 4096, 4),
        ("block, 768 wide", nn.Sequential(*(Block(768) for _ in range(12))), 768, 12),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--smoke", action="store_true", help="small matrices and few rounds")
    options = parser.parse_args()
    print(f"{options.rows} row(s), load of others {timing.quiet():.2f}")
    print(f"{'':18} {'threads':>7} {'way':>8} {'ms':>9} {'GB/s':>7}")
    for name, model, depth, count in cases(options.smoke):
        model.eval()
        x = torch.randn(options.rows, depth)
        weights = sum(parameter.numel() for parameter in model.parameters() if parameter.dim() == 2) / count
        ways = {"PyTorch": torch.jit.freeze(torch.jit.script(model))}
        ways.update({way: torchtrt.compile(model, inputs=[list(x.shape)], check_results=False, **form) for way, form in WAYS.items()})
        for threads in options.threads:
            torch.set_num_threads(threads)
            with torch.no_grad():
                calls = {way: functools.partial(module, x) for way, module in ways.items()}
                times = timing.in_turn(calls, rounds=3 if options.smoke else options.rounds)
            for way, time in times.items():
                milliseconds = time.median / count
                print(f"{name:18} {threads:7} {way:>8} {milliseconds:9.4f} {weights * BYTES[way] / milliseconds / 1e6:7.1f}")


if __name__ == "__main__":
    main()
