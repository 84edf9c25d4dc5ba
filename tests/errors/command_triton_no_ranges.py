"""A module without engines for Triton: nothing says what shapes requests may have."""

import torch

CODE = "C002"
EXIT = 2
SAYS = ['no engine takes "input" of forward(input: Tensor) as it comes', "so nothing says its shapes and dtype", "--shape"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", "triton", folder / "relu.ts", folder / "repository"]
