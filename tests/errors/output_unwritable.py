"""An output file in a folder that does not exist."""

import torch

CODE = "C007"
EXIT = 1
SAYS = ["cannot write", "no_such_folder", "a folder that exists"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "no_such_folder" / "out.ts", "(2)"]
