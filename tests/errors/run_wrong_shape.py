"""Another shape than the one compiled for."""

import torch

import torchtrt

CODE = "E005"
SAYS = ["dimension 1", "expected 3", "got 4", "compile again"]


def misuse(folder):
    relu = torch.jit.script(torch.nn.ReLU().eval())
    compiled = torchtrt.compile(relu, inputs=[torchtrt.Input([2, 3])], require_full_compilation=True)
    compiled(torch.ones(2, 4))
