"""An option of a compile in front of a command."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["--tune is for compiling, and stands in front of the command run", "torchtrtc run --help"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", "--tune", "run", folder / "relu.ts", "(2)"]
