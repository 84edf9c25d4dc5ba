"""Calibration batches of another shape than the inputs allow."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["the first calibration batch does not fit forward", "in shapes that the inputs allow"]


def misuse(folder):
    calibrator = torchtrt.ptq.DataLoaderCalibrator([torch.zeros(2, 65)])
    torchtrt.compile(torch.nn.Linear(64, 200).eval(), inputs=[[64, 64]], enabled_precisions={torch.int8}, calibrator=calibrator)
