"""A front end that does not exist."""

import torch

import torchtrt

CODE = "C003"
SAYS = ['front end "dynamo"', 'ir="ts"']


def misuse(folder):
    torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), ir="dynamo", inputs=[torchtrt.Input([2])])
