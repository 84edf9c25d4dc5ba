"""A GPU, where engines run on the CPU."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["GPU", "cpu"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "(2)", "-d", "gpu"]
