"""torch.compile(model, backend="torchtrt") against eager PyTorch: graph breaks, dynamic batches, state, gradients, and failures on purpose."""

import concurrent.futures
import subprocess
import sys

import pytest
import torch
from same import assert_same
from torch import nn
from torch.nn import functional

import torchtrt
from torchtrt import _backend
from torchtrt._backend import _variants


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


@pytest.fixture
def compiles(monkeypatch):
    """The reports of what the backend compiles."""
    reports = []
    compile_ = torchtrt.compile

    def compiling(*arguments, **named):
        module = compile_(*arguments, **named)
        reports.append(torchtrt.report(module))
        return module

    monkeypatch.setattr(torchtrt, "compile", compiling)
    return reports


@pytest.fixture
def lines(monkeypatch):
    """Returns the backend's log."""
    told = []
    monkeypatch.setattr(_backend, "log", told.append)
    return told


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
        self.norm = nn.LayerNorm(8)

    def forward(self, x, **options):
        for layer in self.layers:
            x = functional.gelu(layer(x), **options)
        return self.norm(x)


def assert_compiled_is_eager(model, *calls, **options):
    compiled = torch.compile(model, backend="torchtrt", **options)
    with torch.no_grad():
        for arguments in calls:
            assert_same(compiled(*arguments), model(*arguments))
    return compiled


def test_a_model_is_one_engine(compiles, lines):
    assert_compiled_is_eager(Net().eval(), (torch.randn(4, 8),))
    (report,) = compiles
    assert (report.engine_segments, report.share_in_engines) == (1, 1.0)
    assert not lines


def test_the_name_is_known_after_import_alone():
    code = ("import sys, torch, torchtrt\nassert 'torch._dynamo.backends.registry' not in sys.modules\n"
            "import torch._dynamo\nassert 'torchtrt' in torch._dynamo.list_backends()\nassert 'torchtrt._compile' not in sys.modules")
    subprocess.run([sys.executable, "-c", code], check=True)
    code = "import torch._dynamo, torchtrt\nassert 'torchtrt' in torch._dynamo.list_backends()"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_batches_recompile_once_and_ones_once_more(compiles, lines):
    assert_compiled_is_eager(Net().eval(), *[(torch.randn(rows, 8),) for rows in (4, 7, 2, 64, 3, 1, 33, 1, 5)])
    assert len(compiles) == 3  # for 4, for any size, for 1
    assert all(report.engine_segments == 1 for report in compiles)
    assert not lines


def test_a_dynamic_batch_from_the_start_compiles_once(compiles):
    assert_compiled_is_eager(Net().eval(), *[(torch.randn(rows, 8),) for rows in (4, 7, 2, 64)], dynamic=True)
    assert len(compiles) == 1


