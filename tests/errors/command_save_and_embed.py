"""An engine of a module and a module of an engine at once."""

import torch

CODE = "C003"
EXIT = 2
SAYS = ["--save-engine and --embed-engine contradict", "drop one of the two"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "(2)", "--save-engine", "--embed-engine"]
