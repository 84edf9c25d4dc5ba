"""Two levels of verbosity at once."""

import torch

CODE = None
EXIT = 2
SAYS = ["at most 1", "--verbose", "--warnings"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "(2)", "-v", "-w"]
