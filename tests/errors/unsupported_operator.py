"""An operator without a converter: the node, its schema, its source line, and what to do."""

import torch

import torchtrt

CODE = "C001"
SAYS = [
    "aten::linalg_inv(%x",
    "schema: aten::linalg_inv(Tensor A) -> Tensor",
    "unsupported_operator.py:19",
    "no converter is registered for aten::linalg_inv",
    "RegisterNodeConversionPatterns",
]


class Inverse(torch.nn.Module):
    def forward(self, x):
        return torch.linalg.inv(x) + 1


def misuse(folder):
    torchtrt.compile(torch.jit.script(Inverse().eval()), inputs=[torchtrt.Input([2, 2])], require_full_compilation=True)
