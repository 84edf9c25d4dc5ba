"""A size below -1."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["size -3", "-1 for any size"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([1, -3])])
