"""A module with no forward at all."""

import torch

import torchtrt

CODE = "C004"
SAYS = ["no method 'forward'"]


class Other(torch.nn.Module):
    @torch.jit.export
    def apply_it(self, x):
        return torch.relu(x)


def misuse(folder):
    torchtrt.compile(torch.jit.script(Other().eval()), inputs=[torchtrt.Input([2])])
