"""A constant of 400 TB that folding would make."""

import torch

import torchtrt

CODE = None
SAYS = ["400000000000000"]


class Constant(torch.nn.Module):
    def forward(self, x):
        return x + torch.zeros(10_000_000, 10_000_000)


def misuse(folder):
    torchtrt.compile(torch.jit.script(Constant().eval()), inputs=[torchtrt.Input([1])], require_full_compilation=True)
