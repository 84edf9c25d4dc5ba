"""An integer divided by zero."""

import torch

import torchtrt

CODE = "E011"
SAYS = ["zero"]


class Divide(torch.nn.Module):
    def forward(self, a, b):
        return torch.floor_divide(a, b)


def misuse(folder):
    compiled = torchtrt.compile(
        torch.jit.script(Divide().eval()), inputs=[torchtrt.Input([2], dtype=torch.int64) for _ in "ab"])
    compiled(torch.tensor([1, 2]), torch.tensor([1, 0]))
