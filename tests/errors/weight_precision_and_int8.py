"""Integer weights, and int8 beside."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["weight_precision is given and int8 is among enabled_precisions", "drop one of the two"]


def misuse(folder):
    torchtrt.compile(torch.nn.Linear(64, 200).eval(), inputs=[[64, 64]], weight_precision="int8", enabled_precisions={torch.int8})
