"""A vector for a two-dimensional convolution."""

import torch

import torchtrt

CODE = "C005"
SAYS = ["aten::conv2d", "expected an input of rank 3 to 5", "float32[1, 5]"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.Conv2d(3, 4, 3).eval()), inputs=[torchtrt.Input([5])], require_full_compilation=True)
