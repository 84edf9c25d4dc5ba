"""A sample tensor that is in no list of arguments; cut along its first dimension it would be several."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["sample_inputs does not take a Tensor", "in a list"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[[2]], sample_inputs=torch.ones(2))
