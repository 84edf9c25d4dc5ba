"""Modules that are pinned to a floating dtype, against eager modules whose pinned parts are cast and called so."""

import copy
import re
from typing import Optional

import pytest
import torch

import torchtrt
from test_torchtrtc import succeeds
from torchtrt import CompileError


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second = torch.nn.Linear(16, 32), torch.nn.LayerNorm(32), torch.nn.Linear(32, 16)

    def forward(self, x):
        return x + self.second(torch.nn.functional.gelu(self.norm(self.first(x))))


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.ModuleList([Layer() for _ in range(3)])

    def forward(self, x):
        for each in self.layer:
            x = each(x)
        return x


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Sequential(torch.nn.Conv1d(3, 16, 3, padding=1), torch.nn.BatchNorm1d(16), torch.nn.ReLU())
        self.encoder = Encoder()
        self.fc = torch.nn.Linear(16, 5)

    def forward(self, x):
        return self.fc(self.encoder(self.conv(x).transpose(1, 2)).mean(1))


def net():
    torch.manual_seed(0)
    made = Net()
    with torch.no_grad():
        made(torch.randn(8, 3, 10))  # statistics
    return made.eval()


def pinned(module, pins, rest):
    """Returns eager PyTorch's module: everything in `rest`, except for the modules of these paths, whose inputs and results are cast."""
    made = copy.deepcopy(module).to(rest)
    for path, dtype in pins.items():
        parent, _, name = path.rpartition(".")
        inner = copy.deepcopy(module.get_submodule(path)).to(dtype)
        inner.register_forward_pre_hook(lambda _, x, dtype=dtype: tuple(each.to(dtype) for each in x))
        inner.register_forward_hook(lambda _, x, y: y.to(rest))
        setattr(made.get_submodule(parent), name, inner)
    return made


def distance(actual, expected):
    return ((actual.double() - expected.double()).abs().max() / expected.double().abs().max()).item()


def computed_in(compiled, folder):
    """Returns the result dtypes of the steps of every module with a matmul or a normalization in an engine."""
    compiled.save(folder / "compiled.ts")
    plan = succeeds("inspect", folder / "compiled.ts").stdout
    dtype_of = dict(re.findall(r"^  (%\d+) \S+ : (\w+)\[", plan, re.MULTILINE))
    steps = re.findall(r"^  \d+ (?:convolution|matrix_multiply|normalization) .*-> \((%\d+)\).*\(([\w.]+)[^)]*\)  \[", plan, re.MULTILINE)
    assert steps and len(dtype_of) > len(steps)
    dtypes = {}
    for output, module in steps:
        dtypes.setdefault(module, set()).add(dtype_of[output])
    return dtypes


def name(dtype):
    return str(dtype).removeprefix("torch.")


CASES = {  # patterns of ours, paths in eager, dtype of the rest
    "everything but a layer in bfloat16": (
        {"encoder.layer.0.*": torch.float32}, {"encoder.layer.0": torch.float32}, torch.bfloat16),
    "everything but two modules in float16": (
        {"fc": torch.float32, "conv": torch.float32}, {"fc": torch.float32, "conv": torch.float32}, torch.float16),
    "one layer in bfloat16": ({"fc": torch.bfloat16}, {"fc": torch.bfloat16}, torch.float32),
    "both in one module": (
        {"encoder": torch.float16, "encoder.layer.1": torch.bfloat16},
        {"encoder.layer.0": torch.float16, "encoder.layer.1": torch.bfloat16, "encoder.layer.2": torch.float16}, torch.float32),
}
TOLERANCE = {torch.float32: 5e-3, torch.float16: 2e-3, torch.bfloat16: 2e-2}


@pytest.mark.parametrize("traced", [False, True], ids=["scripted", "traced"])
@pytest.mark.parametrize("case", CASES)
@torch.inference_mode()
def test_pins_are_obeyed(case, traced, tmp_path):
    pins, paths, rest = CASES[case]
    module = net()
    x = torch.randn(4, 3, 10, generator=torch.Generator().manual_seed(1))
    script = torch.jit.trace(module, x) if traced else torch.jit.script(module)
    compiled = torchtrt.compile(script, inputs=[x.to(rest)], op_precision=rest, precision=pins)
    report = torchtrt.report(compiled)
    assert (report.engine_segments, report.torch_segments) == (1, 0)
    assert all(pin.nodes > 0 for pin in report.precision)
    actual, expected = compiled(x.to(rest)), pinned(module, paths, rest)(x.to(rest))
    assert actual.dtype == rest
    assert distance(actual, expected) <= TOLERANCE[rest]
    computed = computed_in(compiled, tmp_path)
    assert len(computed) >= 1 + 3 * 3 + 1  # BatchNorm may be one with its convolution
    for path, dtypes in computed.items():
        around = [pin for pin in paths if path == pin or path.startswith(pin + ".")]
        assert dtypes == {name(paths[around[-1]] if around else rest)}, path


