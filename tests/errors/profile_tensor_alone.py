"""A tensor that is in no list of arguments; its rows would be taken for them."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["inputs is a Tensor", "in a list"]


def misuse(folder):
    torchtrt.profile(torch.jit.script(torch.nn.ReLU().eval()), torch.ones(2))
