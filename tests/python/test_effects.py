"""Writes to what the caller passed: lists, dictionaries and tensors, nested and under several names, change as in PyTorch.

TorchScript copies Python's lists and dictionaries when it is called, so only a caller in TorchScript sees what becomes of them.
"""

import copy
import importlib.util
import re

import pytest
import torch
from torch import Tensor

import torchtrt
from same import assert_same

HEADER = """
from typing import Dict, List, Optional, Tuple
import torch
from torch import Tensor, nn

class Callee(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 3))

    def forward(self, {signature}):
        y = torch.relu(x @ self.weight) * 2
{body}

class Caller(nn.Module):
    def __init__(self, callee):
        super().__init__()
        self.callee = callee

    def forward(self, {signature}):
        result = self.callee({names})
        return result, ({names})
"""

TENSOR, LIST, NESTED = "s: Tensor", "s: List[Tensor]", "s: List[List[Tensor]]"
DICTIONARY, LISTS_BY_NAME, TUPLE = "s: Dict[str, Tensor]", "s: Dict[str, List[Tensor]]", "s: Tuple[Tensor, List[Tensor]]"
TWO = "s: List[Tensor], r: List[Tensor]"

EFFECTS = {
    "an item of a list": (LIST, "s[0] = torch.sigmoid(s[0] + y); z = torch.relu(y) * s[0]; s[1] = z; return torch.tanh(z) + s[0]"),
    "a list grows and shrinks": (LIST, "s.append(y); a = s.pop(0); s.insert(0, x); s.extend([y, a]); return torch.tanh(y) + a + len(s)"),
    "a list is cleared": (LIST, "s.clear(); s.append(y); return torch.tanh(y)"),
    "a list under another name": (LIST, "t = s; t[0] = y; del t[1]; t.reverse(); return s[0] + y"),
    "a list in a loop": (LIST, "for i in range(len(s)): s[i] = torch.tanh(s[i] * 2 + y)\nreturn s[0] + y"),
    "a list in a branch": (LIST, "if x.size(0) > 2: s[0] = y\nelse: s[1] = y\nreturn s[0] + y"),
    "a list in a branch on data": (LIST, "if bool(x.sum() > 0): s[0] = y\nelse: s[1] = y\nreturn torch.tanh(s[0] + y)"),
    "tensors in a list": (LIST, "s[0].mul_(0.5); s[0] += y; q = s[1][0]; q.copy_(y[0]); return torch.tanh(s[1]) + s[0]"),
    "tensors in a list, in a loop": (LIST, "for t in s: t.add_(y)\nreturn s[0] + y"),
    "a tensor that is no longer in the list": (LIST, "a = s[0]; s[0] = y; a.add_(1); return s[0] + a"),
    "lists in a list": (NESTED, "t = s[1]; t[0] = torch.tanh(y); s[0] = [y, y]; return s[1][0] + s[0][0]"),
    "lists in a list grow": (NESTED, "s.append([y]); s[0].append(y); return torch.tanh(y)"),
    "states of layers": (NESTED, "out: List[List[Tensor]] = []\nfor i in range(2): t = s[i]; t[0] = t[0] + y; t[1] = torch.cat([t[1], y])[-2:]; out.append(t)\nreturn torch.tanh(y), out"),
    "an entry of a dictionary": (DICTIONARY, "s['a'] = s['a'] + y; s['c'] = x; return torch.tanh(s['a'])"),
    "a dictionary shrinks": (DICTIONARY, "v = s.pop('a'); return torch.tanh(y) + v"),
    "a dictionary in a loop": (DICTIONARY, "for k in s.keys(): s[k] = s[k] + y\nreturn torch.tanh(y)"),
    "tensors in a dictionary": (DICTIONARY, "s['a'].add_(y); return s['a'] * 2"),
    "lists in a dictionary": (LISTS_BY_NAME, "s['a'][0] = y; s['b'].append(y); s['b'][0].add_(1); return torch.tanh(y) + s['b'][0]"),
    "a list in a tuple": (TUPLE, "a, b = s; b[0] = y + a; a[0, 0] = 5.0; return a * 2 + b[0]"),
    "a part of a tensor": (TENSOR, "s[0] = y[0]; s[:, 1:] += y[:, 1:]; return torch.tanh(s) * 2"),
    "a streaming buffer": (TENSOR, "s[:, :-1] = s[:, 1:].clone(); s[:, -1] = y[:, 0]; return torch.relu(s) * 2"),
    "a view of a tensor": (TENSOR, "t = s.t(); t.add_(y.t()); return torch.relu(s) * 2 + t.t()"),
    "a tensor that is read under both names": (TENSOR, "x.add_(1); return torch.relu(s) * 2 + x"),
    "one of two lists": (TWO, "s[0] = s[0] + y; s.append(x); return r[0] * 2 + len(r)"),
    "tensors in one of two lists": (TWO, "s[0].add_(y); z = torch.relu(r[0]); r[1] = z; return r[0] * 2 + s[1]"),
}


