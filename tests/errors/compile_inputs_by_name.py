"""Inputs by the names of the arguments."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["inputs does not take a dict", "in the method's order"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs={"input": torchtrt.Input([2])})
