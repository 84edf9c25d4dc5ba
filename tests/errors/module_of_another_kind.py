"""Something that is no module."""

import torch

import torchtrt

CODE = "C004"
SAYS = ["cannot compile a dict", "torch.nn.Module"]


def misuse(folder):
    torchtrt.compile({"weight": torch.ones(2)}, inputs=[torchtrt.Input([2])])
