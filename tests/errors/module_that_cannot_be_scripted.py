"""A module that TorchScript does not take."""

import torch

import torchtrt

CODE = "C004"
SAYS = ["cannot be scripted", "torch.jit.trace"]


class Generator(torch.nn.Module):
    def forward(self, x):
        yield x


def misuse(folder):
    torchtrt.compile(Generator().eval(), inputs=[torchtrt.Input([2])])
