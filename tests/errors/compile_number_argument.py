"""A method that takes a number beside its tensor, which an engine cannot."""

import torch

import torchtrt

CODE = "C001"
SAYS = ["aten::mul", "takes a value that PyTorch computes, and engines take tensors"]


class Scale(torch.nn.Module):
    def forward(self, x, scale: float):
        return x * scale


def misuse(folder):
    torchtrt.compile(torch.jit.script(Scale().eval()), inputs=[torchtrt.Input([2, 3])], require_full_compilation=True)
