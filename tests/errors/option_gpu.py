"""A GPU, on a machine that has none of that number."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["the device cuda:99 cannot be used here", 'Device("cpu")', "sm_90"]


def misuse(folder):
    torchtrt.compile(
        torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2])], device=torchtrt.Device("gpu:99"))
