"""Two inputs whose batch has one name, called with different batches."""

import torch

import torchtrt

CODE = "E005"
SAYS = ["dimension 0", "expected 2 as in input 'a', dimension 0", "got 3", "batch"]


class Sum(torch.nn.Module):
    def forward(self, a, b):
        return a + b


def misuse(folder):
    batch = torchtrt.Input(min_shape=[1, 3], opt_shape=[2, 3], max_shape=[4, 3], shared_dims={0: "batch"})
    compiled = torchtrt.compile(torch.jit.script(Sum().eval()), inputs=[batch, batch], require_full_compilation=True)
    compiled(torch.ones(2, 3), torch.ones(3, 3))
