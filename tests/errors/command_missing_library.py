"""A library of converters that does not exist."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["--custom-converters", "no_such.so"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "(2)", "--custom-converters=no_such.so"]
