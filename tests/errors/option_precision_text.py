"""A dtype by its name, which would be taken for one that engines lack."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["one of torch's, got 'half'", "torch.half"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[[2]], op_precision="half")
