"""The name of a module's file where its module is expected."""

import torchtrt

CODE = "C004"
SAYS = ["'lenet.ts' is no TorchScript graph", "torch.jit.load"]


def misuse(folder):
    torchtrt.compile("lenet.ts", inputs=[[2]])
