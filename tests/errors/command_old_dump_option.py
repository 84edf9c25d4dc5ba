"""Options that another one has replaced."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["--dump-network and --dump-after are one option now", "--dump FOLDER:REGEX"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "(2)", "--dump-after=fuse"]
