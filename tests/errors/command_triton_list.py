"""A module whose result Triton cannot pass on."""

import torch

CODE = "C004"
EXIT = 1
SAYS = ["forward gives List[Tensor], and Triton's PyTorch backend passes on a tensor or a tuple of tensors", "return x, y"]


class Lists(torch.nn.Module):
    def forward(self, x):
        return [x, x + 1]


def command(folder):
    torch.jit.script(Lists().eval()).save(str(folder / "lists.ts"))
    return ["torchtrtc", "triton", folder / "lists.ts", folder / "repository", "--shape", "(2)"]
