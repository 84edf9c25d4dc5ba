"""An option with a value of another type."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["workspace_size", "'much'"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2])], workspace_size="much")
