"""Groups that are too large."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["group_size is 256", "a multiple of 8 from 32 to 128"]


def misuse(folder):
    torchtrt.compile(torch.nn.Linear(64, 200).eval(), inputs=[[64, 64]], weight_precision="int8", group_size=256)
