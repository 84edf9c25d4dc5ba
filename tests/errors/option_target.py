"""A target that is no architecture of a GPU."""

import torch

import torchtrt

CODE = "C003"
SAYS = ['target is "hopper"', '"sm_90"']


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2])], target="hopper")
