"""Several inputs whose dynamic dimensions are one size: said in the Inputs, or guessed, checked at every call, and told."""

import collections
import subprocess
import sys

import pytest
import torch
from same import FELL_BACK, assert_same
from torch import nn
from torch.nn import functional

import torchtrt
from torchtrt import CompileError

LONG = torch.int64


def ranged(*sizes, **more):
    """Makes an Input of sizes that are (min, opt, max) or numbers."""
    least, best, most = zip(*(size if isinstance(size, tuple) else (size,) * 3 for size in sizes))
    return torchtrt.Input(min_shape=least, opt_shape=best, max_shape=most, **more)


BATCH, LENGTH = (1, 4, 8), (1, 16, 64)


class Bert(nn.Module):
    """Identifiers, a mask and positions, as encoders of text take them."""

    def __init__(self):
        super().__init__()
        self.word, self.position = nn.Embedding(50, 32), nn.Embedding(64, 32)
        self.norm, self.qkv, self.out = nn.LayerNorm(32), nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, ids, mask, positions):
        x = self.norm(self.word(ids) + self.position(positions))
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, 4, 8).permute(2, 0, 3, 1, 4).unbind(0)
        bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * -1e4
        attention = (q @ k.transpose(-1, -2) / 2.8 + bias).softmax(-1)
        return functional.gelu(x + self.out((attention @ v).transpose(1, 2).reshape(b, n, c)))


class Diffusion(nn.Module):
    """An image and the step of each, embedded and added to its channels."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 3, 3, padding=1)
        self.embed = nn.Linear(16, 16)

    def forward(self, x, t):
        e = t[:, None].float() * torch.exp(-9.2 * torch.arange(8, dtype=torch.float32) / 8)[None]
        e = self.embed(torch.cat([e.sin(), e.cos()], -1))
        h = functional.silu(self.first(x)) + e[:, :, None, None]
        return self.last(functional.silu(h))


class CrossAttention(nn.Module):
    """A query with a token of its own, and a context with a mask: cat, expand and masked_fill."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16) for _ in range(4))
        self.token = nn.Parameter(torch.randn(1, 1, 16))

    def forward(self, query, context, mask):
        x = torch.cat([self.token.expand(query.size(0), -1, -1), query], 1)
        attention = self.q(x) @ self.k(context).transpose(1, 2) / 4
        attention = attention.masked_fill(mask[:, None, :] == 0, -1e4).softmax(-1)
        return torch.cat([(self.o(attention @ self.v(context)) + x).mean(1), context.mean(1)], -1)


CASES = {
    "bert": (Bert, [ranged(BATCH, LENGTH, dtype=LONG)] * 3,
             lambda b: (torch.randint(0, 50, (b, 9)), torch.randint(0, 2, (b, 9)), torch.arange(9).repeat(b, 1))),
    "diffusion": (Diffusion, [ranged(BATCH, 3, 16, 16), ranged(BATCH, dtype=LONG)],
                  lambda b: (torch.randn(b, 3, 16, 16), torch.randint(0, 100, (b,)))),
    "cross attention": (CrossAttention, [ranged(BATCH, LENGTH, 16), ranged(BATCH, LENGTH, 16), ranged(BATCH, LENGTH, dtype=LONG)],
                        lambda b: (torch.randn(b, 5, 16), torch.randn(b, 7, 16), torch.randint(0, 2, (b, 7)))),
}


def torchscript(module, arguments, traced):
    return torch.jit.trace(module, arguments, check_trace=False) if traced else torch.jit.script(module)


@pytest.mark.parametrize("traced", [False, True], ids=["scripted", "traced"])
@pytest.mark.parametrize("name", CASES)
def test_sizes_of_one_range_are_guessed_to_be_one(name, traced):
    kind, inputs, arguments = CASES[name]
    module = torchscript(kind().eval(), arguments(3), traced)
    compiled = torchtrt.compile(module, inputs=inputs)
    report = torchtrt.report(compiled)
    assert (report.engine_segments, report.torch_segments, report.share_in_engines) == (1, 0, 1.0)
    assert report.guessed_sizes and 'shared_dims={0: "batch"' in report.shared_dims
    for batch in (1, 2, 3, 8):
        values = arguments(batch)
        assert_same(compiled(*values), module(*values))


def test_two_lengths_of_one_range_stay_two(capfd):
    """Only what operators broadcast with each other is guessed: a query is as long as it likes."""
    kind, inputs, _ = CASES["cross attention"]
    module = torch.jit.script(kind().eval())
    compiled = torchtrt.compile(module, inputs=inputs)
    text = str(torchtrt.report(compiled))
    assert "query, dimension 0; context, dimension 0" in text and "query, dimension 1" not in text
    capfd.readouterr()
    values = torch.randn(2, 3, 16), torch.randn(2, 40, 16), torch.ones(2, 40, dtype=LONG)
    assert_same(compiled(*values), module(*values))
    seen = capfd.readouterr().err
    assert not seen


