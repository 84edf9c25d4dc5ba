"""Compiling without a word about what the method takes."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["neither inputs nor input_signature", "torchtrt.Input("]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()))
