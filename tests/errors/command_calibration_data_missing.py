"""Batches in a file that does not exist."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["none.pt is no file, expected a file of torch.save", "torch.save([batch, ...], file)"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "(2)", "-p", "int8", "--calibration-data", folder / "none.pt"]
