"""Everything in an engine, and an operator in PyTorch."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["require_full_compilation", "torch_executed_ops"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "(2)", "--require-full-compilation", "--teo=aten::relu"]
