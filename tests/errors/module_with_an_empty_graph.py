"""A method that gives back what it takes."""

import torch

import torchtrt

CODE = "C004"
SAYS = ["nothing to compile", "forward"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.Identity().eval()), inputs=[torchtrt.Input([2])], require_full_compilation=True)
