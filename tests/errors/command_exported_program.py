"""A program of torch.export with an option that needs the TorchScript module."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["--tune is for TorchScript modules", "is an exported program of torch.export", "compile it in Python: torchtrt.compile(torch.export.load(path)"]


def command(folder):
    program = torch.export.export(torch.nn.ReLU().eval(), (torch.ones(2),))
    torch.export.save(program, folder / "model.pt2")
    return ["torchtrtc", folder / "model.pt2", folder / "compiled.ts", "(2)", "--tune"]
