"""
Half precision and int8, with accuracy
======================================

Lower precision makes models smaller and often faster, and costs accuracy. This tutorial trains a small network on
scikit-learn's digits for a few seconds, compiles it in float32, bfloat16 and int8, and measures the accuracy of each on
digits that it never saw.
"""

# %%
# A trained network
# -----------------

import sklearn.datasets
import torch
import torch.nn.functional as F

import torchtrt

torch.manual_seed(0)
digits = sklearn.datasets.load_digits()
images = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16
labels = torch.tensor(digits.target)
order = torch.randperm(len(labels))
training, held_out = order[:1400], order[1400:]

model = torch.nn.Sequential(
    torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.ReLU(),
    torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Flatten(), torch.nn.Linear(32 * 16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10),
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
threads = torch.get_num_threads()
torch.set_num_threads(1)  # so small a network gains nothing from more
with torch.enable_grad():
    for _ in range(4):
        for batch in training[torch.randperm(len(training))].split(64):
            optimizer.zero_grad()
            F.cross_entropy(model(images[batch]), labels[batch]).backward()
            optimizer.step()
torch.set_num_threads(threads)
script = torch.jit.script(model.eval())
shapes = [torchtrt.Input(min_shape=[1, 1, 8, 8], opt_shape=[64, 1, 8, 8], max_shape=[512, 1, 8, 8], dtype=torch.float32)]


def accuracy(module) -> float:
    with torch.inference_mode():
        return (module(images[held_out]).argmax(1) == labels[held_out]).float().mean().item()


def largest_change(module) -> float:
    """How far the scores move, as a share of the largest score."""
    with torch.inference_mode():
        expected = script(images[held_out])
        return ((module(images[held_out]).float() - expected).abs().max() / expected.abs().max()).item()


print(f"PyTorch, float32: {accuracy(script):.4f}")

# %%
# bfloat16
# --------
# ``op_precision`` casts the whole module. The input above is declared as float32, so it keeps that dtype, and so do the
# results. ``precision`` pins parts of the module by their paths: here the last layer stays in float32.

half = torchtrt.compile(script, inputs=shapes, op_precision=torch.bfloat16)
pinned = torchtrt.compile(script, inputs=shapes, op_precision=torch.bfloat16, precision={"8": torch.float32})
print(f"bfloat16:                    accuracy {accuracy(half):.4f}, scores change by {largest_change(half):.4f}")
print(f"bfloat16, last layer float32: accuracy {accuracy(pinned):.4f}, scores change by {largest_change(pinned):.4f}")

# %%
# int8
# ----
# int8 needs the range of every tensor on real data. A calibrator gives batches; some hundred samples are enough. Do not
# calibrate with the data on which you measure.

calibrator = torchtrt.ptq.DataLoaderCalibrator(images[training][:256].split(64))
int8 = torchtrt.compile(script, inputs=shapes, enabled_precisions={torch.int8}, calibrator=calibrator)
print(f"int8: accuracy {accuracy(int8):.4f}, scores change by {largest_change(int8):.4f}")

# %%
# The report lists every layer that int8 was asked for, with the reason if it stays in float.

for segment in torchtrt.report(int8).segments:
    if segment.calibration:
        for layer in segment.calibration.layers:
            print(f"{layer.kind:<16} {'int8' if layer.is_quantized else 'float: ' + layer.reason}")

# %%
# With ``accuracy_target``, layers that cost the most accuracy stay in float until the outputs of an engine are within
# that relative error.

careful = torchtrt.compile(script, inputs=shapes, enabled_precisions={torch.int8}, calibrator=calibrator, accuracy_target=0.01)
print(f"int8 within 1 %: accuracy {accuracy(careful):.4f}, scores change by {largest_change(careful):.4f}")
assert accuracy(int8) > accuracy(script) - 0.03
