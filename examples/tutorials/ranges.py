"""
Ranges: several batch sizes and shapes
======================================

A model serves requests of different sizes. This tutorial compiles one plan for a range of batches and lengths, names a dimension that two
inputs share, and shows a call outside the range.
"""

# %%
# A range of batch sizes
# ----------------------
# ``min_shape`` and ``max_shape`` are the bounds. The optimum decides how weights are packed, and changes no result.

import torch

import torchtrt

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 8)).eval()
batches = torchtrt.Input(min_shape=[1, 32], opt_shape=[8, 32], max_shape=[64, 32])
compiled = torchtrt.compile(torch.jit.script(model), inputs=[batches])

with torch.inference_mode():
    for batch in (1, 7, 64):
        x = torch.rand(batch, 32)
        assert torch.allclose(compiled(x), model(x), atol=1e-5)
        print(f"batch {batch}: {tuple(compiled(x).shape)}")

# %%
# Any size
# --------
# ``-1`` takes every size. Use it if you know no bound.

anything = torchtrt.compile(torch.jit.script(model), inputs=[torchtrt.Input([-1, 32])])
with torch.inference_mode():
    print("batch 1000:", tuple(anything(torch.rand(1000, 32)).shape))

# %%
# Two inputs with one size
# ------------------------
# Both inputs below have the same batch and length. The compiler cannot know that from their ranges, because each could be 1 and repeated.
# ``shared_dims`` gives such dimensions a name.


class Similarity(torch.nn.Module):
    """The mean product of two sequences where a mask is true."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a * b).mean(dim=1).softmax(dim=-1)


names = {0: "batch", 1: "length"}
shape = dict(min_shape=[1, 1, 16], opt_shape=[4, 32, 16], max_shape=[16, 128, 16], shared_dims=names)
similarity = torch.jit.script(Similarity().eval())
compiled = torchtrt.compile(similarity, inputs=[torchtrt.Input(**shape), torchtrt.Input(**shape)])
with torch.inference_mode():
    for batch, length in ((1, 1), (3, 50), (16, 128)):
        a, b = torch.rand(batch, length, 16), torch.rand(batch, length, 16)
        assert torch.allclose(compiled(a, b), similarity(a, b), atol=1e-5)
        print(f"batch {batch}, length {length}: as PyTorch")

# %%
# Outside the range
# -----------------
# A call outside the range runs in PyTorch, with one warning. Its result is right.

with torch.inference_mode():
    a, b = torch.rand(20, 128, 16), torch.rand(20, 128, 16)
    assert torch.allclose(compiled(a, b), similarity(a, b), atol=1e-5)
print("batch 20 is outside of 1 to 16, and right all the same")
