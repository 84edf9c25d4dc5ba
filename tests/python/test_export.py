"""Modules that TorchScript does not take, and exported programs: compile() by way of torch.export against eager PyTorch."""

import collections
import dataclasses
import io
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from same import assert_same, saved
from torch import nn
from torch.nn import functional
from torch.utils import _pytree as pytree

import torchtrt
from torchtrt import CompileError, EngineError, Input

PAGE = Path(__file__).parents[2] / "docs" / "export.md"
BATCH = Input(min_shape=[1, 4], opt_shape=[2, 4], max_shape=[6, 4])


class Generators(nn.Module):
    """TorchScript has no generator expressions over modules, no keyword-only unpacking and no **."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
        self.settings = {"approximate": "tanh"}

    def forward(self, x, *, scale=None):
        for layer in (each for each in self.layers):
            x = functional.gelu(layer(x), **self.settings)
        return x if scale is None else x * scale


def eager(module, *arguments, **named):
    with torch.no_grad():
        return module(*arguments, **named)


def exported(module, *arguments, dynamic_shapes=None, **named):
    return torch.export.export(module.eval(), arguments, named, dynamic_shapes=dynamic_shapes)


def test_a_module_that_cannot_be_scripted_is_exported():
    module, x = Generators().eval(), torch.randn(2, 4)
    with pytest.raises(CompileError, match="cannot be scripted"):
        torchtrt.compile(module, ir="ts", inputs=[x])
    compiled = torchtrt.compile(module, inputs=[x])
    assert isinstance(compiled, torch.jit.ScriptModule)
    assert torchtrt.report(compiled).share_in_engines == 1.0
    for each in (compiled, saved(compiled)):
        assert_same(each(x), eager(module, x))


def test_a_program_needs_no_inputs():
    module, x = Generators().eval(), torch.randn(3, 4)
    program = exported(module, x, dynamic_shapes={"x": {0: torch.export.Dim("rows", max=8)}})
    compiled = torchtrt.compile(program)
    for rows in (1, 2, 3, 8):
        y = torch.randn(rows, 4)
        assert_same(compiled(y), eager(module, y))
    with pytest.raises(EngineError, match=r"\[E005\] input 'x': expected \[s\d+ to 8, 4\], got \[9, 4\]"), torchtrt.translated_errors():
        compiled(torch.randn(9, 4))
    with pytest.raises(EngineError, match=r"\[E005\] input 'x': expected .* got \[2, 5\]"), torchtrt.translated_errors():
        compiled(torch.randn(2, 5))


def test_a_program_read_from_a_file_is_one(tmp_path):
    module, x = Generators().eval(), torch.randn(3, 4)
    torch.export.save(exported(module, x), tmp_path / "model.pt2")
    assert_same(torchtrt.compile(torch.export.load(tmp_path / "model.pt2"))(x), eager(module, x))


def test_the_result_runs_where_nothing_of_the_model_is(tmp_path):
    module, x = Generators().eval(), torch.randn(2, 4)
    torchtrt.compile(module, inputs=[BATCH]).save(tmp_path / "compiled.ts")
    torch.save([x, eager(module, x)], tmp_path / "sample.pt")
    code = ("import sys, torch, torchtrt.runtime\nx, expected = torch.load('sample.pt')\n"
            "torch.testing.assert_close(torch.jit.load('compiled.ts')(x), expected)\n"
            "assert not any(name.startswith(('torchtrt._exported', 'torchtrt._compile')) for name in sys.modules)")
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


Pair = collections.namedtuple("Pair", "left right")
pytree._register_namedtuple(Pair, serialized_type_name="tests.Pair")


@dataclasses.dataclass
class Output:
    logits: torch.Tensor
    states: tuple


torch.export.register_dataclass(Output, serialized_type_name="tests.Output")


class Nested(nn.Module):
    """Dictionaries, lists, tuples and classes, on both sides."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def forward(self, first, pairs, *, named):
        a, b = torch.relu(first), pairs[0][1] + pairs[1][0]
        c = torch.tanh(named["x"]) * a
        return {"dict": {"a": a, "b": b}, "tuple": (a, [b, c]), "list": [a, b], "mixed": {"a": a, "few": (b, c)},
                "named": Pair(a, b), "output": Output(a, (b, c)), "nothing": (a, None), "size": (a, a.shape[0] * 2)}[self.kind]


