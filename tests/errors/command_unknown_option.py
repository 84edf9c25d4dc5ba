"""An option that the tool does not have."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ['there is no option "--min-blok-size"', "did you mean --min-block-size?"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "(2)", "--min-blok-size=3"]
