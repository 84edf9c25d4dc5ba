"""The operator called with no tensor for an engine of one input."""

import torch

import torchtrt
import torchtrt.runtime

CODE = "E003"
SAYS = ["expected 1 inputs", "got 0"]


def misuse(folder):
    compiled = torchtrt.compile(torch.jit.script(torch.nn.ReLU().eval()), inputs=[torchtrt.Input([2, 3])])
    (engine,) = torchtrt.runtime.engines(compiled).values()
    torch.ops.tensorrt.execute_engine([], engine)
