"""A sparse tensor."""

import torch

import torchtrt

CODE = "E004"
SAYS = ["not a dense tensor", "Sparse", "to_dense()"]


def misuse(folder):
    compiled = torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([3, 3])])
    compiled(torch.eye(3).to_sparse())
