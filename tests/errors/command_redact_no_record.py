"""A redacted record without a folder for it."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["--redact without --record keeps nothing", "give --record FOLDER"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", "run", folder / "relu.ts", "(2)", "--redact"]
