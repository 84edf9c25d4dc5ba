"""Fewer operators than none."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ['--mbs: expected a whole number, 0 or more, got "-3"', "torchtrtc --help"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "(2)", "--mbs=-3"]
