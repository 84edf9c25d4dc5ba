"""A vector for an engine of matrices."""

import torch

import torchtrt

CODE = "E005"
SAYS = ["expected 2 dimensions", "[3]"]


def misuse(folder):
    relu = torch.jit.script(torch.nn.ReLU().eval())
    compiled = torchtrt.compile(relu, inputs=[torchtrt.Input([2, 3])], require_full_compilation=True)
    compiled(torch.ones(3))
