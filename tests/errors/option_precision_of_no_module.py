"""A pattern of precision that names no module."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["'encoder.0'", "no module", "near it are '0'"]


def misuse(folder):
    torchtrt.compile(
        torch.jit.script(torch.nn.Sequential(torch.nn.Linear(2, 2)).eval()), inputs=[torchtrt.Input([2])],
        precision={"encoder.0": torch.half})
