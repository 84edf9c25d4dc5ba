"""A binding name that the engine does not have."""

import torch

import torchtrt

CODE = "C003"
SAYS = ['no input "picture"', "bindings are input"]


def misuse(folder):
    module = torch.jit.script(torch.nn.ReLU().eval())
    engine = torchtrt.convert_method_to_trt_engine(module, inputs=[torchtrt.Input([2])])
    torchtrt.ts.embed_engine_in_new_module(engine, input_binding_names=["picture"])
