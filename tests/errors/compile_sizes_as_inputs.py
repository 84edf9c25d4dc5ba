"""The sizes of one input where a list of inputs is expected."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["inputs is a list of inputs, got the sizes [2, 4]", "inputs=[[2, 4]]"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.Linear(4, 2).eval()), inputs=(2, 4))
