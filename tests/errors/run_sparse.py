"""A sparse tensor."""

import torch

import torchtrt

CODE = "E004"
SAYS = ["not a dense tensor", "Sparse", "to_dense()"]


def misuse(folder):
    relu = torch.jit.script(torch.nn.ReLU().eval())
    compiled = torchtrt.compile(relu, inputs=[torchtrt.Input([3, 3])], require_full_compilation=True)
    compiled(torch.eye(3).to_sparse())
