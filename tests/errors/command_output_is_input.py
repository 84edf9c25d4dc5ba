"""By another name, too."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["is the one to compile", "name another"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    (folder / "link.ts").symlink_to(folder / "relu.ts")
    return ["torchtrtc", folder / "relu.ts", folder / "link.ts", "(2)"]
