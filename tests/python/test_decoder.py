"""Decoders that make a token a call: the cache in one engine, changed where it lies, with PyTorch's tokens."""

import copy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

import decoders
import torchtrt
from same import FELL_BACK, assert_calls_are_same, assert_same, saved


CAPACITY, TOKENS = 80, 70
SMALL = {"gpt2": decoders.SMALL_GPT2, "llama": decoders.SMALL_LLAMA}


def specification(model, way, capacity=CAPACITY):
    """The inputs of a compile: of "cat", a past of any length up to the capacity."""
    inputs = [torchtrt.Input([1, 1], dtype=torch.int64), torchtrt.Input([1], dtype=torch.int64)]
    for tensor in decoders.cache(model, capacity):
        shape = list(tensor.shape)
        if way == "cat":
            least, most = [*shape[:2], 0, shape[3]], [*shape[:2], capacity, shape[3]]
            inputs.append(torchtrt.Input(min_shape=least, opt_shape=shape, max_shape=most, shared_dims={2: "past"}))
        else:
            inputs.append(torchtrt.Input(shape))
    return inputs


def compiled(model, way, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the trace
        step = decoders.traced(model, way, CAPACITY)
    return torchtrt.compile(step, inputs=specification(model, way), **options)


@pytest.mark.parametrize("way", decoders.WAYS)
@pytest.mark.parametrize("kind", SMALL)
def test_greedy_tokens_equal_eager_ones(kind, way, capfd):
    model = decoders.make(kind, SMALL[kind])
    step = compiled(model, way)
    report = torchtrt.report(step)
    assert (report.engine_segments, report.torch_segments) == (1, 0)
    with torch.no_grad():
        expected, logits = decoders.greedy(decoders.Generator(decoders.Step(model, way), model, way, CAPACITY), 5, TOKENS)
    assert len(set(expected)) > 10
    for each in (step, saved(step)):
        tokens, ours = decoders.greedy(decoders.Generator(each, model, way, CAPACITY), 5, TOKENS)
        assert tokens == expected
        torch.testing.assert_close(ours, logits, rtol=0, atol=1e-4 * logits.abs().max().item())
    assert FELL_BACK not in capfd.readouterr().err


@pytest.mark.parametrize("way", decoders.WAYS)
def test_integer_weights_keep_the_cache_in_the_engine(way):
    model = decoders.make("llama", SMALL["llama"])
    step = compiled(model, way, weight_precision="int4", group_size=32)
    report = torchtrt.report(step)
    assert (report.engine_segments, report.torch_segments) == (1, 0)
    generator = decoders.Generator(step, model, way, CAPACITY)
    assert torch.isfinite(torch.stack([generator.feed(token) for token in range(8)])).all()


def test_a_cache_is_changed_where_it_lies_and_nowhere_else():
    model = decoders.make("gpt2", SMALL["gpt2"])
    step = compiled(model, "returned")
    tensors = [torch.full_like(tensor, 3.5) for tensor in decoders.cache(model, CAPACITY)]
    before = copy.deepcopy(tensors)
    results = step(torch.tensor([[7]]), torch.tensor([9]), *tensors)
    for given, old, result in zip(tensors, before, results[1:], strict=True):
        assert result.data_ptr() == given.data_ptr()
        changed = (given != old).nonzero()[:, 2].unique()
        assert changed.tolist() == [9]


def test_the_schedule_shows_what_is_changed_in_place():
    model = decoders.make("gpt2", SMALL["gpt2"])
    step = compiled(model, "in_place")
    engine, = torchtrt.runtime.engines(step).values()
    inputs = [torch.zeros([int(dim) for dim in dims], dtype=getattr(torch, dtype)) for _, dtype, dims, *_ in engine.inputs()]
    assert engine.schedule(inputs).count(" over in") == 4


class Writer(nn.Module):
    """A cache in the middle of other work, with weights that make an engine worth it."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)


class WritesAndReads(Writer):
    def forward(self, x, position, cache):
        cache.index_copy_(1, position, self.linear(x))
        return torch.tanh(cache).sum(1)


class ReadsBefore(Writer):
    """The values from before the write are a result, as a copy and by way of a view that is read later."""

    def forward(self, x, position, cache):
        first = cache[:, :2]
        old = cache * 2
        cache.index_copy_(1, position, self.linear(x))
        return old, torch.tanh(cache).sum(1), first + 1


class WritesTwice(Writer):
    def forward(self, x, position, cache):
        cache.index_copy_(1, position, self.linear(x))
        middle = torch.tanh(cache).sum(1)
        cache.index_copy_(1, position + 1, self.linear(x) * 2)
        return middle, torch.tanh(cache).sum(1)


class TwoCaches(Writer):
    def forward(self, x, position, keys, values):
        keys.index_copy_(1, position, self.linear(x))
        values.index_copy_(1, position, self.linear(x) + 1)
        return torch.tanh(keys).sum(1) + values.sum(1)


class ReadsAnother(Writer):
    def forward(self, x, position, cache, other):
        cache.index_copy_(1, position, self.linear(x))
        return torch.tanh(cache).sum(1) + torch.tanh(other).sum(1)


class GivesAView(Writer):
    def forward(self, x, position, cache):
        cache.index_copy_(1, position, self.linear(x))
        return cache[:, 1:3], torch.tanh(cache).sum(1), cache


class ThroughIndices(Writer):
    def forward(self, x, position, cache):
        cache[:, position] = self.linear(x)
        return torch.tanh(cache).sum(1)


class AtAFixedPlace(Writer):
    def forward(self, x, position, cache):
        cache[:, 3:4] = self.linear(x)
        return torch.tanh(cache).sum(1) + position


class ThroughASelection(Writer):
    """One tensor with the caches of two layers."""

    def forward(self, x, position, caches):
        y = x
        for layer in range(2):
            caches[layer].index_copy_(1, position, self.linear(y))
            y = torch.tanh(caches[layer]).sum(1, keepdim=True)
        return y


def arguments(*caches):
    return (torch.randn(2, 1, 16), torch.tensor([2]), *caches)


def cache():
    return torch.randn(2, 8, 16)


@pytest.mark.parametrize(("kind", "count"), [(WritesAndReads, 1), (ReadsBefore, 1), (WritesTwice, 1), (TwoCaches, 2), (ReadsAnother, 2),
                                             (GivesAView, 1), (ThroughIndices, 1), (AtAFixedPlace, 1)])
def test_writes_to_arguments_are_those_of_eager(kind, count):
    torch.manual_seed(0)
    report = assert_calls_are_same(kind(), [arguments(*(cache() for _ in range(count))) for _ in range(3)], min_block_size=1)
    assert report.engine_segments == 1


def test_writes_through_a_selection_are_those_of_eager():
    torch.manual_seed(0)
    assert_calls_are_same(ThroughASelection(), [arguments(torch.randn(2, 2, 8, 16)) for _ in range(3)], min_block_size=1)


def test_results_are_the_arguments_themselves():
    module = torchtrt.compile(torch.jit.script(GivesAView().eval()), inputs=list(arguments(cache())), min_block_size=1)
    given = arguments(cache())
    view, _, whole = module(*given)
    assert whole.data_ptr() == given[2].data_ptr() and view.data_ptr() == given[2][:, 1:].data_ptr()


def overlapping():
    """Pairs of arguments that share memory, and single ones that lie in an unusual way."""
    whole = torch.randn(3, 8, 16)
    return {"one tensor": (whole[:2], whole[:2]), "a common part": (whole[:2], whole[1:]),
            "woven": tuple(torch.randn(2, 8, 32).unflatten(2, (16, 2)).unbind(3)), "apart in one": (torch.randn(4, 8, 16).split(2))}


@pytest.mark.parametrize("kind", [TwoCaches, ReadsAnother])
@pytest.mark.parametrize("case", overlapping())
def test_arguments_that_overlap_are_written_as_in_eager(kind, case):
    torch.manual_seed(0)
    original = torch.jit.script(kind().eval())
    module = torchtrt.compile(original, inputs=list(arguments(cache(), cache())), min_block_size=1)
    given = arguments(*overlapping()[case])
    ours, theirs = copy.deepcopy(given), copy.deepcopy(given)  # what is shared within one stays so
    with torch.no_grad():
        for _ in range(2):
            assert_same(module(*ours), original(*theirs))
            assert_same(ours, theirs)


def test_arguments_that_overlap_are_an_error_without_pytorch():
    original = torch.jit.script(ReadsAnother().eval())
    module = torchtrt.compile(original, inputs=list(arguments(cache(), cache())), require_full_compilation=True)
    given = arguments(cache(), cache())
    theirs = copy.deepcopy(given)
    with torch.no_grad():
        assert_same(module(*given), original(*theirs))
    assert_same(given, theirs)
    for case in ("one tensor", "a common part"):
        with pytest.raises(RuntimeError, match=r"E006.*shares memory with another input"):
            module(*arguments(*overlapping()[case]))


def strided():
    return {"transposed": torch.randn(2, 16, 8).transpose(1, 2), "every second": torch.randn(2, 16, 16)[:, ::2],
            "off a cache line": torch.randn(2 * 8 * 16 + 3)[3:].view(2, 8, 16)}


@pytest.mark.parametrize("case", strided())
def test_a_cache_with_gaps_is_changed_where_it_lies(case):
    torch.manual_seed(0)
    original = torch.jit.script(WritesAndReads().eval())
    module = torchtrt.compile(original, inputs=list(arguments(cache())), min_block_size=1)
    ours, theirs = strided()[case], None
    theirs = torch.empty_strided(ours.shape, ours.stride()).copy_(ours)
    given = arguments(ours)
    with torch.no_grad():
        assert_same(module(*given), original(*given[:2], theirs))
    assert_same(ours, theirs)


def test_an_expanded_cache_is_an_error_as_in_eager():
    original = torch.jit.script(WritesAndReads().eval())
    module = torchtrt.compile(original, inputs=list(arguments(cache())), min_block_size=1)
    for each in (original, module):
        with pytest.raises(RuntimeError, match="single memory location"):
            each(*arguments(torch.randn(1, 8, 16).expand(2, 8, 16)))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_a_cache_of_another_dtype_is_eager_s_affair(dtype):
    original = torch.jit.script(ReadsAnother().eval())
    module = torchtrt.compile(original, inputs=list(arguments(cache(), cache())), min_block_size=1)
    ours, theirs = cache().to(dtype), None
    theirs = ours.clone()
    other = arguments(cache(), ours)
    with torch.no_grad():
        assert_same(module(*other), original(*other[:2], other[2].clone(), theirs))
    with pytest.raises(RuntimeError):  # index_copy_ wants one dtype
        module(*arguments(ours, cache()))


@pytest.mark.parametrize("position", [8, -1, 1000])
def test_a_position_outside_the_cache_is_an_error(position):
    module = torchtrt.compile(torch.jit.script(WritesAndReads().eval()), inputs=list(arguments(cache())), min_block_size=1)
    x, _, tensor = arguments(cache())
    old = tensor.clone()
    with pytest.raises(RuntimeError, match=rf"index {position} .*8"):
        module(x, torch.tensor([position]), tensor)
    assert torch.equal(tensor, old)


def test_a_past_beyond_its_range_runs_in_pytorch_with_a_warning(capfd):
    model = decoders.make("gpt2", SMALL["gpt2"])
    step = compiled(model, "cat")
    token = (torch.tensor([[3]]), torch.tensor([CAPACITY + 1]))
    past = [torch.randn_like(tensor) for tensor in decoders.cache(model, CAPACITY + 1)]
    with torch.no_grad():
        assert_same(step(*token, *past), decoders.Step(model, "cat")(*token, *past))
    assert FELL_BACK in capfd.readouterr().err


def test_buffers_are_changed_where_they_lie():
    class Buffers(Writer):
        def __init__(self):
            super().__init__()
            self.register_buffer("cache", torch.zeros(2, 8, 16))

        def forward(self, x, position):
            self.cache.index_copy_(1, position, self.linear(x))
            return torch.tanh(self.cache).sum(1)

    torch.manual_seed(0)
    assert_calls_are_same(Buffers(), [(torch.randn(2, 1, 16), torch.tensor([place])) for place in (2, 3, 2)], ["cache"], min_block_size=1)


@pytest.mark.parametrize("way", ["int4-cat", "onnxruntime"])
def test_the_benchmark_runs(way):
    if way == "onnxruntime":
        for package in ("onnxruntime", "onnx_ir"):
            pytest.importorskip(package)
    program = Path(__file__).parents[2] / "bench" / "decoder.py"
    done = subprocess.run([sys.executable, program, "--smoke", "--models", "gpt2", "--ways", "eager", way, "--threads", "1"],
                          capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines[3:]] == ["gpt2, eager", f"gpt2, {way}", "gpt2, reading"], done.stdout
    nats = float(lines[4].split()[-2])
    assert 0 < nats < 0.01  # its weights have 4 bits
