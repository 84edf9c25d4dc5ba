"""An operator without a converter where everything has to become an engine."""

import torch

import torchtrt

CODE = "C001"
SAYS = ["aten::linalg_inv(%", "schema: aten::linalg_inv(Tensor A) -> Tensor", "reason: "]


class Inverse(torch.nn.Module):
    def forward(self, x):
        return torch.linalg.inv(torch.relu(x))


def misuse(folder):
    torchtrt.compile(torch.jit.script(Inverse().eval()), inputs=[torchtrt.Input([2, 2])], require_full_compilation=True)
