"""Neither can be pinned within a module of the other."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["op_precision is Float64", "input 0 is declared as Float32", "the same dtype"]


def misuse(folder):
    torchtrt.compile(torch.nn.Linear(2, 2).eval(), inputs=[torch.ones(1, 2)], op_precision=torch.double)
