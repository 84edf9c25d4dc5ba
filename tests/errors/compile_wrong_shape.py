"""Five features for a linear layer that takes four."""

import torch

import torchtrt

CODE = "C005"
SAYS = ["aten::linear", "expected equal inner dims, got 5 and 4"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.Linear(4, 2).eval()), inputs=[torchtrt.Input([1, 5])], require_full_compilation=True)
