"""An index type as a precision to compute in."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["enabled_precisions", "Int64"]


def misuse(folder):
    torchtrt.compile(
        torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2])], enabled_precisions={torch.int64})
