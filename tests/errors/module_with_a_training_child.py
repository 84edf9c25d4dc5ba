"""A submodule that was set back to training mode."""

import torch

import torchtrt

CODE = "C004"
SAYS = ["submodule '1'", "training mode", "eval()"]


def misuse(folder):
    module = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.BatchNorm1d(3)).eval()
    module[1].train()
    torchtrt.compile(torch.jit.script(module), inputs=[torchtrt.Input([2, 3])])
