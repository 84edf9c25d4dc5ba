"""A GPU, on a machine that has none of that number."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["the device cuda:99 cannot be used here", 'Device("cpu")', "sm_90"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "(2)", "-d", "cuda:99"]
