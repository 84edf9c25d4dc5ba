"""A module that is to run on a GPU which is not in this machine."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["there is no device cuda:99", '"cpu"']


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", "run", folder / "relu.ts", "(2)", "--device", "cuda:99"]
