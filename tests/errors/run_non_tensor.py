"""Text where a tensor is taken: TorchScript itself says so."""

import torch

import torchtrt

CODE = None
SAYS = ["Expected a value of type 'Tensor", "'str'"]


def misuse(folder):
    compiled = torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2, 3])])
    compiled("picture.jpg")
