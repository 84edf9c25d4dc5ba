"""Modules that are put into a model repository for Triton, with the options of that and of their compilation. Each has a golden
configuration in triton_configs/."""

import torch
from torch import nn


class Image(nn.Module):
    """A convolution for images of any size, whose last operator an engine takes, too."""

    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, image):
        return self.convolution(image).relu()


class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, features):
        return self.linear(features).softmax(-1)


class Tokens(nn.Module):
    """Two inputs, three outputs, four dtypes; one output has a number for each request."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(16, 4)

    def forward(self, ids, mask):
        states = self.embedding(ids) * mask.unsqueeze(-1)
        return states, states.mean(-1).argmax(-1), mask.logical_not()


class PerRequest(nn.Module):
    """One number for each request."""

    def forward(self, temperature):
        return temperature * 1.8 + 32


class Partly(nn.Module):
    """PyTorch makes the result, so nothing says its sizes for all calls."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, matrix):
        return torch.linalg.inv(self.linear(matrix).relu() + torch.eye(4))


class Pairs(nn.Module):
    """Results whose sizes follow the number of requests: they cannot run together."""

    def forward(self, left):
        return (left @ left.transpose(0, 1)).exp()


SCORES = "[(1,4);(4,4);(8,4)]"
# Name, as of the golden file: module, input specifications, options of compiling, options of torchtrtc triton.
CASES = {
    "dynamic_batch": (Scores, [SCORES], [], []),
    "fixed_batch": (Scores, ["(2,4)"], [], []),
    "image": (Image, ["[(1,3,16,16);(4,3,32,32);(8,3,64,48)]"], [],
              ["--instances=2", "--max-queue-delay-us=500", "--threads=3", "--version=7"]),
    "tokens": (Tokens, ["[(1,2);(2,8);(16,32)]@int64", "[(1,2);(2,8);(16,32)]@bool"], [], []),
    "per_request": (PerRequest, ["[(1);(4);(64)]"], [], []),
    "half": (lambda: Scores().half(), [SCORES + "@f16"], ["--enable-precision=f16"], []),
    "partly": (Partly, ["[(1,4,4);(2,4,4);(8,4,4)]"], [], []),
    "pairs": (Pairs, [SCORES], [], []),
    "no_batches": (Scores, [SCORES], [], ["--max-batch-size=0"]),
    "without_end": (Scores, ["(-1,4)"], [], ["--max-batch-size=32"]),
    "starts_at_two": (Scores, ["[(2,4);(4,4);(8,4)]"], [], []),
    "gpu": (Scores, [SCORES], ["--target=sm_90"], ["--gpu=0", "--gpu=1", "--instances=2"]),
}
