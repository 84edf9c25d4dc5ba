"""A number where names of modules are expected."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["torch_executed_modules does not take 5", "a list of names"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[[2]], torch_executed_modules=5)
