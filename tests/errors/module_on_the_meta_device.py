"""A module whose parameters hold no data."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["meta", "cpu"]


def misuse(folder):
    with torch.device("meta"):
        module = torch.nn.Linear(2, 2).eval()
    torchtrt.compile(torch.jit.script(module), inputs=[torchtrt.Input([1, 2])])