@pytest.mark.parametrize("dtype", [torch.half, torch.bfloat16])
@torch.inference_mode()
def test_inputs_keep_the_dtype_that_they_are_declared_with(dtype):
    """op_precision is then of what is inside, where module.half() alone would fail in PyTorch."""
    module, x = net(), torch.randn(4, 3, 10, generator=torch.Generator().manual_seed(1))
    for inputs in [[x], [torchtrt.Input([4, 3, 10], dtype=torch.float32)]]:
        compiled = torchtrt.compile(torch.jit.script(module), inputs=inputs, op_precision=dtype)
        report = torchtrt.report(compiled)
        assert (report.engine_segments, report.torch_segments, len(report.precision)) == (1, 0, 1)
        actual = compiled(x)
        assert actual.dtype == torch.float32 and not torch.equal(actual, module(x))
        assert distance(actual, module(x)) <= TOLERANCE[dtype]
    own = torchtrt.compile(torch.jit.script(module), inputs=[x], op_precision=dtype, precision={"*": torch.float32})
    assert distance(own(x), module(x)) <= TOLERANCE[torch.float32], "the user's pins are the last"


def networks(folder):
    return next(folder.glob("*optimized*")).read_text()


@torch.inference_mode()
def test_pinned_weights_are_never_rounded(tmp_path, monkeypatch):
    """The pinned layer's own weights are in the engine in float32, and its products are float32's."""
    monkeypatch.setenv("TORCHTRT_DUMP", str(tmp_path))
    module = net()
    torchtrt.compile(torch.jit.script(module), inputs=[torchtrt.Input([4, 3, 10], dtype=torch.bfloat16)],
                     enabled_precisions={torch.bfloat16}, precision={"encoder.layer.0.*": torch.float32})
    products = [line for line in networks(tmp_path).splitlines() if "= matrix_multiply(" in line or "= convolution(" in line]
    inside = [line for line in products if ": float32[" in line]
    assert len(inside) == 2
    assert len([line for line in products if ": bfloat16[" in line]) == len(products) - 2 == 6


@torch.inference_mode()
def test_the_same_pins_give_the_same_bytes(tmp_path):
    script, pins = torch.jit.script(net()), {"*": torch.bfloat16, "encoder.layer.0": torch.float32, "*.norm": torch.float32}
    saved = []
    for _ in range(2):
        compiled = torchtrt.compile(script, inputs=[torchtrt.Input([4, 3, 10])], precision=pins)
        compiled.save(tmp_path / "same.ts")  # its name is in it
        saved.append((tmp_path / "same.ts").read_bytes())
    assert saved[0] == saved[1]


@torch.inference_mode()
def test_a_loaded_module_has_the_same_pins(tmp_path):
    """Code that scripted and saved modules call, through lists of modules and functions, belongs to the same modules."""
    torch.jit.script(net()).save(tmp_path / "net.ts")
    compiled = torchtrt.compile(torch.jit.load(tmp_path / "net.ts"), inputs=[torchtrt.Input([4, 3, 10])], precision={"*.norm": torch.bfloat16})
    assert torchtrt.report(compiled).precision[0].nodes == 3
    compiled.save(tmp_path / "compiled.ts")
    loaded = torchtrt.report(torch.jit.load(tmp_path / "compiled.ts")).precision
    assert [(pin.pattern, pin.dtype, pin.nodes) for pin in loaded] == [("*.norm", "bfloat16", 3)]


@torch.inference_mode()
def test_verify_allows_what_the_pins_round():
    module, x = torch.jit.script(net()), torch.randn(4, 3, 10, generator=torch.Generator().manual_seed(1))
    for kept in ([], ["encoder.layer.1"]):
        compiled = torchtrt.compile(module, inputs=[x], precision={"encoder": torch.bfloat16}, torch_executed_modules=kept)
        verification = torchtrt.verify(module, compiled, [x])
        assert verification.agrees and verification.outputs.relative > 1e-4 and verification.outputs.allowed == 2e-2


