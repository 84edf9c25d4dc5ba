"""A module that was not scripted."""

import torch

import torchtrt.runtime

CODE = None
SAYS = ["engines: expected a ScriptModule", "got ReLU"]


def misuse(folder):
    torchtrt.runtime.engines(torch.nn.ReLU())
