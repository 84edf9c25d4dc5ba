"""A method that the module does not have."""

import torch

import torchtrt

CODE = "C004"
SAYS = ["no method 'backwards'"]


def misuse(folder):
    module = torch.jit.script(torch.nn.ReLU().eval())
    torchtrt.convert_method_to_trt_engine(module, "backwards", inputs=[torchtrt.Input([2])])
