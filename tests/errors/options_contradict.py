"""Everything in an engine, and an operator in PyTorch."""

import torch

import torchtrt

CODE = "C003"
SAYS = ["require_full_compilation", "torch_executed_ops", "drop one of the two"]


def misuse(folder):
    torchtrt.compile(
        torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2])],
        require_full_compilation=True, torch_executed_ops=["aten::relu"])
