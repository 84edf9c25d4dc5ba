"""Weights are in files and in memory once, in the latter as engines pack them: originals come back where they are asked for."""

import copy
import subprocess
import sys
import zipfile

import pytest
import torch
from torch import nn

import torchtrt
from same import assert_same, bytes_of, saved


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution, self.norm, self.linear = nn.Conv2d(64, 64, 3), nn.BatchNorm2d(64), nn.Linear(64, 1000)
        self.classes = ["cat", "dog"]
        nn.init.normal_(self.norm.weight)
        self.norm.running_mean.normal_()
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        return self.linear(torch.relu(self.norm(self.convolution(x))).mean([2, 3]))


def tensors(path):
    """The bytes of all that are saved."""
    with zipfile.ZipFile(path) as file:
        return sorted(file.read(name) for name in file.namelist() if name.split("/")[-2] == "data" and name[-1].isdigit())


def test_weights_that_engines_let_go_are_saved_and_fallen_back_to(tmp_path):
    module, x = Block().eval(), torch.randn(1, 64, 8, 8)
    torchtrt.compile(torch.jit.script(module), inputs=[x]).save(tmp_path / "first.ts")
    loaded = torch.jit.load(tmp_path / "first.ts")
    assert_same(loaded(x), module(x).detach())
    loaded.save(tmp_path / "second.ts")
    first = tensors(tmp_path / "first.ts")
    assert len(first) > 1 and tensors(tmp_path / "second.ts") == first
    other = torch.randn(2, 64, 5, 5)
    for each in (loaded, copy.deepcopy(loaded), torch.jit.load(tmp_path / "second.ts")):
        for _ in range(2):
            assert_same(each(other), module(other).detach())
            assert_same(each(x), module(x).detach())
    loaded.save(tmp_path / "third.ts")  # what the fallback holds is no second copy
    assert tensors(tmp_path / "third.ts") == first


class Read(nn.Module):
    """Weights that kernels pack, that calls read where they lie, and that PyTorch reads."""

    def __init__(self):
        super().__init__()
        self.table, self.linear, self.scale = nn.Embedding(300, 64), nn.Linear(64, 96), nn.Parameter(torch.rand(96))
        self.register_buffer("shift", torch.rand(1, 96))

    def forward(self, i):
        return torch.linalg.qr(self.linear(self.table(i)) * self.scale + self.shift)[1] + self.shift


def test_who_writes_to_the_parameters_later_changes_no_compiled_module(tmp_path):
    module, i, other = torch.jit.script(Read().eval()), torch.randint(300, (7,)), torch.randint(300, (5,))
    compiled = torchtrt.compile(module, inputs=[i])
    expected, of_other = compiled(i), module(other).detach()
    with torch.no_grad():
        for tensor in (*module.parameters(), *module.buffers()):
            tensor.fill_(torch.nan)
    assert torch.equal(compiled(i), expected)
    assert_same(compiled(other), of_other)
    compiled.save(tmp_path / "compiled.ts")
    loaded = torch.jit.load(tmp_path / "compiled.ts")
    assert torch.equal(loaded(i), expected)
    assert_same(loaded(other), of_other)


class Attention(nn.Module):
    """An engine multiplies by the three parts of in_proj_weight, and by the second linear layer's weight times the scale."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(64, 4, batch_first=True)
        self.up, self.down = nn.Linear(64, 96), nn.Linear(96, 64)
        self.scale = nn.Parameter(torch.rand(64) + 0.5)

    def forward(self, x):
        x = self.attention(x, x, x, need_weights=False)[0]
        return x + self.scale * self.down(torch.relu(self.up(x)))


def test_what_is_kept_for_other_shapes_is_made_of_parts_and_multiples_of_weights(tmp_path):
    module, x = Attention().eval(), torch.randn(1, 10, 64)
    torchtrt.compile(torch.jit.trace(module, x, check_trace=False), inputs=[x]).save(tmp_path / "attention.ts")
    weights = [p.numel() * 4 for p in module.parameters()]
    assert sum(map(len, tensors(tmp_path / "attention.ts"))) < sum(weights) + 4096
    loaded = torch.jit.load(tmp_path / "attention.ts")
    for length in (7, 10):
        other = torch.randn(1, length, 64)
        assert_same(loaded(other), module(other).detach())


class Repeated(nn.Module):
    """The rows of a matrix that an engine scales are all the bias of another."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(256, 256), nn.Linear(256, 50)
        self.second.weight.data = self.first.bias.data.repeat(50, 1)
        self.scale = nn.Parameter(torch.rand(50) + 0.5)

    def forward(self, x):
        return self.scale * self.second(torch.relu(self.first(x)))


