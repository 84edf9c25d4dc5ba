"""
A rewrite pattern
=================

Between conversion and optimization, patterns may change the network of an engine. This tutorial writes a pattern that
replaces GELU by its approximation with ``tanh``, tests it on a network alone, and uses it in a compile.
"""

# %%
# A network
# ---------
# Functions of ``torchtrt.functional`` add layers to the network of the innermost ``net_guard``. Printing a network shows its text form.

import torch

import torchtrt
import torchtrt.functional as f
import torchtrt.network as trt
from torchtrt.graph_rewriting import PatternRewriter, RewritePatternManager

net = trt.Network("sample")
with trt.net_guard(net):
    x = trt.Tensor(name="x", dtype=trt.float32, shape=(2, 8))
    f.gelu(x * 2.0).mark_output("y")
print(net)

# %%
# The pattern
# -----------
# ``match`` may only look. ``rewrite`` builds the new layers, gives their output to the readers of the old one, and
# marks the old layer. The new layers get the source location of the old one.


class GeluByTanh(PatternRewriter):
    def __init__(self):
        super().__init__("gelu_by_tanh", root_layer={trt.LayerType.ACTIVATION}, separate_match_rewrite=True)

    def match(self, layer):
        return layer.as_layer().op == "gelu_erf"

    def rewrite(self, layer):
        (x,) = layer.get_inputs()
        inner = 0.7978845608028654 * (x + 0.044715 * (x * x * x))
        new = 0.5 * x * (1.0 + f.tanh(inner))
        layer.get_outputs(0)[0].replace_all_uses_with(new)
        layer.mark_as_removed()


manager = RewritePatternManager()
manager.add(label="gelu", pattern=GeluByTanh(), benefit=1)

# %%
# Alone
# -----
# ``rewrite`` offers every layer to every pattern until none applies, and returns how often each applied.

values = torch.randn(2, 8)
counts = manager.rewrite(net)
print(counts)
print(net)
difference = (net.build().run(values) - torch.nn.functional.gelu(values * 2)).abs().max().item()
print(f"largest difference from the exact GELU: {difference:.5f}")
assert counts == {"gelu": 1} and difference < 1e-2

# %%
# In a compile
# ------------
# ``rewriters`` run on the network of every engine. The results differ from PyTorch's by design here, and ``sample_inputs`` would let the
# compile say so. Without them, the compile does not compare results of modules with rewriters.

model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 2)).eval()
compiled = torchtrt.compile(torch.jit.script(model), inputs=[torchtrt.Input([2, 8])], rewriters=[manager])
with torch.inference_mode():
    difference = (compiled(values) - model(values)).abs().max().item()
print(f"compiled: largest difference from PyTorch {difference:.5f}")
assert 0 < difference < 1e-2
