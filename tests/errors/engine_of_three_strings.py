"""An engine with a string missing."""

import torch

import torchtrt.runtime  # noqa: F401 - registers the class

CODE = "E001"
SAYS = ["4 strings", "got 3"]


def misuse(folder):
    torch.classes.tensorrt.Engine(["3", "engine", "0%0%0%cpu%generic"])
