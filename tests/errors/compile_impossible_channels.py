"""Channels that no convolution of the module takes."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["no call with such inputs comes through", "aten::conv2d", "expected input[1, 3, 8, 8] to have 2 channels, but got 3 channels", "give the sizes"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.Conv2d(2, 4, 3).eval()), inputs=[torchtrt.Input([1, 3, 8, 8])])
