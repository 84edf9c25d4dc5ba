"""A profile for a folder that does not exist, which is told before the calls."""

import torch

CODE = "C007"
EXIT = 1
SAYS = ["cannot write", "none/profile.json", "in a folder that exists"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", "profile", folder / "relu.ts", "(2)", "--json", folder / "none/profile.json"]
