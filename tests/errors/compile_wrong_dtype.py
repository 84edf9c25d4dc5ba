"""Integers for a convolution with floating weights."""

import torch

import torchtrt

CODE = "C005"
SAYS = ["aten::conv2d", "expected int32 as operand 0 is", "float32[4, 3, 3, 3]", "all operands have one dtype"]


def misuse(folder):
    wrong = torchtrt.Input([1, 3, 8, 8], dtype=torch.int32)
    torchtrt.compile(torch.jit.script(torch.nn.Conv2d(3, 4, 3).eval()), inputs=[wrong], require_full_compilation=True)
