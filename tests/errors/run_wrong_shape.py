"""Another shape than the one compiled for."""

import torch

import torchtrt

CODE = "E005"
SAYS = ["dimension 1", "expected 3", "got 4", "compile again"]


def misuse(folder):
    compiled = torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2, 3])])
    compiled(torch.ones(2, 4))
