"""A checkpoint that torch.save wrote."""

import torch

CODE = "C004"
EXIT = 1
SAYS = ["weights.pt", "is a checkpoint of torch.save (weights, no program)", "expected a TorchScript module", "torch.jit.save"]


def command(folder):
    torch.save(torch.nn.Linear(4, 2).state_dict(), folder / "weights.pt")
    return ["torchtrtc", folder / "weights.pt", folder / "out.ts", "(1,4)"]