def lines_of(body):
    return "".join(f"        {line}\n" for line in body.split("\n"))


@pytest.fixture
def make(tmp_path):
    """Gives the classes of a callee and its caller, from source that TorchScript finds."""

    def modules(signature, body):
        names = re.findall(r"(\w+):", signature)
        path = tmp_path / "effects_source.py"
        path.write_text(HEADER.format(signature=signature, names=", ".join(names) + ",", body=lines_of(body)), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("effects_source", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.Callee, module.Caller

    return modules


def state_of(kind):
    def tensor():
        return torch.randn(3, 3)

    makers = {
        "Tensor": tensor,
        "List[Tensor]": lambda: [tensor(), tensor()],
        "List[List[Tensor]]": lambda: [[tensor(), tensor()], [tensor(), tensor()]],
        "Dict[str, Tensor]": lambda: {"a": tensor(), "b": tensor()},
        "Dict[str, List[Tensor]]": lambda: {"a": [tensor()], "b": [tensor()]},
        "Tuple[Tensor, List[Tensor]]": lambda: (tensor(), [tensor(), tensor()]),
    }
    return makers[kind]()


def inputs_like(value):
    if isinstance(value, Tensor):
        return torchtrt.Input(list(value.shape))
    if isinstance(value, dict):
        return {key: inputs_like(each) for key, each in value.items()}
    return type(value)(inputs_like(each) for each in value)


def with_other_names(arguments):
    """The same arguments, and what they are where the caller passes one tensor or list twice."""
    yield arguments
    x, state, *others = arguments
    if isinstance(state, Tensor):
        yield [x, x]
    elif isinstance(state, list) and isinstance(state[0], Tensor):
        yield [x, [x, x], *([x, state[1]] for _ in others)]
        if others:
            yield [x, state, state]
    elif isinstance(state, list):
        yield [x, [state[0], state[0]]]


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda name: name.replace(" ", "-"))
def test_the_caller_sees_what_is_written(make, effect):
    torch.manual_seed(3)
    signature, body = EFFECTS[effect]
    callee_class, caller_class = make("x: Tensor, " + signature, body)
    original = torch.jit.script(callee_class().eval())
    arguments = [torch.randn(3, 3), *(state_of(kind) for kind in re.findall(r"\w: (.*?)(?=, \w: |$)", signature))]
    compiled = torchtrt.compile(original, input_signature=tuple(inputs_like(each) for each in arguments), min_block_size=1)
    assert torchtrt.report(compiled).engine_segments > 0
    theirs, ours = (torch.jit.script(caller_class(callee).eval()) for callee in (original, compiled))
    with torch.no_grad():
        for given in with_other_names(arguments):
            for _ in range(3):
                expected = theirs(*copy.deepcopy(given))
                assert_same(ours(*copy.deepcopy(given)), expected)
                assert any_difference(expected[1], tuple(given))


def any_difference(a, b):
    if isinstance(a, Tensor):
        return a.shape != b.shape or not torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() != b.keys() or any(any_difference(a[key], b[key]) for key in a)
    return len(a) != len(b) or any(any_difference(x, y) for x, y in zip(a, b, strict=True))


def test_compiling_leaves_samples_as_they_are(make):
    callee_class, _ = make("x: Tensor, s: List[Tensor]", "s[0].add_(y); x.mul_(2); s[1] = y; return y + s[0]")
    x, state = torch.randn(3, 3), [torch.randn(3, 3), torch.randn(3, 3)]
    before = copy.deepcopy((x, state))
    torchtrt.compile(torch.jit.script(callee_class().eval()), input_signature=(x, state), min_block_size=1)
    assert_same((x, state), before)
