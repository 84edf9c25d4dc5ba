"""Two inputs for a method that takes one."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["forward(input: Tensor)", "got 2 inputs"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2]), torchtrt.Input([2])])
