"""torchtrt.update_weights: a module that was compiled with refit computes as one that is compiled of the new weights."""

import copy
import io
import pathlib
import re
import threading
import zipfile

import models
import nets
import pytest
import torch
import torch.nn as nn
import torchtrt
from same import assert_same


def randomized(module, seed):
    """A copy with other parameters and statistics."""
    other = copy.deepcopy(module)
    generator = torch.Generator().manual_seed(seed)
    for name, tensor in other.state_dict().items():
        if not tensor.is_floating_point():
            continue
        if name.endswith("running_var"):
            tensor.uniform_(0.5, 2, generator=generator)
        else:
            tensor.add_(torch.randn(tensor.shape, generator=generator, dtype=torch.float32).to(tensor.dtype) * 0.05)
    return other


def reloaded(module):
    file = io.BytesIO()
    torch.jit.save(module, file)
    return torchtrt.load(io.BytesIO(file.getvalue()))


def check(module, arguments, **options):
    """Compiles, updates twice, also behind a file; results against PyTorch's and a fresh compile's."""
    first, second = randomized(module, 1), randomized(module, 2)
    compiled = torchtrt.compile(module, inputs=list(arguments), refit=True, **options)
    assert_same(compiled(*arguments), module(*arguments))
    for target in (compiled, reloaded(compiled)):
        for other in (first, second, module):
            assert torchtrt.update_weights(target, other.state_dict()) == []
            assert_same(target(*arguments), other(*arguments))
            fresh = torchtrt.compile(other, inputs=list(arguments), **options)
            assert torch.equal(target(*arguments), fresh(*arguments))
    return compiled


class Steps(nn.Module):
    """Layers that are folded, merged, deduplicated and left to PyTorch, in branches and loops."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(4, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.left, self.right = nn.Linear(8, 16), nn.Linear(8, 16)
        self.table = nn.Parameter(torch.randn(16))
        self.register_buffer("scale", torch.rand(16))

    def forward(self, x):
        y = torch.relu(self.norm(self.conv(x))).mean((2, 3))
        y = self.left(y) * self.right(y) + self.table
        y = torch.special.bessel_j0(y) * self.scale
        for _ in range(int(y.isnan().sum()) + 2):
            y = torch.tanh(y @ self.left.weight) @ self.right.weight.t()
        return y


@torch.no_grad()
def test_folded_and_left_to_pytorch():
    compiled = check(Steps().eval(), [torch.randn(2, 4, 8, 8)])
    assert len(torchtrt.runtime.engines(compiled)) >= 2


@torch.no_grad()
@pytest.mark.parametrize("name", ["lenet", "resnet18", "mobilenet_v2"])
def test_networks(name):
    check(models.build(name, 0), [models.sample(name, 2, 1)])


@torch.no_grad()
def test_attention():
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).eval()
    check(layer, [torch.randn(2, 7, 32)])


@torch.no_grad()
def test_ranges_stay():
    module = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 1)).eval()
    inputs = [torchtrt.Input(min_shape=(1, 3, 8, 8), opt_shape=(2, 3, 16, 16), max_shape=(4, 3, 32, 32))]
    compiled = torchtrt.compile(module, inputs=inputs, refit=True)
    other = randomized(module, 1)
    torchtrt.update_weights(compiled, other)
    for size in (8, 21, 32):
        x = torch.randn(3, 3, size, size)
        assert_same(compiled(x), other(x))


@torch.no_grad()
def test_signatures():
    compiled = torchtrt.compile(nets.Pair().eval(), input_signature=((torchtrt.Input((3, 4)), torchtrt.Input((3, 4))), 2.0),
                                keep_methods=False, refit=False)
    with pytest.raises(torchtrt.CompileError, match="compiled without refit"):
        torchtrt.update_weights(compiled, {})

    class Nested(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)

        def forward(self, pair: tuple[torch.Tensor, torch.Tensor], scale: float = 2.0):
            return self.inner(pair[0]) * scale, [pair[1], self.inner(pair[1])]

    module = Nested().eval()
    pair = (torch.randn(3, 4), torch.randn(3, 4))
    compiled = torchtrt.compile(module, input_signature=((torchtrt.Input((3, 4)), torchtrt.Input((3, 4))), 2.0), refit=True)
    other = randomized(module, 1)
    for target in (compiled, reloaded(compiled)):
        torchtrt.update_weights(target, other)
        assert_same(target(pair), other(pair))
        assert_same(target(pair, 3.0), other(pair, 3.0))


@torch.no_grad()
@pytest.mark.parametrize("precision", [torch.half, torch.bfloat16])
def test_precisions(precision):
    module = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 8)).eval()
    x = torch.randn(4, 16)
    options = {"inputs": [x], "enabled_precisions": {precision}, "op_precision": precision, "precision": {"2": torch.float32}}
    compiled = torchtrt.compile(module, refit=True, **options)
    other = randomized(module, 1)
    torchtrt.update_weights(compiled, other)
    assert torch.equal(compiled(x), torchtrt.compile(other, **options)(x))


class Counting(nn.Module):
    """Writes a buffer, and has a second method that reads the weights."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)
        self.register_buffer("calls", torch.zeros(1))
        self.register_buffer("bias", torch.randn(8))

    def forward(self, x):
        self.calls += 1
        return torch.relu(self.inner(x) + self.bias) * self.calls

    @torch.jit.export
    def norms(self):
        return self.inner.weight.norm() + self.bias.norm()


