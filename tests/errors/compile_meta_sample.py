"""A sample input on the meta device, which holds no data to check the result with."""

import torch

import torchtrt

CODE = "C002"
SAYS = ["meta", "data"]


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torch.empty(2, 3, device="meta")])
