"""Complex numbers for an engine of floats."""

import torch

import torchtrt

CODE = "E004"
SAYS = ["input 0", "ComplexFloat"]


def misuse(folder):
    relu = torch.jit.script(torch.nn.ReLU().eval())
    compiled = torchtrt.compile(relu, inputs=[torchtrt.Input([2, 3])], require_full_compilation=True)
    compiled(torch.ones(2, 3, dtype=torch.complex64))
