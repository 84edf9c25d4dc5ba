"""Something else than a list of rewriters."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["option rewriters does not take a function", "in a list"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[[2]], rewriters=lambda network: None)
