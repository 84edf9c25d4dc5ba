"""A check of numbers that nobody put into the file."""

import torch

CODE = "C004"
EXIT = 1
SAYS = ["holds no inputs and expected outputs", "torchtrtc bundle"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", "check", folder / "relu.ts", "--numbers"]
