"""A calibrator, and int8 is not among the precisions."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["a calibrator is given", "int8", "enabled_precisions"]


def misuse(folder):
    calibrator = torchtrt.ptq.DataLoaderCalibrator([torch.zeros(2, 3)])
    torchtrt.compile(torch.nn.Linear(3, 3).eval(), inputs=[[2, 3]], calibrator=calibrator)
