"""An embedding asked for a row that it does not have."""

import torch

import torchtrt

CODE = "E008"
SAYS = ["index 7", "5"]


def misuse(folder):
    module = torch.jit.script(torch.nn.Embedding(5, 4).eval())
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([3], dtype=torch.int64)])
    compiled(torch.tensor([0, 7, 1]))