@torch.inference_mode()
def test_the_pinned_part_is_as_exact_as_float32():
    """Computes two matmuls, the first in float32: only its result is rounded, where the second reads it. Sums of eighths are exact in any
    order."""
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)).eval()
    for parameter in module.parameters():
        parameter.copy_(torch.randint(-8, 9, parameter.shape) / 8)
    half, x = copy.deepcopy(module).to(torch.bfloat16), torch.randint(-16, 17, (8, 64)) / 8 + 1 / 256
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[torchtrt.Input([8, 64])], precision={"*": torch.bfloat16, "0": torch.float32})
    assert torch.equal(compiled(x), half[1](module[0](x).to(torch.bfloat16)).float())
    assert not torch.equal(compiled(x), half(x.to(torch.bfloat16)).float())


@torch.inference_mode()
def test_the_last_pattern_holds():
    module = net()
    script = torch.jit.script(module)
    inputs = [torchtrt.Input([4, 3, 10])]
    compiled = torchtrt.compile(script, inputs=inputs, precision={"*": torch.bfloat16, "encoder": torch.float32})
    later = torchtrt.compile(script, inputs=inputs, precision={"encoder": torch.float32, "*": torch.bfloat16})
    assert [pin.nodes > 0 for pin in torchtrt.report(compiled).precision] == [True, True]
    assert [pin.nodes > 0 for pin in torchtrt.report(later).precision] == [False, True]
    assert "precision encoder = float32: 0 nodes" in str(torchtrt.report(later))


@torch.inference_mode()
def test_what_stays_in_pytorch_is_pinned_too():
    module = net()
    x = torch.randn(4, 3, 10)
    pins = {"encoder.layer.1": torch.bfloat16}
    expected = pinned(module, pins, torch.float32)(x)
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[x], precision=pins, torch_executed_modules=["encoder.layer.1"])
    assert torchtrt.report(compiled).torch_segments > 0
    assert 1e-4 < distance(compiled(x), module(x)) and distance(compiled(x), expected) <= TOLERANCE[torch.float32]
    whole = torchtrt.compile(torch.jit.script(module), inputs=[x], precision=pins, torch_executed_modules=["conv", "encoder", "fc"])
    assert distance(whole(x), expected) < 1e-6


class MaybeBias(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, 8))

    def forward(self, x, bias: Optional[torch.Tensor]):
        return torch.nn.functional.linear(x, self.weight, bias).relu()


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = MaybeBias()

    def forward(self, x, bias: Optional[torch.Tensor] = None):
        return self.inner(x * 2, bias)


@torch.inference_mode()
def test_what_may_be_none_is_not_cast():
    torch.manual_seed(0)
    module, x, bias = Outer().eval(), torch.randn(3, 8), torch.randn(4)
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[x, bias], precision={"inner": torch.bfloat16})
    for given in (bias, None):
        assert compiled(x, given).dtype == torch.float32 and distance(compiled(x, given), module(x, given)) <= 2e-2


class Pieces(torch.nn.Module):
    def forward(self, x):
        return torch.split(x * 2, 4, -1)


class Chunks(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.pieces = Pieces()

    def forward(self, x):
        return self.pieces(x)


@torch.inference_mode()
def test_lists_that_are_given_away_keep_the_dtype():
    x = torch.randn(3, 8)
    compiled = torchtrt.compile(torch.jit.script(Chunks().eval()), inputs=[x], precision={"pieces": torch.bfloat16})
    for got, expected in zip(compiled(x), Chunks()(x), strict=True):
        assert got.dtype == torch.float32 and distance(got, expected) <= 2e-2


@pytest.mark.parametrize("pins, says", [
    ({"encoder.layers.0.*": torch.float32}, "encoder.layer.0"), ({"fc1": torch.float32}, "near it are 'fc'"),
    ({"fc": torch.float64}, "use float, half or bfloat16"), ({"fc": torch.int32}, "use float, half or bfloat16"),
    (["fc"], "option precision does not take"),
])
def test_what_is_no_pin(pins, says):
    with pytest.raises(CompileError, match="precision") as error:
        torchtrt.compile(torch.jit.script(net()), inputs=[torchtrt.Input([4, 3, 10])], precision=pins)
    assert says in str(error.value)
