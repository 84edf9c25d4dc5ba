"""A number among the inputs, where it is read as a shape."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["a list of sizes, got 3", "input_signature"]


class Scale(torch.nn.Module):
    def forward(self, x, scale: int):
        return x * scale


def misuse(folder):
    torchtrt.compile(torch.jit.script(Scale().eval()), inputs=[[2], 3])
