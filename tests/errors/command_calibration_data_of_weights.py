"""A checkpoint where batches are expected."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["weights.pt holds something else than tensors, numbers, texts, lists, tuples and dictionaries", "torch.save([batch, ...], file)"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    torch.save(torch.nn.Linear(4, 2).state_dict(), folder / "weights.pt")
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "(2)", "-p", "int8", "--calibration-data", folder / "weights.pt"]