@torch.no_grad()
def test_state_and_other_methods():
    module, x = Counting().eval(), torch.randn(2, 8)
    script = torch.jit.script(module)
    compiled = torchtrt.compile(script, inputs=[torchtrt.Input((2, 8))], refit=True)
    compiled(x), compiled(x)
    assert float(compiled.calls) == 2
    other = randomized(module, 1)
    other.calls.zero_()
    torchtrt.update_weights(compiled, other)
    assert float(compiled.calls) == 0
    assert_same(compiled(x), other(x))
    assert_same(compiled.norms(), other.norms())
    compiled(x)
    weights = {name: tensor for name, tensor in other.state_dict().items() if name != "calls"}
    weights["inner.weight"] = weights["inner.weight"] * 2
    assert torchtrt.update_weights(compiled, weights, strict=False) == ["calls"]
    assert float(compiled.calls) == 2  # two calls since it was set
    assert float(script.calls) == 0


@torch.no_grad()
def test_copies_keep_their_weights():
    module, x = nets.lenet(), nets.images()
    compiled = torchtrt.compile(module, inputs=[x], refit=True)
    kept = copy.deepcopy(compiled)
    other = randomized(module, 1)
    torchtrt.update_weights(compiled, other)
    assert_same(compiled(x), other(x))
    assert_same(kept(x), module(x))


@torch.no_grad()
def test_given_tensors_stay_the_callers():
    module, x = nets.lenet(), nets.images()
    compiled = torchtrt.compile(module, inputs=[x], refit=True)
    other = randomized(module, 1)
    expected = other(x)
    before = {name: tensor.clone() for name, tensor in other.state_dict().items()}
    torchtrt.update_weights(compiled, other)
    for name, tensor in other.state_dict().items():
        assert torch.equal(tensor, before[name])
        tensor.fill_(7)
    assert_same(compiled(x), expected)


@torch.no_grad()
def test_exported():
    class Dynamic(nn.Module):  # which TorchScript does not take
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleDict({"a": nn.Linear(8, 8), "b": nn.Linear(8, 4)})

        def forward(self, x, **options):
            for name in options.get("order", ("a", "b")):
                x = self.layers[name](x)
            return x

    module, x = Dynamic().eval(), torch.randn(3, 8)
    compiled = torchtrt.compile(module, ir="export", inputs=[x], refit=True)
    other = randomized(module, 1)
    for target in (compiled, reloaded(compiled)):
        torchtrt.update_weights(target, other)
        assert_same(target(x), other(x))


@torch.no_grad()
def test_calls_meanwhile():
    """Every result is that of the old weights or of the new ones, though two engines and PyTorch share the work."""
    module = Steps().eval()
    x = torch.randn(2, 4, 8, 8)
    others = [randomized(module, seed) for seed in range(4)]
    compiled = torchtrt.compile(module, inputs=[x], refit=True)
    allowed = []
    for other in others:
        torchtrt.update_weights(compiled, other)
        allowed.append(compiled(x))
    results, stop = [], threading.Event()

    def call():
        with torch.no_grad():
            while not stop.is_set():
                results.append(compiled(x))

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for other in others:
        torchtrt.update_weights(compiled, other)
    stop.set()
    for thread in threads:
        thread.join()
    seen = {next((i for i, each in enumerate(allowed) if torch.equal(result, each)), -1) for result in results}
    assert -1 not in seen
    assert len(seen) > 1


@torch.no_grad()
def test_two_names_of_one_weight():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(10, 6)
            self.head = nn.Linear(6, 10, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, ids):
            return self.head(torch.tanh(self.embed(ids)))

    check(Tied().eval(), [torch.tensor([[1, 2, 9]])])


