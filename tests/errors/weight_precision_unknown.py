"""A precision of weights that there is not."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["weight_precision is 'int3'", "use 'int8' or 'int4'"]


def misuse(folder):
    torchtrt.compile(torch.nn.Linear(64, 200).eval(), inputs=[[64, 64]], weight_precision="int3")
