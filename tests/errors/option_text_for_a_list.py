"""One operator's name where a list of names is expected; its letters would name no operator."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["torch_executed_ops does not take 'aten::relu'", "a list of names"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[[2]], torch_executed_ops="aten::relu")
