"""Modules are asked to stay in PyTorch, and a method is compiled as a whole."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["torch_executed_modules names Linear", "compile the modules beside it on their own"]


def misuse(folder):
    module = torch.jit.script(torch.nn.Linear(2, 2).eval())
    torchtrt.compile(module, inputs=[[1, 2]], torch_executed_modules=["Linear"])
