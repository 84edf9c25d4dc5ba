"""An accuracy in words."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["option accuracy_target does not take 'high'", "a value like 0.02"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[[2]], accuracy_target="high")
