"""
Engines on a GPU
================

This tutorial compiles for an NVIDIA GPU. Where there is none, it compiles for one all the same, and runs on the CPU:
each step says which.
"""

# %%
# Is there a GPU?
# ---------------

import torch

import torchtrt

has_gpu = torch.cuda.is_available()
print(f"GPU here: {torch.cuda.get_device_name() if has_gpu else 'none; calls below run on the CPU'}")
device = "cuda:0" if has_gpu else "cpu"

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 10)).eval().to(device)
script = torch.jit.script(model)

# %%
# The device of the module decides
# --------------------------------
# Without ``device``, engines run where the module's parameters are.

compiled = torchtrt.compile(script, inputs=[torchtrt.Input(min_shape=[1, 64], opt_shape=[8, 64], max_shape=[32, 64])])
x = torch.rand(5, 64, device=device)
with torch.inference_mode():
    difference = (compiled(x) - script(x)).abs().max().item()
print(f"engine on {device}: largest difference from PyTorch {difference:.2e}")
assert difference < 1e-3

# %%
# Half precision
# --------------
# GPUs are fastest in 16-bit floats. The input is declared as float32, so it keeps that dtype, and so does the result.

half = torchtrt.compile(script, inputs=[torchtrt.Input([8, 64], dtype=torch.float32)], op_precision=torch.half)
x = torch.rand(8, 64, device=device)
with torch.inference_mode():
    print(f"float16: largest difference {(half(x) - script(x)).abs().max().item():.1e}")

# %%
# For a GPU that is elsewhere
# ---------------------------
# ``target`` names the architecture of a GPU: ``sm_90`` is Hopper. A machine without a GPU compiles such a module, and
# compares its results on the CPU. The file runs on the GPU where ``torch.jit.load`` finds one of that architecture.

elsewhere = torchtrt.compile(torch.jit.script(model.cpu()), inputs=[torchtrt.Input([8, 64])], target="sm_90")
print(torchtrt.report(elsewhere).summary())
print("On a machine with that GPU, torchtrtc check --device cuda:0 FILE says if everything that the file needs is there.")
