"""Methods beside the one that is compiled: who keeps them, and the weights that they read."""

import io

import pytest
import torch
from torch import nn

import torchtrt
from same import assert_same, saved


class Net(nn.Module):
    """Is built as torchvision's models are: forward calls _forward_impl, which nobody else calls."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second = nn.Conv2d(3, 64, 3), nn.BatchNorm2d(64), nn.Conv2d(64, 64, 3)

    def _forward_impl(self, x):
        return self._relu(self.second(self._relu(self.norm(self.first(x)))))

    def _relu(self, x):
        return torch.relu(x)

    def forward(self, x):
        return self._forward_impl(x)


class Exported(Net):
    @torch.jit.export
    def features(self, x):
        return self._relu(self.first(x))

    @torch.jit.export
    def _alone(self, x):
        return x + 1


X = torch.randn(1, 3, 16, 16)


def size_of(module) -> int:
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    return buffer.tell()


def names_of(module):
    return {method for method in ["forward", "_forward_impl", "_relu", "features", "_alone"] if hasattr(module, method)}


@torch.no_grad()
def test_parts_of_the_compiled_method_are_not_kept():
    module = torch.jit.script(Net().eval())
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([1, 3, 16, 16])])
    assert names_of(compiled) == {"forward"} and not list(compiled.parameters())
    assert_same(saved(compiled)(X), module(X))
    weights = sum(each.nbytes for each in module.state_dict().values())
    assert size_of(compiled) < 1.3 * weights + 20000, "the weights are in the file once"


@torch.no_grad()
def test_what_others_may_call_is_kept():
    module = torch.jit.script(Exported().eval())
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([1, 3, 16, 16])])
    for each in (compiled, saved(compiled)):
        assert names_of(each) == {"forward", "features", "_relu", "_alone"}
        assert_same(each(X), module(X))
        assert_same(each.features(X), module.features(X))


@torch.no_grad()
@pytest.mark.parametrize("whole", [False, True])
def test_an_option_leaves_all_of_them_out(whole):
    module = torch.jit.script(Exported().eval())
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([1, 3, 16, 16])], keep_methods=False, require_full_compilation=whole)
    assert names_of(compiled) == {"forward"} and not list(compiled.parameters())
    assert_same(saved(compiled)(X), module(X))
    assert size_of(compiled) < size_of(torchtrt.compile(module, inputs=[torchtrt.Input([1, 3, 16, 16])]))


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        self.calls += 1
        return torch.relu(self.linear(x)) * self.calls

    @torch.jit.export
    def reset(self):
        self.calls = 0


@torch.no_grad()
def test_state_stays_without_the_methods():
    module, x = torch.jit.script(Counts().eval()), torch.randn(2, 3)
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([2, 3])], keep_methods=False, min_block_size=1)
    assert not hasattr(compiled, "reset")
    for _ in range(3):
        assert_same(compiled(x), module(x))
    assert compiled.calls == 3
