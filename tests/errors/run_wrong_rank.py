"""A vector for an engine of matrices."""

import torch

import torchtrt

CODE = "E005"
SAYS = ["expected 2 dimensions", "[3]"]


def misuse(folder):
    compiled = torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2, 3])])
    compiled(torch.ones(3))
