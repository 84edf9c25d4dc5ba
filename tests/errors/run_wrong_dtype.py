"""Doubles for an engine of floats."""

import torch

import torchtrt

CODE = "E004"
SAYS = ["input 'input'", "expected float32", "got float64", "convert it"]


def misuse(folder):
    compiled = torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2, 3])])
    compiled(torch.ones(2, 3, dtype=torch.float64))