def test_what_is_kept_for_other_shapes_is_not_put_together_row_by_row():
    module, x = Repeated().eval(), torch.randn(3, 256)
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[x])
    [engine] = torchtrt.runtime.engines(compiled).values()
    kept = engine.__getstate__()[0][3]
    assert len(kept) < 10
    assert_same(compiled(x[:2]), module(x[:2]).detach())


RESIDENT = """
import ctypes, sys, torch, torchtrt.runtime
def resident():
    ctypes.CDLL(None).malloc_trim(0)
    return int(open("/proc/self/statm").read().split()[1]) * 4096
x = torch.randn(2, 4096)
torch.nn.functional.linear(x, torch.randn(4096, 4096))
before = resident()
module = torch.jit.load(sys.argv[1])
module(x)
print(resident() - before)
"""


def test_a_loaded_module_holds_its_weights_once(tmp_path):
    module = nn.Linear(4096, 4096).eval()
    torchtrt.compile(torch.jit.script(module), inputs=[[2, 4096]]).save(tmp_path / "linear.ts")
    ran = subprocess.run([sys.executable, "-c", RESIDENT, tmp_path / "linear.ts"], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 1.6 * module.weight.numel() * 4


PEAK = """
import pathlib, re, sys, torch, torchtrt.runtime
def status(field):
    return int(re.search(field + r":\\s*(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) * 1024
x = torch.randn(2, 1024)
torch.nn.functional.linear(x, torch.randn(1024, 1024))
before = status("VmRSS")
module = torch.jit.load(sys.argv[1])
module(x)
print(status("VmHWM") - before)
"""


def test_loading_never_holds_all_weights_twice(tmp_path):
    module = nn.Sequential(*(nn.Linear(1024, 1024) for _ in range(16))).eval()
    torchtrt.compile(torch.jit.trace(module, torch.randn(2, 1024)), inputs=[[2, 1024]]).save(tmp_path / "linears.ts")
    torch.jit.load(tmp_path / "linears.ts").save(tmp_path / "again.ts")
    for name in ("linears.ts", "again.ts"):
        ran = subprocess.run([sys.executable, "-c", PEAK, tmp_path / name], capture_output=True, text=True, check=True)
        assert int(ran.stdout) < 1.7 * sum(p.numel() * 4 for p in module.parameters())


class Pair(nn.Module):
    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second

    def forward(self, x):
        return self.first(x), self.second(x)


def test_methods_that_do_not_read_the_module_hold_no_weights(tmp_path):
    module, x = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 32)).eval(), torch.randn(2, 64)
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[x])
    [engine] = torchtrt.runtime.engines(compiled).values()
    assert all(weight.requires_grad == (weight.dim() == 2) for weight in engine.__getstate__()[0][1])  # restored to be saved
    compiled.save(tmp_path / "sequential.ts")
    loaded = torch.jit.load(tmp_path / "sequential.ts")
    for each in (compiled, loaded):
        assert each._c._get_method("__len__")() == 3
        assert_same(each(x), module(x).detach())
        assert_same(each(x[:1]), module(x[:1]).detach())


