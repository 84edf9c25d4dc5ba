"""
First compile
=============

This tutorial compiles a small image classifier, compares it with PyTorch, reads the report, and saves and loads the result.
"""

# %%
# The model
# ---------
# torchtrt compiles TorchScript. Call ``eval()`` first, because engines are for inference.

import tempfile
import time
from pathlib import Path

import torch

import torchtrt

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 16, 3, padding=1),
    torch.nn.BatchNorm2d(16),
    torch.nn.ReLU(),
    torch.nn.MaxPool2d(2),
    torch.nn.Conv2d(16, 32, 3, padding=1),
    torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(1),
    torch.nn.Flatten(),
    torch.nn.Linear(32, 10),
).eval()
script = torch.jit.script(model)

# %%
# The compile
# -----------
# ``inputs`` has one entry for each tensor that ``forward`` takes. Here it is a single shape. The compile runs the
# module once and compares the results with PyTorch's. A part that disagrees would run in PyTorch instead.

compiled = torchtrt.compile(script, inputs=[torchtrt.Input([1, 3, 64, 64])])

# %%
# The compiled module has the same ``forward`` as the original.

x = torch.rand(1, 3, 64, 64)
with torch.inference_mode():
    expected, actual = script(x), compiled(x)
print("largest difference from PyTorch:", (expected - actual).abs().max().item())
assert torch.allclose(expected, actual, atol=1e-5)

# %%
# The report
# ----------
# The report says which parts are in engines, and why others are not. The list of nodes is longer than the summary.

report = torchtrt.report(compiled)
print(report.summary())
print("engines:", report.engine_segments, " segments in PyTorch:", report.torch_segments)

# %%
# The time
# --------


def milliseconds(module) -> float:
    """The shortest of 30 calls."""
    times = []
    with torch.inference_mode():
        for _ in range(30):
            begin = time.perf_counter()
            module(x)
            times.append(time.perf_counter() - begin)
    return 1000 * min(times)


print(f"TorchScript {milliseconds(script):.3f} ms, torchtrt {milliseconds(compiled):.3f} ms")

# %%
# Save and load
# -------------
# A compiled module is a TorchScript file. The process that loads it imports ``torchtrt.runtime``, which has no compiler.

import torchtrt.runtime  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "compiled.ts"
    compiled.save(str(path))
    loaded = torch.jit.load(str(path))
with torch.inference_mode():
    assert torch.equal(loaded(x), actual)
print("the loaded module gives the same bytes")
