"""A reshape that the size at hand does not allow."""

import torch

import torchtrt

CODE = "E010"
SAYS = ["reshapes [5] to another number of elements, [0, 6]", "run_impossible_reshape.py"]


class Pairs(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x).reshape(-1, 6)


def misuse(folder):
    compiled = torchtrt.compile(
        torch.jit.script(Pairs().eval()), inputs=[torchtrt.Input(min_shape=[1], opt_shape=[6], max_shape=[60])])
    compiled(torch.ones(5))
