"""An option that does not exist."""

import torch

import torchtrt

CODE = "C003"
SAYS = ['no option "min_blok_size"', 'did you mean "min_block_size"']


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2])], min_blok_size=3)
