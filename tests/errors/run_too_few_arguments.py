"""A call without its argument: TorchScript itself says so."""

import torch

import torchtrt

CODE = None
SAYS = ["missing value for argument 'input'"]


def misuse(folder):
    compiled = torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2, 3])])
    compiled()