class Sum(nn.Module):
    def forward(self, a, b):
        return torch.relu(a + b) * 2


def test_calls_in_which_the_sizes_differ_run_in_pytorch(capfd):
    module = torch.jit.script(Sum().eval())
    capfd.readouterr()
    compiled = torchtrt.compile(module, inputs=[ranged(BATCH, 3), ranged(BATCH, 3)])
    compiling = capfd.readouterr().err
    assert "a, dimension 0; b, dimension 0, for aten::add" in compiling
    assert 'a: shared_dims={0: "batch"}; b: shared_dims={0: "batch"}' in compiling
    capfd.readouterr()
    for a, b in ((4, 1), (1, 5), (2, 2)):
        values = torch.randn(a, 3), torch.randn(b, 3)
        assert_same(compiled(*values), module(*values))
    calling = capfd.readouterr().err
    assert calling.count(FELL_BACK) == 1
    with pytest.raises(RuntimeError, match="must match"):
        compiled(torch.randn(2, 3), torch.randn(3, 3))


def test_what_is_said_is_no_guess(capfd):
    batch = ranged(BATCH, 3, shared_dims={0: "batch"})
    capfd.readouterr()
    compiled = torchtrt.compile(torch.jit.script(Sum().eval()), inputs=[batch, batch])
    seen = capfd.readouterr().err
    assert not torchtrt.report(compiled).guessed_sizes and "one size" not in seen


@pytest.mark.parametrize("other", [(1, 4, 9), (1, 3, 8), (1, 1, 8)])
def test_other_ranges_are_no_guess(other):
    module = torch.jit.script(Sum().eval())
    compiled = torchtrt.compile(module, inputs=[ranged(BATCH, 3), ranged(other, 3)])
    assert not torchtrt.report(compiled).guessed_sizes
    values = torch.randn(4, 3), torch.randn(1, 3)
    assert_same(compiled(*values), module(*values))


def test_samples_in_which_the_sizes_differ_are_no_guess():
    module = torch.jit.script(Sum().eval())
    compiled = torchtrt.compile(module, inputs=[ranged(BATCH, 3)] * 2, sample_inputs=[torch.randn(4, 3), torch.randn(1, 3)])
    assert not torchtrt.report(compiled).guessed_sizes


def test_full_compilation_proposes_instead_of_guessing():
    with pytest.raises(CompileError, match="may each be 1 or not") as error:
        torchtrt.compile(torch.jit.script(Sum().eval()), inputs=[ranged(BATCH, 3)] * 2, require_full_compilation=True)
    assert 'say so in the Inputs: a: shared_dims={0: "batch"}; b: shared_dims={0: "batch"}' in str(error.value)


def test_a_saved_module_keeps_what_was_guessed(tmp_path):
    compiled = torchtrt.compile(torch.jit.script(Sum().eval()), inputs=[ranged(BATCH, 3)] * 2)
    compiled.save(str(tmp_path / "sum.ts"))
    program = ("import sys, torch, torchtrt\nreport = torchtrt.report(torch.jit.load(sys.argv[1]))\n"
               "print(report.guessed_sizes[0].places, report.shared_dims)")
    out = subprocess.run([sys.executable, "-c", program, tmp_path / "sum.ts"], capture_output=True, text=True, check=True).stdout
    assert out == "['a, dimension 0', 'b, dimension 0'] a: shared_dims={0: \"batch\"}; b: shared_dims={0: \"batch\"}\n"


class BehindPyTorch(nn.Module):
    """The sum is of what PyTorch computes: the sizes show in example runs alone."""

    def forward(self, a, b):
        y = torch.linalg.pinv(a) + torch.linalg.pinv(b)
        return torch.softmax(torch.relu(y @ y.transpose(-1, -2)) + 1, -1).sigmoid().tanh()


def test_example_runs_that_fail_for_unlike_sizes_show_that_they_are_one(capfd):
    module = torch.jit.script(BehindPyTorch().eval())
    compiled = torchtrt.compile(module, inputs=[ranged(BATCH, 3, 5)] * 2, min_block_size=1)
    report = torchtrt.report(compiled)
    assert report.engine_segments == 1 and report.guessed_sizes
    assert all("nothing is known" not in reason for segment in report.segments for reason in segment.reasons)
    capfd.readouterr()
    for batch in (1, 3, 8):
        values = torch.randn(batch, 3, 5), torch.randn(batch, 3, 5)
        assert_same(compiled(*values), module(*values))
    seen = capfd.readouterr().err
    assert not seen


class Heads(nn.Module):
    """Has as many heads as the example has rows, and a size that the other runs of the example cannot take."""

    def forward(self, x):
        rows = torch.linalg.pinv(x.view(x.size(0), 2, 2, 3))
        return torch.relu(rows.transpose(-1, -2) * 2 + 1).sum(-1).sigmoid()


