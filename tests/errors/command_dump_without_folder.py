"""Networks to write, and no folder for them."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["--dump-after is given, and no folder", "--dump-network FOLDER"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "(2)", "--dump-after=fuse"]