def plain(value):
    """Leaves out the classes that TorchScript does not have."""
    if isinstance(value, torch.Tensor) or value is None or isinstance(value, int):
        return value
    if dataclasses.is_dataclass(value):
        return [plain(getattr(value, each.name)) for each in dataclasses.fields(value)]
    return [plain(each) for each in (value.values() if isinstance(value, dict) else value)]


@pytest.mark.parametrize("kind", ["dict", "tuple", "list", "mixed", "named", "output", "nothing", "size"])
def test_arguments_and_results_are_nested_as_in_python(kind):
    module = Nested(kind).eval()
    x = torch.randn(2, 4)
    arguments, named = (x, [(x, x + 1), (x + 2, x)]), {"named": {"x": x + 3, "y": x}}
    described = pytree.tree_map(lambda _: Input([2, 4]), (arguments, named))
    compiled = torchtrt.compile(module, ir="export", input_signature=described[0], kwarg_inputs=described[1])
    expected = eager(module, *arguments, **named)
    for each in (compiled, saved(compiled)):
        found = each(*arguments, **named)
        assert_same(plain(found), plain(expected))
    if kind == "output":
        assert torch.equal(found.logits, found[0])
    if kind in ("dict", "tuple", "list"):
        assert type(found) is type(expected)


class Counter(nn.Module):
    """State in a buffer, written at every call, and an argument that is written."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64), persistent=False)
        self.linear = nn.Linear(4, 4)

    def forward(self, x, memory):
        self.calls += 1
        self.total.mul_(0.5).add_(x.sum(0))
        memory[:, 0] = x[:, 1]
        return self.linear(torch.relu(x)) + self.total, self.total


@pytest.mark.parametrize("decomposed", [False, True])
def test_buffers_and_arguments_are_written(decomposed):
    torch.manual_seed(0)
    module, x = Counter().eval(), torch.randn(3, 4)
    program = exported(module, x, torch.zeros(3, 4))
    compiled = torchtrt.compile(program.run_decompositions() if decomposed else program)
    for each in (compiled, saved(compiled)):
        reference = Counter().eval()
        reference.load_state_dict(module.state_dict())
        for step in range(3):
            ours, theirs = torch.zeros(3, 4), torch.zeros(3, 4)
            assert_same(each(x + step, ours), eager(reference, x + step, theirs))
            assert torch.equal(ours, theirs)
        assert_same(each.total, reference.total)
        assert int(each.calls) == 3


class Picked(nn.Module):
    """Sizes that depend on data, numbers taken from tensors, and a branch that torch.cond keeps."""

    def forward(self, x, count):
        rows = x[x.sum(1) > 0]
        n = count.item()
        torch._check(n >= 0)
        torch._check(n <= 4)
        y = torch.cond(x.sum() > 0, lambda x: torch.relu(x) + 1, lambda x: torch.tanh(x) * 2, (x,))
        return torch.relu(rows) * 2, y[:, :4] * n, rows.shape[0]


def test_sizes_and_branches_that_depend_on_data():
    module = Picked().eval()
    compiled = torchtrt.compile(module, ir="export", inputs=[Input([5, 4]), Input([], dtype=torch.int64)])
    torch.manual_seed(0)
    for sign in (1, -1, 1, -1):
        x = torch.randn(5, 4) + sign
        assert_same(compiled(x, torch.tensor(3)), eager(module, x, torch.tensor(3)))


class Constants(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = torch.randn(4)
        self.tied = nn.Linear(4, 4)
        self.again = self.tied

    def forward(self, x, power: int = 2, bias=None):
        y = self.again(self.tied(x)) * self.weights + torch.tensor([1.0, 2.0, float("inf"), 3.0]).clamp(max=9)
        return y.abs() ** power if bias is None else y


def test_constants_tied_weights_and_arguments_that_are_left_out():
    module, x = Constants().eval(), torch.randn(2, 4)
    compiled = torchtrt.compile(module, ir="export", input_signature=(Input([2, 4]), 3))
    assert_same(compiled(x, 3), eager(module, x, 3))
    with pytest.raises(EngineError, match=r"\[E005\] input 'power': the module was exported for 3 alone"), torchtrt.translated_errors():
        compiled(x, 2)
    program = exported(module, x)
    assert_same(torchtrt.compile(program)(x), eager(module, x))


def test_half_precision_and_other_options_are_those_of_compile():
    module, x = Generators().eval(), torch.randn(2, 4)
    compiled = torchtrt.compile(module, inputs=[x], enabled_precisions={torch.half}, torch_executed_ops=["aten::gelu"], min_block_size=1)
    report = torchtrt.report(compiled)
    assert report.torch_segments >= 3
    assert torch.allclose(compiled(x), eager(module, x), atol=2e-2)
    with pytest.raises(CompileError, match=r'\[C003\] there is no option "min_blok_size"'):
        torchtrt.compile(module, inputs=[x], min_blok_size=1)


def test_named_inputs_come_in_any_order():
    class Scaled(nn.Module):
        def forward(self, x, *, scale, shift):
            return torch.relu(x) * scale + shift

    x, scale, shift = torch.randn(2, 4), torch.randn(4), torch.randn(2, 1)
    program = exported(Scaled(), x, scale=scale, shift=shift)
    compiled = torchtrt.compile(program, inputs=[Input([2, 4])], kwarg_inputs={"shift": Input([2, 1]), "scale": Input([4])})
    assert_same(compiled(x, shift=shift, scale=scale), eager(Scaled(), x, scale=scale, shift=shift))
    with pytest.raises(CompileError, match=r"\[C002\] inputs and arg_inputs are both given"):
        torchtrt.compile(program, inputs=[x], arg_inputs=[x])


def test_a_program_and_too_few_inputs():
    program = exported(nn.Bilinear(4, 4, 4), torch.randn(2, 4), torch.randn(2, 4))
    with pytest.raises(CompileError, match=r"\[C002\] inputs has 1 values, and the exported program takes 2"):
        torchtrt.compile(program, inputs=[Input([2, 4])])


def test_the_same_bytes_twice():
    program = exported(Generators(), torch.randn(2, 4))

    def content():
        buffer = io.BytesIO()
        torch.jit.save(torchtrt.compile(program), buffer)
        return len(buffer.getvalue())

    assert content() == content()


def test_the_samples_of_the_page_run(tmp_path, monkeypatch):
    samples = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert samples
    (tmp_path / "page.py").write_text("\n".join(samples))
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(tmp_path / "page.py"))
    assert torch.jit.load(str(tmp_path / "compiled.ts"))(torch.randn(3, 8))["result"].shape == (3, 8)


class Looks(nn.Module):
    def forward(self, x, rows, **_):
        return torch.relu(x)[rows] + torch.maximum(x.amax(), torch.ops.aten.div(x.size(0), 2, rounding_mode="trunc"))


def test_errors_of_pytorch_quote_lines_of_the_model():
    compiled = torchtrt.compile(Looks().eval(), inputs=[Input([2, 4]), Input([3], dtype=torch.int64)], torch_executed_ops=["aten::index"])
    x, rows = torch.randn(2, 4), torch.tensor([0, 1, 1])
    assert_same(compiled(x, rows), eager(Looks(), x, rows))
    with pytest.raises(Exception, match=r"  # test_export.py:\d+"):
        compiled(x, rows + 9)


class Chooses(nn.Module):
    def forward(self, x, **_):
        return torch.relu(x) if x.sum() > 0 else x


def test_a_branch_on_data_names_the_way_out():
    with pytest.raises(CompileError, match=r"\[C004\] Chooses cannot be scripted(.|\n)*\[C004\] Chooses cannot be exported(.|\n)*torch.compile"):
        torchtrt.compile(Chooses().eval(), inputs=[Input([2, 4])])
