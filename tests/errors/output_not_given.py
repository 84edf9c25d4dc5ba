"""No output file."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["no output file"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts"]
