"""Minimum, optimum and maximum of different ranks."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["differ in rank", "[1]", "[2, 3]"]


def misuse(folder):
    mixed = torchtrt.Input(min_shape=[1], opt_shape=[2, 3], max_shape=[4, 3])
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[mixed])
