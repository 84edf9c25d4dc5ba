"""Modules of which not all converts: what is in engines, what stays in PyTorch and why, and that results are PyTorch's."""

import re
import typing

import pytest
import torch
from torch import nn

import torchtrt
import torchtrt.runtime
from same import FELL_BACK, assert_same, saved


def check(module, *arguments, inputs=None, **options):
    """Compiles, compares with eager before and after saving, and gives the report."""
    module = module.eval()
    options.setdefault("inputs", inputs if inputs is not None else list(arguments))
    compiled = torchtrt.compile(torch.jit.script(module), **options)
    with torch.no_grad():
        expected = module(*arguments)
        assert_same(compiled(*arguments), expected)
        assert_same(saved(compiled)(*arguments), expected)
    return torchtrt.report(compiled)


def targets(report):
    return [segment.target for segment in report.segments]


class Convolutions(nn.Module):
    """Document 001's: two convolutions, log_sigmoid, a third convolution."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.conv3 = (nn.Conv2d(3, 3, 3, padding=1) for _ in range(3))

    def forward(self, x):
        x = self.conv2(self.conv1(x))
        return self.conv3(torch.nn.functional.logsigmoid(x))


LOG_SIGMOID = {"torch_executed_ops": ["aten::log_sigmoid"]}


def test_document_001s_module_is_two_engines_around_log_sigmoid():
    report = check(Convolutions(), torch.randn(1, 3, 8, 8), **LOG_SIGMOID)
    assert targets(report) == ["engine", "torch", "engine"]
    assert [len(segment.nodes) for segment in report.segments] == [2, 1, 1]
    assert report.segments[1].nodes[0].startswith("aten::log_sigmoid # ")
    assert report.segments[1].reasons == ["torch_executed_ops keeps aten::log_sigmoid in PyTorch"]
    assert report.segments[0].inputs == ["x: float32 [1, 3, 8, 8]"]


def test_a_minimum_that_no_block_reaches_leaves_all_to_pytorch():
    report = check(Convolutions(), torch.randn(1, 3, 8, 8), min_block_size=30, **LOG_SIGMOID)
    assert targets(report) == ["torch"]
    assert "its block has" in " ".join(report.segments[0].reasons)


def test_document_001s_minimum_of_two_makes_one_engine_of_two_convolutions():
    module = Convolutions().eval()
    x = torch.randn(1, 3, 8, 8)
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[x], torch_executed_ops=["aten::log_sigmoid"], min_block_size=2)
    (engine,) = torchtrt.runtime.engines(compiled).values()
    assert engine.inspect().count(' convolution "') == 2, engine.inspect()
    assert_same(compiled(x), module(x).detach())


def test_document_001s_shapes_are_known_where_engines_begin_and_end():
    report = check(Convolutions(), torch.randn(1, 3, 8, 8), **LOG_SIGMOID)
    for engine in (report.segments[0], report.segments[2]):
        assert [border.partition(": ")[2] for border in (*engine.inputs, *engine.outputs)] == ["float32 [1, 3, 8, 8]"] * 2


def test_document_001s_stitched_graph_takes_every_value_from_before():
    compiled = torchtrt.compile(torch.jit.script(Convolutions().eval()), inputs=[[1, 3, 8, 8]], **LOG_SIGMOID)
    engine = ["prim::GetAttr", "prim::ListConstruct", "tensorrt::execute_engine", "prim::ListUnpack"]
    assert [node.kind() for node in compiled.graph.nodes()] == [*engine, "aten::log_sigmoid", *engine]
    made = {value.debugName() for value in compiled.graph.inputs()}
    for node in compiled.graph.nodes():
        assert {value.debugName() for value in node.inputs()} <= made
        made |= {value.debugName() for value in node.outputs()}
    assert {value.debugName() for value in compiled.graph.outputs()} <= made


def test_dynamic_shapes_pass_through_pytorchs_segments():
    module = Convolutions().eval()
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[torchtrt.Input(
        min_shape=[1, 3, 8, 8], opt_shape=[2, 3, 8, 8], max_shape=[4, 3, 16, 16])], **LOG_SIGMOID)
    for shape in ([1, 3, 8, 8], [4, 3, 16, 16], [3, 3, 9, 15]):
        x = torch.randn(shape)
        assert_same(compiled(x), module(x).detach())
    assert torchtrt.report(compiled).segments[2].inputs[0].endswith("float32 [s0, 3, s1, s2]")


def test_lists_of_any_length_run_in_engines(capfd):
    class Stacks(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3, padding=1)

        def forward(self, images: list[torch.Tensor]):
            largest = max([image.size(1) for image in images])
            padded = [torch.nn.functional.pad(image, [0, 0, 0, largest - image.size(1)]) for image in images]
            return torch.relu(self.conv(torch.stack(padded)))

    module = Stacks().eval()
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[[3, 8, 8]])
    assert torchtrt.report(compiled).engine_segments == 1
    capfd.readouterr()
    for count in (1, 2, 5):
        images = [torch.randn(3, 8, 8) for _ in range(count)]
        assert_same(compiled(images), module(images).detach())
    assert "PyTorch runs" not in capfd.readouterr().err


def test_sizes_that_follow_in_steps_are_not_taken_for_fixed(capfd):
    class Rounds(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3, padding=1)

        def forward(self, x):
            missing = -x.size(2) % 32
            return self.conv(torch.special.bessel_j0(torch.nn.functional.pad(x, [0, 0, 0, missing])))

    module = Rounds().eval()
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[torchtrt.Input(
        min_shape=[1, 3, 20, 8], opt_shape=[1, 3, 40, 8], max_shape=[1, 3, 100, 8])])
    assert torchtrt.report(compiled).engine_segments > 0
    capfd.readouterr()
    for size in (20, 40, 65, 100):
        x = torch.randn(1, 3, size, 8)
        assert_same(compiled(x), module(x).detach())
    assert "PyTorch runs" not in capfd.readouterr().err


def test_what_follows_a_number_that_is_not_given_is_in_engines(capfd):
    class Chosen(nn.Module):
        def __init__(self):
            super().__init__()
            self.small, self.large = nn.Conv1d(1, 4, 3), nn.Conv1d(1, 4, 5, stride=2)
            self.after = nn.Conv1d(4, 4, 3)

        def forward(self, x, rate: int):
            if rate == 8000:
                y = self.small(x)
            else:
                y = self.large(x)
            return self.after(y)

    module = Chosen().eval()
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[[1, 1, 64]])
    assert torchtrt.report(compiled).engine_segments == 3
    capfd.readouterr()
    for rate in (8000, 16000):
        x = torch.randn(1, 1, 64)
        assert_same(compiled(x, rate), module(x, rate).detach())
    assert "PyTorch runs" not in capfd.readouterr().err


def test_modules_stay_in_pytorch_by_class_and_by_path():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            return torch.relu(self.linear(x))

    module = nn.Sequential(nn.Linear(4, 4), Block(), nn.Linear(4, 4))
    x = torch.randn(2, 4)
    by_class = check(module, x, torch_executed_modules=[f"{Block.__module__}.Block"])
    by_path = check(module, x, torch_executed_modules=["1"])
    for report in (by_class, by_path):
        assert targets(report) == ["engine", "torch", "engine"]
        assert [node.split(" ")[0] for node in report.segments[1].nodes] == ["aten::linear", "aten::relu"]


def test_branches_and_loops_run_engines_inside():
    class Controlled(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x, n: int = 2):
            if bool(x.sum() > 0):
                y = torch.tanh(self.one(x))
            else:
                y = self.two(x) * 2
            for i in range(n):
                y = self.two(y) + i
            return y, n

    module, x = Controlled().eval(), torch.rand(3, 4)
    report = check(module, x)
    inside = [segment for segment in report.segments if "." in segment.index and segment.target == "engine"]
    assert len(inside) == 3
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[[3, 4]])
    for argument in (x, -x):
        for n in (0, 1, 5):
            assert_same(compiled(argument, n), tuple(
                value.detach() if isinstance(value, torch.Tensor) else value for value in module(argument, n)))


class Pair(typing.NamedTuple):
    left: torch.Tensor
    right: int


class Collections(nn.Module):
    def forward(self, x, pairs: list[tuple[torch.Tensor, torch.Tensor]], name: str = "y", scale: float | None = None):
        y = torch.relu(x) + pairs[0][1]
        if scale is not None:
            y = y * scale
        return {name: y, "x": x}, Pair(y, y.size(0)), [y, x, y], None, 3, name, (x, (y,))


@pytest.mark.parametrize("scale", [None, 0.5])
def test_the_signature_is_kept(scale):
    x = torch.randn(2, 3)
    module = Collections().eval()
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[x])
    arguments = (x, [(x, x + 1)], "z", scale)
    for each in (compiled, saved(compiled)):
        actual, expected = each(*arguments), module(*arguments)
        assert_same(actual[0], expected[0])
        assert_same(tuple(actual[1]), tuple(expected[1]))
        assert_same(tuple(actual[2:]), tuple(expected[2:]))
    assert str(compiled.forward.schema).partition("self, ")[2] == str(
        torch.jit.script(module).forward.schema).partition("self, ")[2]


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64, torch.int32, torch.bool, torch.uint8, torch.float16])
def test_dtypes_cross_borders_exactly(dtype):
    class Mixed(nn.Module):
        def forward(self, x):
            y = torch.flip(x, [0])
            y = torch.special.bessel_j0(y.to(torch.float64)).to(x.dtype)
            return torch.cat([y, x]), torch.stack([x, y])

    x = torch.arange(6).reshape(2, 3).to(dtype)
    check(Mixed(), x, min_block_size=1)


def test_writes_through_views_are_seen():
    class Writes(nn.Module):
        def forward(self, x):
            y = torch.relu(x)
            before = torch.tanh(y)
            y[0] = 1.5
            y[:, 1:].mul_(2)
            return before + torch.exp(y), y

    check(Writes(), torch.randn(3, 4), min_block_size=1)


def test_an_argument_that_is_written_to_is_written_to():
    class Writes(nn.Module):
        def forward(self, x):
            x.add_(1)
            return torch.relu(x) * 2

    module = torch.jit.script(Writes().eval())
    compiled = torchtrt.compile(module, inputs=[[2, 3]], min_block_size=1)
    x = torch.randn(2, 3)
    y = x.clone()
    assert torch.equal(compiled(x), module(y)) and torch.equal(x, y)


def test_a_module_that_computes_nothing_comes_back():
    x = torch.randn(2)
    compiled = torchtrt.compile(torch.jit.script(nn.Identity().eval()), inputs=[x])
    assert torch.equal(compiled(x), x)
    assert torchtrt.report(compiled).engine_segments == 0


def test_two_compiles_with_fallback_give_the_same_graph():
    module = torch.jit.script(Convolutions().eval())
    first, second = (torchtrt.compile(module, inputs=[[1, 3, 8, 8]], **LOG_SIGMOID) for _ in range(2))
    assert str(first.graph) == str(second.graph)


def test_what_was_compiled_travels_with_the_module():
    module = torch.jit.script(Convolutions().eval())
    first, second = (saved(torchtrt.compile(module, inputs=[[1, 3, 8, 8]], **LOG_SIGMOID)) for _ in range(2))
    assert first.torchtrt_report == second.torchtrt_report
    assert "2 engines, 1 segment in PyTorch" in first.torchtrt_report.splitlines()[0]
    assert "\n  because  torch_executed_ops keeps aten::log_sigmoid in PyTorch\n" in first.torchtrt_report
    assert first.torchtrt_report_json == second.torchtrt_report_json


def test_the_report_of_a_loaded_module_has_the_same_parts():
    compiled = torchtrt.compile(torch.jit.script(Convolutions().eval()), inputs=[[1, 3, 8, 8]], **LOG_SIGMOID)
    made, loaded = torchtrt.report(compiled), torchtrt.report(saved(compiled))
    assert (loaded.engine_segments, loaded.torch_segments, loaded.share_in_engines) == (2, 1, made.share_in_engines)
    share = f": engines take over {int(made.share_of_time * 100)}% of PyTorch's time; "  # times differ: the record has none
    assert made.summary() == loaded.summary().replace(": ", share, 1) and loaded.share_of_time is None
    assert loaded.module == made.module and str(loaded).startswith(loaded.summary())
    for ours, others in zip(loaded.segments, made.segments, strict=True):
        for field in ("index", "name", "target", "nodes", "reasons", "inputs", "outputs", "memory_bytes"):
            assert getattr(ours, field) == getattr(others, field)
        assert [step.family for step in ours.steps] == [step.family for step in others.steps]
    assert [(node.node, node.code) for node in loaded.nodes] == [(node.node, node.code) for node in made.nodes]
    with pytest.raises(torchtrt.CompileError, match="no report of this module"):
        torchtrt.report(torch.jit.script(Convolutions().eval()))


def test_names_that_keep_nothing_are_told(capfd):
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()).eval()
    x = torch.randn(2, 3)
    compiled = torchtrt.compile(torch.jit.script(model), inputs=[x], torch_executed_ops=["aten::reluu", "aten::tanh"],
                                torch_executed_modules=["0", "torch.nn.modules.activation.ReLU", "2"])
    assert_same(compiled(x), model(x))
    told = capfd.readouterr().err
    assert re.findall(r'"(\S+)" is to stay in PyTorch and names no (\w+)', told) == [("aten::reluu", "operator"), ("2", "module")]


def test_one_line_is_told(capfd):
    torchtrt.compile(torch.jit.script(Convolutions().eval()), inputs=[[1, 3, 8, 8]], **LOG_SIGMOID)
    told = [line for line in capfd.readouterr().err.splitlines() if "Convolutions" in line]
    assert len(told) == 1
    assert "2 engines, 1 segment in PyTorch, 75% of 4 nodes in engines; in PyTorch: 1x torch_executed_ops keeps" in told[0]


def test_a_shape_outside_the_range_runs_in_pytorch_and_warns_once(capfd):
    module = Convolutions().eval()
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[[1, 3, 8, 8]])
    for each in (compiled, saved(compiled)):
        capfd.readouterr()
        for shape in ([2, 3, 8, 8], [1, 3, 5, 9], [3, 8, 8], [1, 3, 8, 8]):
            x = torch.randn(shape)
            assert_same(each(x), module(x).detach())
        assert capfd.readouterr().err.count(FELL_BACK) == 1
