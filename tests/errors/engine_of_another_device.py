"""An engine that was built for a kind of device on which no engine runs."""

import base64

import torch

import torchtrt
import torchtrt.runtime

CODE = "E006"
SAYS = ["the device npu", "cpu and on cuda"]


def misuse(folder):
    module = torch.jit.script(torch.nn.Linear(4, 2).eval())
    plan = torchtrt.convert_method_to_trt_engine(module, inputs=[torchtrt.Input([1, 4])])
    strings = ["3", "engine", "0%0%0%cpu%generic", plan]
    strings[2] = "0%8%0%npu%Accelerator"
    strings[3] = base64.b64encode(strings[3]).decode()
    torch.classes.tensorrt.Engine(strings)
