"""
Why is this operator in PyTorch?
================================

A compiled module may have parts that run in PyTorch. This tutorial reads the reasons, and shows three ways to act on them.
"""

# %%
# A module with an operator that no engine takes
# ----------------------------------------------

import torch

import torchtrt


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.before = torch.nn.Linear(8, 8)
        self.after = torch.nn.Linear(8, 2)

    def forward(self, x):
        y = torch.relu(self.before(x))
        y = y + torch.linalg.inv(torch.eye(8) + y.mean() * torch.eye(8))[0]
        return self.after(y)


torch.manual_seed(0)
script = torch.jit.script(Model().eval())
spec = torchtrt.Input([4, 8])
compiled = torchtrt.compile(script, inputs=[spec], min_block_size=1)

# %%
# The reasons
# -----------
# Every node of the report has a target, and a code and reason if it is not in an engine. The text of a node ends with
# its source line. On the command line, ``torchtrtc inspect compiled.ts`` prints the same.

report = torchtrt.report(compiled)
print(report.summary())
for node in report.nodes:
    if node.target == "torch":
        print(f"{node.node}\n    {node.code}: {node.reason}")

# %%
# An error instead
# ----------------
# ``require_full_compilation`` turns every fallback into an error. Use it in tests of models that have to be in one engine.

try:
    torchtrt.compile(script, inputs=[spec], require_full_compilation=True)
except torchtrt.CompileError as error:
    print("code", error.code)
    print("\n".join(str(error).splitlines()[:4]))

# %%
# Keep more in PyTorch
# --------------------
# ``torch_executed_ops`` keeps operators in PyTorch, ``torch_executed_modules`` keeps submodules there.

partly = torchtrt.compile(script, inputs=[spec], min_block_size=1, torch_executed_modules=["after"])
print("engines:", torchtrt.report(partly).engine_segments)

# %%
# Write it in other terms
# -----------------------
# Operators of :doc:`/docs/operators` run in engines. Here the inverse of a multiple of the identity has a simple form. The third way is a
# converter, which is :doc:`a tutorial of its own <converter>`.


class Rewritten(Model):
    def forward(self, x):
        y = torch.relu(self.before(x))
        y = y + torch.eye(8)[0] / (1 + y.mean())
        return self.after(y)


rewritten = Rewritten().eval()
rewritten.load_state_dict(script.state_dict())
whole = torchtrt.compile(torch.jit.script(rewritten), inputs=[spec], require_full_compilation=True)
x = torch.rand(4, 8)
with torch.inference_mode():
    assert torch.allclose(whole(x), script(x), atol=1e-5)
print(torchtrt.report(whole).summary())
