"""A method that takes a number beside its tensor, which an engine cannot."""

import torch

import torchtrt

CODE = "C005"
SAYS = ["scale", "tensors only", "pass it as a tensor"]


class Scale(torch.nn.Module):
    def forward(self, x, scale: float):
        return x * scale


def misuse(folder):
    torchtrt.compile(torch.jit.script(Scale().eval()), inputs=[torchtrt.Input([2, 3])])
