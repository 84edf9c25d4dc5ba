"""A dtype that does not exist."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ['"f12"', "float32"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "(2)@f12"]
