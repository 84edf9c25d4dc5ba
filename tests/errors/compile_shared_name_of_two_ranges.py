"""One dimension name for two different ranges."""

import torch

import torchtrt

CODE = "C002"
SAYS = ['"batch"', "different ranges"]


class Sum(torch.nn.Module):
    def forward(self, a, b):
        return a + b


def misuse(folder):
    a = torchtrt.Input(min_shape=[1], opt_shape=[2], max_shape=[4], shared_dims={0: "batch"})
    b = torchtrt.Input(min_shape=[1], opt_shape=[2], max_shape=[8], shared_dims={0: "batch"})
    torchtrt.compile(torch.jit.script(Sum().eval()), inputs=[a, b])
