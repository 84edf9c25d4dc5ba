"""An embedding asked for row -1, as labels of nothing often are; PyTorch refuses it, too."""

import torch

import torchtrt

CODE = "E008"
SAYS = ["index -1", "5", "[0, size)"]


def misuse(folder):
    module = torch.jit.script(torch.nn.Embedding(5, 4).eval())
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([3], dtype=torch.int64)])
    compiled(torch.tensor([0, -1, 1]))
