"""An input specification without parentheses."""

import torch

CODE = "C002"
EXIT = 2
SAYS = ['"1,3,224"', "parentheses", "[(min);(opt);(max)]"]


def command(folder):
    torch.jit.script(torch.nn.ReLU().eval()).save(str(folder / "relu.ts"))
    return ["torchtrtc", folder / "relu.ts", folder / "out.ts", "1,3,224"]
