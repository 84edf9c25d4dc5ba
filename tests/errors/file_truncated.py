"""A TorchScript file that lost its end."""

import torch

CODE = "C004"
EXIT = 1
SAYS = ["half.ts", "is an archive that lost its end", "compare the sizes"]


def command(folder):
    torch.jit.script(torch.nn.Linear(4, 2).eval()).save(str(folder / "whole.ts"))
    content = (folder / "whole.ts").read_bytes()
    (folder / "half.ts").write_bytes(content[: len(content) // 2])
    return ["torchtrtc", folder / "half.ts", folder / "out.ts", "(1,4)"]
