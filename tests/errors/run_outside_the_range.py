"""A batch beyond the range."""

import torch

import torchtrt

CODE = "E005"
SAYS = ["dimension 0", "expected 1 to 4", "got 5", "range"]


def misuse(folder):
    batch = torchtrt.Input(min_shape=[1, 3], opt_shape=[2, 3], max_shape=[4, 3])
    compiled = torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[batch], require_full_compilation=True)
    compiled(torch.ones(5, 3))
