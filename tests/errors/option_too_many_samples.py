"""Samples for another method: two arguments where one is taken."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["the number of sample inputs does not fit", "forward(Tensor input) -> Tensor, got 2", "in order"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[[2]], sample_inputs=[torch.ones(2), torch.ones(2)])
