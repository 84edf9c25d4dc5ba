"""Precisions as a text."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["enabled_precisions does not take 'half'", "{torch.half}"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[[2]], enabled_precisions="half")
