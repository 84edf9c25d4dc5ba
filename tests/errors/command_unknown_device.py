"""A device that does not exist."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ['no device "toaster"', '"cuda:0"']


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "(2)", "--device", "toaster"]
