"""One input for a method that takes two."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["forward(a: Tensor, b: Tensor)", "got 1 input", "one Input for every tensor"]


class Sum(torch.nn.Module):
    def forward(self, a, b):
        return a + b


def misuse(folder):
    torchtrt.compile(torch.jit.script(Sum().eval()), inputs=[torchtrt.Input([2, 3])])
