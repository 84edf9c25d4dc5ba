"""A module that was not scripted."""

import torch

import torchtrt

CODE = "C004"
SAYS = ["module is a ReLU", "expected a ScriptModule"]


def misuse(folder):
    torchtrt.profile(torch.nn.ReLU(), [torch.ones(2)])
