"""A range whose minimum is above its maximum."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["dimension 0", "8, 4, 1", "minimum <= optimum <= maximum"]


def misuse(folder):
    upside_down = torchtrt.Input(min_shape=[8, 3], opt_shape=[4, 3], max_shape=[1, 3])
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[upside_down])
