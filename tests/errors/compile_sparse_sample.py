"""A sparse sample input."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["layout Sparse", "to_dense()"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torch.eye(3).to_sparse()])
