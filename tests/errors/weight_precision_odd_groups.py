"""Groups of a size that kernels do not take."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["group_size is 100", "a multiple of 8 from 32 to 128"]


def misuse(folder):
    torchtrt.compile(torch.nn.Linear(64, 200).eval(), inputs=[[64, 64]], weight_precision="int4", group_size=100)
