"""A number for a file."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["option timing_cache does not take 3", "a value like 'kernels.txt'"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[[2]], timing_cache=3)
