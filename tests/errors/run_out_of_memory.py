"""An outer product of 400 TB: the error says how much was wanted."""

import torch

import torchtrt

CODE = "E007"
SAYS = ["400000000000000 bytes"]


class Outer(torch.nn.Module):
    def forward(self, a, b):
        return a + b


def misuse(folder):
    inputs = [torchtrt.Input([-1, 1]), torchtrt.Input([1, -1])]
    compiled = torchtrt.compile(torch.jit.script(Outer().eval()), inputs=inputs)
    compiled(torch.ones(10_000_000, 1), torch.ones(1, 10_000_000))