def test_page(tmp_path, monkeypatch):
    """The sample of docs/update_weights.md runs as printed."""
    page = (pathlib.Path(__file__).parents[2] / "docs" / "update_weights.md").read_text(encoding="utf-8")
    (sample,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(sample, names)  # noqa: S102: our own page
    x = torch.randn(4, 64)
    assert_same(names["compiled"](x), names["model"](x).detach())


LINEAR = {"weight": torch.zeros(3, 4), "bias": torch.zeros(3)}


@pytest.mark.parametrize("weights, message", [
    ({}, "2 missing: bias, weight"),
    ({**LINEAR, "other": torch.zeros(1)}, "1 unknown: other"),
    ({**LINEAR, "weight": torch.zeros(4, 3)}, r"weight \(expected Float \[3, 4\], got Float \[4, 3\]\)"),
    ({**LINEAR, "bias": torch.zeros(3, dtype=torch.long)}, r"bias \(expected Float \[3\], got Long \[3\]\)"),
    ({**LINEAR, "bias": torch.zeros(3).to_sparse()}, "without plain values: bias"),
    ({**LINEAR, "bias": torch.zeros(3, device="meta")}, "without plain values: bias"),
    ({"module." + name: tensor for name, tensor in LINEAR.items()}, 'remove "module." from the names'),
    ({**LINEAR, "bias": None}, "weights has a NoneType for 'bias'"),
    ([1], "weights is a list"),
])
@torch.no_grad()
def test_weights_that_do_not_fit(weights, message):
    module, x = nn.Linear(4, 3).eval(), torch.randn(2, 4)
    compiled = torchtrt.compile(module, inputs=[x], refit=True)
    with pytest.raises(torchtrt.CompileError, match=message):
        torchtrt.update_weights(compiled, weights)
    assert_same(compiled(x), module(x))


@torch.no_grad()
def test_floating_dtypes_are_cast():
    module, x = nn.Linear(4, 3).eval(), torch.randn(2, 4)
    compiled = torchtrt.compile(module, inputs=[x], refit=True)
    other = randomized(module, 1).double()
    torchtrt.update_weights(compiled, other)
    assert_same(compiled(x), other.float()(x))


@torch.no_grad()
def test_names_are_ignored_without_strict():
    module, x = nn.Linear(4, 3).eval(), torch.randn(2, 4)
    compiled = torchtrt.compile(module, inputs=[x], refit=True)
    other = randomized(module, 1)
    torchtrt.update_weights(compiled, {**other.state_dict(), "unknown": torch.ones(1)}, strict=False)
    assert_same(compiled(x), other(x))
    with pytest.raises(torchtrt.CompileError, match="1 missing: bias"):
        torchtrt.update_weights(compiled, {"weight": torch.ones(3, 4)}, strict=False)


@torch.no_grad()
def test_values_that_decide_code():
    class Asking(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("wide", torch.tensor(1))
            self.inner = nn.Linear(4, 4)

        def forward(self, x):
            if bool(self.wide > 0):
                return torch.relu(self.inner(x)) + 1
            return x * 2

    module, x = torch.jit.script(Asking().eval()), torch.randn(2, 4)
    compiled = torchtrt.compile(module, inputs=[x], refit=True)
    weights = {**module.state_dict(), "wide": torch.tensor(0)}
    with pytest.raises(torchtrt.CompileError, match="compile the module again with the new weights"):
        torchtrt.update_weights(compiled, weights)
    assert_same(compiled(x), module(x))


def test_in_inference_mode():
    module, x = nets.lenet(), nets.images()
    other = randomized(module, 1)
    with torch.inference_mode():
        compiled = torchtrt.compile(module, inputs=[x], refit=True)
        torchtrt.update_weights(compiled, other.state_dict())
        assert_same(compiled(x), other(x))


@pytest.mark.parametrize("options, message", [
    ({"rewriters": [lambda net: None]}, "refit is set and rewriters are given"),
    ({"enabled_precisions": {torch.int8}, "calibrator": "calibrator"}, "refit is set and a calibrator is given"),
])
def test_options_that_no_update_could_follow(options, message):
    x = torch.randn(2, 4)
    if "calibrator" in options:
        options = {**options, "calibrator": torchtrt.ptq.DataLoaderCalibrator([x])}
    with pytest.raises(torchtrt.CompileError, match=message):
        torchtrt.compile(nn.Linear(4, 3).eval(), inputs=[x], refit=True, **options)


def test_weights_without_names():
    x = torch.randn(2, 4)
    frozen = torch.jit.freeze(torch.jit.script(nn.Linear(4, 3).eval()))
    with pytest.raises(torchtrt.CompileError, match="no parameters or buffers"):
        torchtrt.compile(frozen, inputs=[x], refit=True)
    with pytest.raises(torchtrt.CompileError, match="refit is set for a graph"):
        torchtrt.compile(torch.jit.script(nn.Linear(4, 3).eval()).inlined_graph, inputs=[x], refit=True)


@torch.no_grad()
def test_parameters_are_in_a_file_once():
    module = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).eval()
    sizes = []
    for refit in (False, True):
        file = io.BytesIO()
        torch.jit.save(torchtrt.compile(module, inputs=[torch.randn(1, 512)], refit=refit), file)
        sizes.append(len(file.getvalue()))
    assert sizes[1] - sizes[0] < 100_000


@torch.no_grad()
def test_damaged_recipe(tmp_path):
    """A file whose record of the recipe has one bit changed and its checksum corrected does not load."""
    whole, damaged = tmp_path / "whole.ts", tmp_path / "damaged.ts"
    torch.jit.save(torchtrt.compile(nn.Linear(4, 3).eval(), inputs=[torch.randn(2, 4)], refit=True), whole)
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(damaged, "w") as new:
        changed = 0
        for name in old.namelist():
            content = bytearray(old.read(name))
            if b"refused" in content or b"torch_executed_ops" in content:
                content[content.index(b"torch_executed_ops")] ^= 1
                changed += 1
            new.writestr(name, bytes(content))
        assert changed == 1
    with pytest.raises(RuntimeError, match="for updates is not what its hash says"):
        torch.jit.load(damaged)


@torch.no_grad()
def test_values_that_are_no_numbers():
    module, x = nets.lenet(), nets.images()
    compiled = torchtrt.compile(module, inputs=[x], refit=True)
    torchtrt.update_weights(compiled, {name: torch.full_like(tensor, float("nan")) for name, tensor in module.state_dict().items()})
    assert compiled(x).isnan().all()
    torchtrt.update_weights(compiled, module)
    assert_same(compiled(x), module(x))


@torch.no_grad()
def test_inside_of_another_module():
    class Outer(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner, self.last = inner, nn.Linear(3, 3)

        def forward(self, x):
            return self.last(self.inner(x))

    module, x = nn.Linear(4, 3).eval(), torch.randn(2, 4)
    outer = torch.jit.script(Outer(torchtrt.compile(module, inputs=[x], refit=True)).eval())
    compiled = torchtrt.compile(outer, inputs=[x])
    frozen = torch.jit.freeze(outer)
    other = randomized(module, 1)
    torchtrt.update_weights(outer, other)
    for each in (outer, frozen):
        assert_same(each(x), outer.last(other(x)))
    assert_same(compiled(x), outer.last(module(x)))  # a copy of it is in there
    (name,) = torchtrt.runtime.engines(outer)
    assert name.startswith("inner.")
    assert name in torchtrt.runtime.engines(compiled)


@torch.no_grad()
def test_tools_see_its_engines():
    module, x = nets.lenet(), nets.images()
    compiled = torchtrt.compile(module, inputs=[x], refit=True)
    (name, engine), = torchtrt.runtime.engines(compiled).items()
    assert engine.name() == name
    assert torchtrt.verify(module, compiled, [x]).agrees
    assert "conv" in str(torchtrt.profile(compiled, [x])).lower()


class Positions(nn.Module):
    """Its second buffer is in no state_dict."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.register_buffer("scale", torch.rand(4))
        self.register_buffer("positions", torch.arange(4.0), persistent=False)

    def forward(self, x):
        return self.inner(x) * self.scale + self.positions


@pytest.mark.parametrize("ir", ["ts", "export"])
@torch.no_grad()
def test_buffers_that_are_not_persistent(ir):
    module, x = Positions().eval(), torch.randn(2, 4)
    compiled = torchtrt.compile(module, ir=ir, inputs=[x], refit=True)
    other = randomized(module, 1)
    for target in (compiled, reloaded(compiled)):
        assert torchtrt.update_weights(target, other) == ["positions"]
        assert_same(target(x), other(x))
        with pytest.raises(torchtrt.CompileError, match="1 missing: scale"):
            torchtrt.update_weights(target, {"inner." + name: tensor for name, tensor in other.inner.state_dict().items()})
    assert torchtrt.update_weights(compiled, {**other.state_dict(), "positions": torch.zeros(4)}) == []
    assert_same(compiled(x), other(x) - other.positions)
