"""
Finding a wrong number
======================

A compiled module gives a result that PyTorch does not give. This tutorial makes such a module on purpose and finds the
operator that is wrong, with ``torchtrt.verify`` and the switches that leave parts of the compiler out.
"""

# %%
# A module with a fault
# ---------------------
# A rewrite pattern with a mistake changes the network: it turns sums into differences. ``check_results=False`` hides
# the fault, because the compile does not compare results with PyTorch's.

import torch

import torchtrt
import torchtrt.functional  # brings the operators of tensors, such as a - b
import torchtrt.network as trt
from torchtrt.graph_rewriting import PatternRewriter, RewritePatternManager


class Mistake(PatternRewriter):
    """Takes a sum of two tensors for a difference."""

    def __init__(self):
        super().__init__("mistake", root_layer={trt.LayerType.ELEMENTWISE}, separate_match_rewrite=True)

    def match(self, layer):
        return layer.as_layer().op == trt.ElementWiseOperation.SUM

    def rewrite(self, layer):
        a, b = layer.get_inputs(0, 1)
        layer.get_outputs(0)[0].replace_all_uses_with(a - b)
        layer.mark_as_removed()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(16, 16)
        self.second = torch.nn.Linear(16, 4)

    def forward(self, x):
        y = torch.relu(self.first(x))
        y = y + x
        return self.second(y)


torch.manual_seed(0)
script = torch.jit.script(Model().eval())
manager = RewritePatternManager()
manager.add(label="mistake", pattern=Mistake(), benefit=1)
compiled = torchtrt.compile(script, inputs=[torchtrt.Input([4, 16])], rewriters=[manager], check_results=False)

# %%
# Verify
# ------
# ``torchtrt.verify`` runs both modules, and every engine against the same operators in PyTorch. It names the first
# engine that disagrees, with its operators and source line, and the operator where the results begin to differ
# (``culprit``). Here a note says that an engine without the rewriters agrees. On the command line it is ``torchtrtc
# verify model.ts compiled.ts "(4,16)"``.

x = torch.rand(4, 16)
verification = torchtrt.verify(script, compiled, [x], calls=2)
print(verification.verdict)
print("agrees:", verification.agrees)
print("first engine that disagrees:", verification.first.name)
print("difference:", verification.first.deviation.difference)
print("culprit:", verification.first.culprit or verification.first.note)
assert not verification.agrees

# %%
# Leave parts out
# ---------------
# Is it a kernel or a fusion? Load the module with reference kernels. If the result is still wrong, the kernels are not the cause.

import tempfile  # noqa: E402
from pathlib import Path  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    path = str(Path(folder) / "compiled.ts")
    compiled.save(path)
    with torchtrt.runtime.kernel_switches(reference_kernels=True):
        reference = torch.jit.load(path)
with torch.inference_mode():
    difference = (reference(x) - script(x)).abs().max().item()
print(f"with reference kernels: largest difference {difference:.3f}, so no kernel is to blame")

# %%
# The fix
# -------
# Without the pattern the module agrees. A compile with ``check_results=True``, the default, compares the results once; with rewriters it
# does so on ``sample_inputs``.

fixed = torchtrt.compile(script, inputs=[torchtrt.Input([4, 16])])
verification = torchtrt.verify(script, fixed, [x], calls=2)
print(verification.verdict)
assert verification.agrees