def test_a_file_may_hold_an_engine_twice(tmp_path):
    module, x, other = Block().eval(), torch.randn(1, 64, 8, 8), torch.randn(2, 64, 5, 5)
    torchtrt.compile(torch.jit.script(module), inputs=[x]).save(tmp_path / "one.ts")
    one = torch.jit.load(tmp_path / "one.ts")
    torch.jit.script(Pair(one, copy.deepcopy(one))).save(tmp_path / "pair.ts")
    for _ in range(2):
        loaded = torch.jit.load(tmp_path / "pair.ts")
        for each in (x, other, x):
            for answer in loaded(each):
                assert_same(answer, module(each).detach())
        loaded.save(tmp_path / "pair.ts")
    assert len(tensors(tmp_path / "pair.ts")) == len(tensors(tmp_path / "one.ts"))


class Products(nn.Module):
    """Reads one weight by rows and one transposed, as linear layers and addmm do."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(64, 96)
        self.weight = nn.Parameter(torch.randn(96, 64))

    def forward(self, x):
        return torch.addmm(self.linear.bias[:64], self.linear(x), self.weight)


def test_what_is_kept_for_other_shapes_shares_the_engines_weights(tmp_path):
    module = Products().eval()
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[[4, 64]])
    compiled.save(tmp_path / "products.ts")
    assert (tmp_path / "products.ts").stat().st_size < 1.5 * sum(p.numel() * 4 for p in module.parameters())
    x = torch.randn(5, 64)
    assert_same(torch.jit.load(tmp_path / "products.ts")(x), module(x))


class BlockWithMethod(Block):
    @torch.jit.export
    def classify(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


@pytest.mark.parametrize("make", [Block, BlockWithMethod])
def test_weights_are_saved_once(make):
    module = torch.jit.script(make().eval())
    compiled = torchtrt.compile(module, inputs=[[1, 64, 8, 8]])
    if make is Block:
        assert bytes_of(compiled) < 1.05 * bytes_of(module)
        assert not compiled.state_dict() and compiled.classes == ["cat", "dog"]
    else:  # but for the convolution, whose weights the engine has with the normalization folded into them
        linear = bytes_of(torch.jit.script(nn.Linear(64, 1000)))
        assert bytes_of(compiled) < 1.05 * (2 * bytes_of(module) - linear)
    for each in (compiled, saved(compiled)):
        for size in (8, 9):  # of the range, and not
            x = torch.randn(1, 64, size, size)
            assert_same(each(x), module(x).detach())
    if make is BlockWithMethod:
        x = torch.randn(3, 64)
        assert torch.equal(saved(compiled).classify(x), module.classify(x))


def test_compiled_modules_share_nothing_with_the_original():
    module = torch.jit.script(BlockWithMethod().eval())
    x, y = torch.randn(1, 64, 8, 8), torch.randn(1, 64, 9, 9)
    options = {"inputs": [[1, 64, 8, 8]], "torch_executed_ops": ["aten::linear"]}
    for original in (module, torch.jit.script(Block().eval())):
        compiled = torchtrt.compile(original, **options)
        expected = [original(x).detach(), original(y).detach()]
        with torch.no_grad():
            for tensor in original.state_dict().values():
                tensor.zero_()
        assert_same([compiled(x), compiled(y)], expected)


class OfLists(nn.Module):
    """Weights that are no attributes of their own: elements of collections, and what a trace closes over."""

    def __init__(self):
        super().__init__()
        self.listed = [torch.randn(256, 256), torch.randn(256, 256)]
        self.named = {"a": torch.randn(256, 256)}

    def forward(self, x):
        return torch.relu(x @ self.listed[0].t()) @ self.listed[1] @ self.named["a"].t()


@pytest.mark.parametrize("form", [torch.jit.script, lambda module: torch.jit.freeze(torch.jit.script(module)),
                                  lambda module: torch.jit.trace(module, torch.randn(4, 256))], ids=["scripted", "frozen", "traced"])
def test_the_original_keeps_the_weights_of_its_collections(form):
    module, x, other = form(OfLists().eval()), torch.randn(4, 256), torch.randn(7, 256)
    expected = [module(x), module(other)]
    compiled = torchtrt.compile(module, inputs=[x])
    for each in (module, compiled, saved(compiled), module):
        assert_same([each(x), each(other)], expected)
