"""input_signature: examples of arguments that are dictionaries, lists, tuples, named tuples, numbers, texts and None."""

import typing

import pytest
import torch
from torch import Tensor, nn

import torchtrt
from same import assert_calls_are_same

INPUT = torchtrt.Input([2, 4])


def tensors(count):
    return [torch.randn(2, 4) for _ in range(count)]


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)


class Named(typing.NamedTuple):
    left: Tensor
    count: int


class Dictionary(Linear):
    def forward(self, x: dict[str, Tensor]):
        return self.linear(x["a"]) + x["b"].relu()


class OfLists(Linear):
    def forward(self, x: dict[int, list[Tensor]], scale: float = 1.0):
        return self.linear(x[3][0]) * scale + x[3][-1], len(x)


class MayLack(Linear):
    def forward(self, x: dict[str, Tensor]):
        y = self.linear(x["a"])
        if "b" in x:
            y = y + x["b"]
        return y.relu()


class ListOfPairs(Linear):
    def forward(self, pairs: list[tuple[Tensor, Tensor]]):
        return self.linear(pairs[0][0]) + pairs[1][1].tanh()


class NamedTuple(Linear):
    def forward(self, x: Named):
        return Named(self.linear(x.left).relu(), x.count + 1)


class Optional(Linear):
    def forward(self, x, mask: Tensor | None = None, names: list[str] | None = None, power: int = 2):
        y = self.linear(x) ** power
        if mask is not None:
            y = y + mask
        return y, names


class Writes(Linear):
    def forward(self, x: dict[str, Tensor]):
        y = self.linear(x["a"])
        x["b"] = y[:1]
        return torch.tanh(x["b"]) + 1


CASES = {
    "dictionary": (Dictionary, ({"a": INPUT, "b": INPUT},), [({"b": tensors(1)[0], "a": tensors(1)[0]},)]),
    "dictionary with one key": (Dictionary, {"a": INPUT, "b": torch.zeros(2, 4)}, [({"a": tensors(1)[0], "b": tensors(1)[0]},)]),
    "dictionary of lists": (OfLists, ({3: [INPUT, INPUT]}, 2.0), [({3: tensors(2)}, 0.5), ({3: tensors(2), 4: []},)]),
    "optional entry": (MayLack, ({"a": INPUT},), [({"a": tensors(1)[0]},), ({"a": tensors(1)[0], "b": tensors(1)[0]},)]),
    "list of tuples": (ListOfPairs, ([(INPUT, INPUT), (INPUT, INPUT)],), [([tuple(tensors(2)), tuple(tensors(2))],)]),
    "named tuple": (NamedTuple, (Named(INPUT, 3),), [(Named(tensors(1)[0], 5),)]),
    "none": (Optional, (INPUT, None, ["n"], 3), [(tensors(1)[0], None, ["a"], 3), (*tensors(2), None, 1)]),
    "written to": (Writes, ({"a": INPUT},), [({"a": tensors(1)[0]},)]),
}


@pytest.mark.parametrize("options", [{}, {"min_block_size": 1}], ids=["default", "every block"])
@pytest.mark.parametrize("case", CASES)
def test_signatures_are_nested_as_arguments_are(case, options):
    make, signature, calls = CASES[case]
    report = assert_calls_are_same(make(), calls, input_signature=signature, **options)
    assert report.engine_segments >= 1


def test_what_a_dictionary_holds_is_an_engines_input():
    compiled = torchtrt.compile(torch.jit.script(Dictionary().eval()), input_signature=({"a": INPUT, "b": INPUT},))
    report = torchtrt.report(compiled)
    assert [segment.target for segment in report.segments] == ["engine"]
    assert sorted(report.segments[0].inputs) == ["x_a: float32 [2, 4]", "x_b: float32 [2, 4]"]


def test_sample_inputs_may_be_nested_too():
    samples = ({"a": torch.randn(2, 4), "b": torch.randn(2, 4)},)
    compiled = torchtrt.compile(torch.jit.script(Dictionary().eval()), input_signature=samples, sample_inputs=samples)
    assert torchtrt.report(compiled).engine_segments == 1


@pytest.mark.parametrize("make,signature,says", [
    (Dictionary, ({1: INPUT, 2: INPUT},), "has a str where the input signature gives a Int"),
    (Dictionary, ([INPUT, INPUT],), "where the input signature gives a GenericList"),
    (Dictionary, (INPUT,), "where the input signature gives an Input"),
    (Optional, (INPUT, 3), "has a Tensor where the input signature gives a Int"),
    (Optional, (None,), "has a Tensor where the input signature gives a None"),
    (OfLists, ({3: [INPUT, INPUT]}, "much"), "has a float where the input signature gives a String"),
])
def test_mistaken_signatures(make, signature, says):
    with pytest.raises(torchtrt.CompileError, match=says) as error:
        torchtrt.compile(torch.jit.script(make().eval()), input_signature=signature)
    assert "[C002]" in str(error.value) and "nest the signature as the method takes its arguments: forward(x" in str(error.value)


def test_a_range_of_shapes_is_no_dictionary_of_inputs():
    class MinOptMax(nn.Module):
        def forward(self, x: dict[str, Tensor]):
            return torch.relu(x["min"] + x["opt"] * x["max"])

    assert_calls_are_same(MinOptMax(), [(dict(zip(("min", "opt", "max"), tensors(3))),)],
                          input_signature=({"min": INPUT, "opt": INPUT, "max": INPUT},), min_block_size=1)
