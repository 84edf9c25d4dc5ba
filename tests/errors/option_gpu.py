"""A GPU, where engines run on the CPU."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["GPU:0", "cpu"]


def misuse(folder):
    torchtrt.compile(
        torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2])], device=torchtrt.Device("gpu:0"))
