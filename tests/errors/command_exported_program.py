"""A file of torch.export, which torchtrtc does not read."""

import torch

CODE = "C004"
EXIT = 1
SAYS = ["is an exported program of torch.export, expected a TorchScript module", "torchtrt.compile(torch.export.load(path))"]


def command(folder):
    program = torch.export.export(torch.nn.ReLU().eval(), (torch.ones(2),))
    torch.export.save(program, folder / "model.pt2")
    return ["torchtrtc", folder / "model.pt2", folder / "compiled.ts", "(2)"]
