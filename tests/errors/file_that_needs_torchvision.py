"""A module with an operator of a library that is not loaded."""

import torch
import torchvision

CODE = "C004"
EXIT = 1
SAYS = ["needs libtorchtrt_vision.so, or torchvision", "torchvision::nms", "--custom-torch-ops"]


class Boxes(torch.nn.Module):
    def forward(self, boxes, scores):
        return torchvision.ops.nms(boxes, scores, 0.5)


def command(folder):
    torch.jit.script(Boxes().eval()).save(str(folder / "boxes.ts"))
    return ["torchtrtc", "check", folder / "boxes.ts"]
