"""A module in training mode."""

import torch

import torchtrt

CODE = "C004"
SAYS = ["training mode", "eval()"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.Dropout()), inputs=[torchtrt.Input([2])])
