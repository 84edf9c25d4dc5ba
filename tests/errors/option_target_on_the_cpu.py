"""The architecture of a GPU, with the CPU as the device."""

import torch

import torchtrt

CODE = "C003"
SAYS = ['target is "sm_90" and the device is the CPU', '"cuda:0"']


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2])], target="sm_90", device="cpu")
