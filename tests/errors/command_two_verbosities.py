"""Two levels of verbosity at once."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["more than one of --verbose, --info and --warnings", "at most one"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "(2)", "-v", "-w"]
