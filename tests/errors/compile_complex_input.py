"""A dtype that no engine computes with."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["complex64", "use float"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2], dtype=torch.complex64)])