@pytest.mark.parametrize("batches", [(2, 2, 4), (1, 2, 2), (1, 2, 8)])
def test_heads_are_no_batch(batches, capfd):
    module = torch.jit.script(Heads().eval())
    compiled = torchtrt.compile(module, inputs=[ranged(batches, 12)], min_block_size=1)
    assert torchtrt.report(compiled).engine_segments == 2
    capfd.readouterr()
    for batch in range(batches[0], batches[2] + 1):
        x = torch.randn(batch, 12)
        assert_same(compiled(x), module(x))
    seen = capfd.readouterr().err
    assert not seen, "other batches never reach the engine"


class Windows(nn.Module):
    """Into windows and back, with a step between that PyTorch takes."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        y = self.linear(x).reshape(x.size(0), 4, 6, 8).reshape(-1, 6, 8)
        y = torch.linalg.pinv(y).transpose(1, 2)
        y = torch.relu(y).reshape(y.size(0) // 4, 24, 8)
        return torch.relu(self.linear(y) + x)


def test_a_batch_of_windows_is_a_multiple_of_the_batch(capfd):
    module = torch.jit.script(Windows().eval())
    compiled = torchtrt.compile(module, inputs=[ranged(BATCH, 24, 8)], min_block_size=1)
    report = torchtrt.report(compiled)
    assert (report.engine_segments, report.torch_segments) == (2, 1)
    capfd.readouterr()
    for batch in (1, 3, 8):
        x = torch.randn(batch, 24, 8)
        assert_same(compiled(x), module(x))
    seen = capfd.readouterr().err
    assert not seen


class Rearranged(nn.Module):
    """Takes windows apart and puts them together as einops does in a trace: sizes are tensors that are multiplied in place."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        b, n, c = x.shape
        rows = b * 1
        rows *= 4
        y = self.linear(x).reshape(b, 4, n // 4, c).reshape(rows, n // 4, c)
        y = functional.scaled_dot_product_attention(y, y, y)
        return torch.relu(y.reshape(y.shape[0] // 4, n, c) + x)


def test_sizes_that_a_trace_multiplies_in_place():
    module = torch.jit.trace(Rearranged().eval(), torch.randn(3, 24, 8), check_trace=False)
    compiled = torchtrt.compile(module, inputs=[ranged(BATCH, 24, 8)])
    report = torchtrt.report(compiled)
    assert (report.engine_segments, report.torch_segments) == (1, 0)
    for batch in (1, 3, 8):
        x = torch.randn(batch, 24, 8)
        assert_same(compiled(x), module(x))


class Fixed(nn.Module):
    def forward(self, x):
        return torch.relu(x.view(x.size(0) * 3, 4)).view(-1, 12) + 1


def test_a_size_that_a_trace_wrote_down_is_told(capfd):
    module = torch.jit.trace(Fixed().eval(), torch.randn(4, 12), check_trace=False)
    fixed = torch.jit.freeze(torch.jit.script(Written().eval()))
    capfd.readouterr()
    torchtrt.compile(fixed, inputs=[ranged(BATCH, 12)])
    seen = capfd.readouterr().err
    assert "of the range of x, dimension 0, only 4 is known to fit" in seen
    capfd.readouterr()
    torchtrt.compile(module, inputs=[ranged(BATCH, 12)])
    seen = capfd.readouterr().err
    assert "only 4 is known to fit" not in seen


class Written(nn.Module):
    """Is written as a trace of code that took the size for a number."""

    def forward(self, x):
        return torch.relu(x.view(12, 4)).view(4, 12) + 1


Shape = collections.namedtuple("Shape", "batch features")


def test_named_tuples_name_their_dimensions():
    named = torchtrt.Input(min_shape=Shape(1, 3), opt_shape=Shape(4, 3), max_shape=Shape(8, 3))
    assert named.shared_dims == {0: "batch", 1: "features"}
    assert torchtrt.Input({"min": Shape(1, 3), "opt": Shape(4, 3), "max": Shape(8, 3)}).shared_dims == named.shared_dims
    assert torchtrt.Input(profiles=[{"min": Shape(1, 3), "opt": Shape(4, 3), "max": Shape(8, 3)}]).shared_dims == named.shared_dims
    assert torchtrt.Input(Shape(2, 3), shared_dims={0: "rows"}).shared_dims == {0: "rows", 1: "features"}
    assert torchtrt.Input((2, 3)).shared_dims == {} and torchtrt.Input(torch.ones(2, 3)).shared_dims == {}
    compiled = torchtrt.compile(torch.jit.script(Sum().eval()), inputs=[named, named], require_full_compilation=True)
    with pytest.raises(RuntimeError, match=r"share the symbol batch"):
        compiled(torch.ones(2, 3), torch.ones(3, 3))


def test_named_tuples_of_other_fields_are_refused():
    Other = collections.namedtuple("Other", "rows features")
    with pytest.raises(CompileError, match="name their dimensions differently"):
        torchtrt.Input(min_shape=Shape(1, 3), opt_shape=Other(4, 3), max_shape=Shape(8, 3))
