"""A dictionary of tensors among the inputs, where it is read as a range of shapes."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["['x']", "input_signature"]


class Named(torch.nn.Module):
    def forward(self, named: dict[str, torch.Tensor]):
        return named["x"] * 2


def misuse(folder):
    torchtrt.compile(torch.jit.script(Named().eval()), inputs=[{"x": torch.ones(2)}])
