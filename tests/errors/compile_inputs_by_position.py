"""In the place of `ir`, where the reference system has it."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["ir does not take a list", "inputs=[...]"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), [torch.ones(2)])