class Breaks(nn.Module):
    """A graph break, and a branch on data."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = (nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        x = torch.relu(self.first(x))
        torch._dynamo.graph_break()
        if x.sum() > 1e9:
            return torch.tanh(self.third(x))
        return {"y": torch.sigmoid(self.second(x)), "size": x.shape[0]}


def test_each_graph_of_a_broken_one_is_compiled(compiles):
    assert_compiled_is_eager(Breaks().eval(), (torch.randn(4, 8),), (torch.randn(4, 8),))
    assert len(compiles) == 3  # before the break, the condition, the branch


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.register_buffer("total", torch.zeros(8))
        self.calls = 0

    def forward(self, x, memory):
        self.calls += 1
        self.total.mul_(0.5).add_(x.sum(0))
        y = torch.relu(self.linear(x)) + self.total
        memory[:, 0] = y[:, 1]
        return y, memory.view(-1), x.t()


def test_buffers_arguments_and_views_are_written_as_in_eager(compiles):
    ours, theirs = Stateful().eval(), Stateful().eval()
    theirs.load_state_dict(ours.state_dict())
    compiled = torch.compile(ours, backend="torchtrt")
    with torch.no_grad():
        for step in range(3):
            x, mine, other = torch.randn(4, 8), torch.zeros(4, 8), torch.zeros(4, 8)
            y, view, transposed = compiled(x, mine)
            expected = theirs(x, other)
            assert_same((y, view, transposed), expected)
            assert_same(mine, other)
            view.add_(1)  # memory is what it shows
            assert_same(mine, other + 1)
            transposed.zero_()
            assert not x.any(), step
    assert_same(ours.total, theirs.total)
    assert compiles


def test_weights_that_change_are_compiled_again(compiles, lines):
    model, x = Net().eval(), torch.randn(4, 8)
    compiled = torch.compile(model, backend="torchtrt")
    with torch.no_grad():
        for _ in range(3):
            assert_same(compiled(x), model(x))
            assert_same(compiled(x), model(x))
            model.layers[0].weight.mul_(1.5)
        model.load_state_dict(Net().state_dict())
        assert_same(compiled(x), model(x))
    assert len(compiles) == 4 and not lines


def test_weights_that_always_change_end_in_eager(compiles, lines):
    model, x = Net().eval(), torch.randn(4, 8)
    compiled = torch.compile(model, backend="torchtrt")
    with torch.no_grad():
        for _ in range(10):
            assert_same(compiled(x), model(x))
            model.norm.bias.add_(1)
    assert len(compiles) == 1 + _variants._MOST_CHANGES
    assert len(lines) == 1 and "change too often" in lines[0]


class ReadsState(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.register_buffer("scale", torch.ones(8))

    def forward(self, x):
        return torch.relu(self.linear(x)) * self.scale


def test_a_buffer_that_changes_between_calls_becomes_an_input(compiles, lines):
    model, x = ReadsState().eval(), torch.randn(4, 8)
    compiled = torch.compile(model, backend="torchtrt")
    with torch.no_grad():
        for _ in range(10):
            assert_same(compiled(x), model(x))
            model.scale.add_(1)
    assert len(compiles) == 2 and not lines


def test_a_buffer_that_is_replaced_between_calls_becomes_an_input(compiles, lines):
    model = ReadsState().eval()
    with torch.no_grad():
        compiled = torch.compile(model, backend="torchtrt")
        for i in range(8):
            x = torch.randn(3, 8)
            assert_same(compiled(x), model(x))
            model.scale = torch.full((8,), float(i))
    assert (len(compiles), lines) == (3, []), "with the first two scales compiled in, and with any"


def test_random_numbers_are_those_of_eager(compiles):
    def noisy(x):
        return functional.dropout(torch.relu(x) + 1, 0.5) + torch.rand(4, 8)

    compiled, x = torch.compile(noisy, backend="torchtrt"), torch.randn(4, 8)
    for run in range(3):
        torch.manual_seed(run)
        found = compiled(x)
        torch.manual_seed(run)
        assert_same(found, noisy(x))
    assert compiles


def test_threads_with_modules_of_one_class():
    layers = [Net().eval() for _ in range(4)]
    compiled = [torch.compile(layer, backend="torchtrt") for layer in layers]
    x = torch.randn(4, 8)
    with torch.no_grad():
        expected = [layer(x) for layer in layers]
        for each in compiled:
            each(x)

    def run(i):
        with torch.no_grad():
            for _ in range(200):
                assert_same(compiled[i](x), expected[i])

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(4)))


def test_one_graph_serves_all_layers_of_a_class(compiles):
    layers = [nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)).eval() for _ in range(4)]
    x = torch.randn(4, 8)
    with torch.no_grad():
        for _ in range(2):
            for layer in layers:
                assert_same(torch.compile(layer, backend="torchtrt")(x), layer(x))
    assert len(compiles) <= 4


def test_a_graph_that_needs_gradients_trains_in_eager(compiles, lines):
    model = Net()
    compiled = torch.compile(model, backend="torchtrt")
    x = torch.randn(4, 8)
    compiled(x).sum().backward()
    expected = [each.grad.clone() for each in model.parameters()]
    model.zero_grad()
    model(x).sum().backward()
    for mine, each in zip(expected, model.parameters()):
        assert_same(mine, each.grad)
    assert not compiles
    assert len(lines) == 1 and "needs gradients" in lines[0] and "torch.no_grad()" in lines[0]
    with torch.no_grad():
        assert_same(compiled(x), model(x))
    assert len(compiles) == 1


def failing(*_, **__):
    raise torchtrt.InternalError("[I001] on purpose")


@pytest.mark.parametrize("kind", [torchtrt.CompileError, torchtrt.InternalError, MemoryError, KeyError])
def test_what_the_compiler_raises_is_a_line_and_an_eager_result(kind, lines, monkeypatch):
    def fail(*_, **__):
        raise kind("[C005] on purpose")

    monkeypatch.setattr(torchtrt, "compile", fail)
    monkeypatch.delenv("TORCHTRT_STRICT", raising=False)
    assert_compiled_is_eager(Net().eval(), (torch.randn(4, 8),), (torch.randn(4, 8),))
    assert len(lines) == 1 and "runs in eager PyTorch" in lines[0] and "on purpose" in lines[0]


def test_what_an_engine_raises_is_a_line_and_an_eager_result(lines, monkeypatch):
    model, x = Net().eval(), torch.randn(4, 8)
    compiled = assert_compiled_is_eager(model, (x,))

    def fail(self, arguments):
        raise torchtrt.EngineError("[E007] on purpose")

    monkeypatch.setattr(_variants._Compiled, "__call__", fail)
    with torch.no_grad():
        for _ in range(2):
            assert_same(compiled(x), model(x))
    assert len(lines) == 1 and "[E007] on purpose" in lines[0]


def test_a_bug_is_a_failure_in_the_tests(monkeypatch):
    monkeypatch.setattr(torchtrt, "compile", failing)
    monkeypatch.setenv("TORCHTRT_STRICT", "1")
    with pytest.raises(Exception, match="I001"), torch.no_grad():
        torch.compile(Net().eval(), backend="torchtrt")(torch.randn(4, 8))


def test_options_are_those_of_compile(compiles):
    assert_compiled_is_eager(Net().eval(), (torch.randn(4, 8),), options={"torch_executed_ops": ["aten::gelu"], "min_block_size": 1})
    assert compiles[0].torch_segments >= 3
    torch._dynamo.reset()
    model, x = Net().eval(), torch.randn(4, 8)
    with torch.no_grad():
        half = torch.compile(model, backend="torchtrt", options={"enabled_precisions": {torch.half}})(x)
        assert (half - model(x)).abs().max() <= 2e-2
        with pytest.raises(Exception, match=r'there is no option "min_blok_size"\n  did you mean "min_block_size"'):
            torch.compile(Net().eval(), backend="torchtrt", options={"min_blok_size": 1})(x)


@pytest.mark.parametrize("inside", [False, True])
def test_casts_of_autocast_are_made(inside, compiles):
    class Cast(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(8, 8)

        def forward(self, x):
            if not inside:
                return torch.relu(self.linear(x)) + 1
            with torch.autocast("cpu", torch.bfloat16):
                return torch.relu(self.linear(x)) + 1

    model, x = Cast().eval(), torch.randn(4, 8)
    compiled = torch.compile(model, backend="torchtrt")
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=not inside):
        found, expected = compiled(x), model(x)
    assert found.dtype == expected.dtype == torch.bfloat16
    assert (found - expected).abs().max() <= 2e-2 * expected.abs().max()
    assert compiles


def test_numbers_of_the_program_may_vary(compiles):
    def scaled(x, n, factor):
        return torch.relu(x * n + factor).repeat(n, 1) @ torch.ones(8, 8)

    assert_compiled_is_eager(scaled, *[(torch.randn(4, 8), n, n / 3) for n in (2, 3, 4, 5)])


def test_an_input_whose_shape_changes_in_place():
    def turned(x):
        rows = x.size(0)
        x.t_()
        return torch.relu(x) * rows + x.size(0)

    compiled = torch.compile(turned, backend="torchtrt", dynamic=True)
    with torch.no_grad():
        for rows in (3, 5):
            ours = torch.randn(rows, 8)
            theirs = ours.clone()
            assert_same(compiled(ours), turned(theirs))
            assert_same(ours, theirs)


def test_results_without_an_engine_stay_in_eager(compiles):
    assert_compiled_is_eager(lambda x: torch.special.bessel_j0(x), (torch.randn(4, 8),))
    assert compiles[0].engine_segments == 0


def test_inference_mode_and_sizes_that_depend_on_data():
    def picked(x):
        return torch.relu(x[x.sum(1) > 0]) + 1

    compiled = torch.compile(picked, backend="torchtrt")
    with torch.inference_mode():
        for _ in range(3):
            x = torch.randn(6, 8)
            assert_same(compiled(x), picked(x))
