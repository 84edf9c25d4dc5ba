"""An accuracy target for weights, and nothing to measure on."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["accuracy_target is given and there are no calibration batches"]


def misuse(folder):
    torchtrt.compile(torch.nn.Linear(64, 200).eval(), inputs=[[64, 64]], weight_precision="int4", accuracy_target=0.02)
