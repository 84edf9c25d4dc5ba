"""
Detection without Python
========================

Detection models end in non-maximum suppression, whose number of results depends on the data. This tutorial compiles a
small detector and runs the file with ``torchtrtc``, a process that has neither Python nor torchvision.
"""

# %%
# A detector
# ----------
# The network predicts a box and a score for each cell of a grid. ``nms`` keeps the best of overlapping boxes.

import shutil
import subprocess
import tempfile
from pathlib import Path

import torch
import torchvision

import torchtrt


class Detector(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = torch.nn.Sequential(
            torch.nn.Conv2d(3, 16, 3, stride=4, padding=1), torch.nn.ReLU(),
            torch.nn.Conv2d(16, 32, 3, stride=2, padding=1), torch.nn.ReLU())
        self.head = torch.nn.Conv2d(32, 5, 1)
        y, x = torch.meshgrid(torch.arange(8), torch.arange(8), indexing="ij")
        self.register_buffer("centers", 8 * torch.stack([x, y], dim=-1).reshape(64, 2) + 4)

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        cells = self.head(self.backbone(image))[0].flatten(1).t()
        center = self.centers + 8 * cells[:, :2].tanh()
        size = 4 + 16 * cells[:, 2:4].sigmoid()
        boxes = torch.cat([center - size / 2, center + size / 2], dim=1)
        scores = cells[:, 4].sigmoid()
        kept = torchvision.ops.nms(boxes, scores, 0.3)[:20]
        return boxes[kept], scores[kept]


torch.manual_seed(0)
script = torch.jit.script(Detector().eval())

# %%
# The compile
# -----------
# The result of ``nms`` has a data-dependent size. It ends an engine, and its readers run in the next one.

image = torch.rand(1, 3, 64, 64)
compiled = torchtrt.compile(script, inputs=[image])
report = torchtrt.report(compiled)
print(report.summary())

with torch.inference_mode():
    boxes, scores = compiled(image)
    expected_boxes, expected_scores = script(image)
torch.testing.assert_close(boxes, expected_boxes, rtol=1e-4, atol=1e-3)
torch.testing.assert_close(scores, expected_scores, rtol=1e-4, atol=1e-5)
print(f"{len(boxes)} boxes of {8 * 8} cells are left, as in PyTorch")

# %%
# Another process
# ---------------
# ``torchtrtc run`` is a C++ program. It links torchtrt's own ``nms``, as does a program of yours that links
# ``torchtrt::vision``. In Python, ``torchtrt.runtime.load_vision()`` does the same where torchvision is not installed.

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "detector.ts"
    compiled.save(str(path))
    program = shutil.which("torchtrtc")
    if program is None:
        print("torchtrtc is not on the PATH: install the wheel, or build it with ./dev build product")
    else:
        print(subprocess.run([program, "run", str(path), "(1,3,64,64)", "--calls", "5"], capture_output=True, text=True, check=True).stdout)
