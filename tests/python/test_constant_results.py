"""The results of a compiled module belong to the caller: writing into them changes no later call and no file."""

from typing import Dict, List, NamedTuple, Tuple

import pytest
import torch
from torch import Tensor, nn

import torchtrt
from same import assert_same, saved


class Pair(NamedTuple):
    first: Tensor
    second: Tensor


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("k", torch.arange(6.0).view(2, 3))
        self.linear = nn.Linear(3, 3)


class Plain(Base):
    def forward(self, x):
        return self.linear(x), torch.zeros(3), self.k * 2


class Views(Base):
    def forward(self, x):
        return self.linear(x), self.k[0], self.k.t(), self.k.view(3, 2).expand(2, 3, 2)


class Lists(Base):
    def forward(self, x) -> Tuple[Tensor, List[Tensor], Dict[str, Tensor]]:
        return self.linear(x), [self.k + 1, torch.ones(2)], {"k": self.k + 2, "x": x + 1}


class Named(Base):
    def forward(self, x):
        return Pair(self.linear(x), self.k + 1)


class Numbers(Base):
    def forward(self, x) -> Tuple[Tensor, List[int]]:
        return self.linear(x), [1, 2, 3]


class Branch(Base):
    def forward(self, x):
        if bool(x.sum() > 0):
            y = self.k + 1
        else:
            y = self.linear(x)
        return y, y * 2


class Loop(Base):
    def forward(self, x):
        y = self.k + 1
        while bool(y.sum() < x.sum()):
            y = y * 2
        return y


class Attribute(Base):
    def forward(self, x):
        return self.linear(x), self.k


def spoil(value):
    """Into every tensor and collection of a result."""
    if isinstance(value, Tensor):
        base = value if value._base is None else value._base
        base.fill_(1e6)
    elif isinstance(value, (list, tuple)):
        for each in value:
            spoil(each)
    elif isinstance(value, dict):
        for each in value.values():
            spoil(each)
    if isinstance(value, list):
        value.append(value[0])
    if isinstance(value, dict):
        value.clear()


@torch.no_grad()
@pytest.mark.parametrize("made", [Plain, Views, Lists, Named, Numbers, Branch, Loop, Attribute])
@pytest.mark.parametrize("front", ["scripted", "frozen"])
def test_results_belong_to_the_caller(made, front):
    module, x = torch.jit.script(made().eval()), torch.rand(2, 3)
    expected = module(x)
    source = torch.jit.freeze(module) if front == "frozen" else module
    kept = [each.clone() for each in module.state_dict().values()]
    compiled = torchtrt.compile(source, inputs=[torchtrt.Input([2, 3])], min_block_size=1)
    for each in (compiled, saved(compiled)):
        for _ in range(3):
            got = each(x)
            assert_same(got, expected)
            spoil(got)
        assert_same(saved(each)(x), expected)
    for before, now in zip(kept, module.state_dict().values(), strict=True):
        assert torch.equal(before, now)
