"""Operators whose results are as long as the data say: in engines, which end with them, with what needs them behind."""

import pytest
import torch
import torchvision
from torch import nn

import torchtrt
import torchtrt.runtime
from same import FELL_BACK, assert_same, saved
from test_fallback import check, targets

assert torchvision  # registers nms


def compiled_of(function, *arguments, inputs=None, **options):
    traced = torch.jit.trace(function, arguments, check_trace=False)
    return torchtrt.compile(traced, inputs=inputs or [torchtrt.Input(list(x.shape), dtype=x.dtype) for x in arguments], **options)


def one_engine(compiled):
    assert targets(torchtrt.report(compiled)) == ["engine"]


@torch.inference_mode()
def test_the_length_is_another_in_every_call():
    def places(x):
        y = x.tanh() * 2
        return (y > 1).nonzero(), y[y > 1], y

    compiled = compiled_of(places, torch.ones(3, 4), inputs=[torchtrt.Input(min_shape=[0, 4], opt_shape=[3, 4], max_shape=[50, 4])])
    one_engine(compiled)
    for x in (torch.randn(5, 4), torch.zeros(5, 4), torch.ones(5, 4), torch.zeros(0, 4), torch.randn(50, 4), torch.randn(4, 7).t()):
        assert_same(compiled(x), places(x))
        assert_same(saved(compiled)(x), places(x))


@torch.inference_mode()
def test_results_are_new_memory_of_their_own():
    compiled = compiled_of(lambda x: (x > 0).nonzero(), torch.ones(4))
    first = compiled(torch.tensor([1.0, -1, 1, -1]))
    compiled(torch.tensor([-1.0, 1, 1, 1]))
    assert first.tolist() == [[0], [2]] and first.is_contiguous()
    assert first.untyped_storage().nbytes() == 16


class Chosen(nn.Module):
    """Needs the rows that it picked."""

    def __init__(self):
        super().__init__()
        self.before, self.behind = nn.Linear(4, 4), nn.Linear(4, 3)

    def forward(self, x):
        y = self.before(x).relu()
        return self.behind(y[y.sum(1) > 0.5])


@torch.inference_mode()
def test_what_needs_the_rows_is_in_an_engine_behind():
    torch.manual_seed(0)
    report = check(Chosen(), torch.randn(9, 4))
    assert targets(report) == ["engine", "engine"]
    assert any(node.startswith("aten::index ") for node in report.segments[0].nodes)
    assert report.segments[0].outputs[0].endswith("float32 [0..9, 4]")


@torch.inference_mode()
def test_rows_of_any_number_reach_the_engine_behind():
    torch.manual_seed(0)
    module = Chosen().eval()
    compiled = torchtrt.compile(torch.jit.script(module), inputs=[torchtrt.Input([9, 4])])
    for scale in (0.0, 1.0, 3.0):
        x = torch.randn(9, 4) * scale
        assert_same(compiled(x), module(x))


class Sizes(Chosen):
    def forward(self, x):
        y = self.before(x).relu()
        places = torch.nonzero(y > 0.3)
        return places.size(0), places.shape[0] * 2, y, places.numel()


@torch.inference_mode()
def test_a_size_that_is_counted_is_the_true_one():
    torch.manual_seed(0)
    check(Sizes(), torch.randn(9, 4))


class Lists(Chosen):
    def forward(self, x):
        y = self.before(x).relu()
        rows, columns = torch.where(y > 0.3)
        return rows * 4 + columns, torch.where(y > 0.5)[0]


@torch.inference_mode()
def test_places_by_axis_come_as_lists():
    torch.manual_seed(0)
    check(Lists(), torch.randn(9, 4))


class Nms(Chosen):
    def forward(self, x):
        boxes = self.before(x)
        boxes = torch.cat([boxes[:, :2], boxes[:, :2] + boxes[:, 2:].abs()], 1)
        keep = torchvision.ops.nms(boxes, boxes.sum(1), 0.3)
        return boxes[keep], keep, self.behind(boxes[keep][:5])


@torch.inference_mode()
def test_boxes_that_are_kept():
    torch.manual_seed(0)
    report = check(Nms(), torch.randn(40, 4))
    assert "torch" not in targets(report)


class InABranch(Chosen):
    def forward(self, x, often: bool):
        y = self.before(x).relu()
        if often:
            y = y[y.sum(1) > 0.5]
        for _ in range(2):
            y = self.before(y[y.sum(1) > 0.1]).relu()
        return y


@torch.inference_mode()
def test_in_branches_and_loops():
    torch.manual_seed(0)
    for often in (True, False):
        check(InABranch(), torch.randn(9, 4), often, inputs=[torchtrt.Input([9, 4])])


class Alone(Chosen):
    def forward(self, x):
        return self.behind(torch.fft.ifft(torch.fft.fft(x)[(x > 0)[:, 0]]).real)


@torch.inference_mode()
def test_what_would_be_an_engine_too_many_stays_in_pytorch():
    report = check(Alone(), torch.randn(9, 4))
    assert targets(report).count("engine") <= 1


@torch.inference_mode()
def test_full_compilation_says_what_cannot_be_behind():
    with pytest.raises(torchtrt.CompileError, match="what needs it is in the same engine"):
        torchtrt.compile(torch.jit.script(Sizes().eval()), inputs=[torchtrt.Input([9, 4])], require_full_compilation=True)


@pytest.mark.parametrize("made", [torch.jit.script, lambda module: torch.jit.trace(module, torch.randn(9, 4))], ids=["script", "trace"])
@torch.inference_mode()
def test_full_compilation_says_the_same_of_a_mask_that_shows_late(made):
    inputs = [torchtrt.Input([9, 4])]
    explained = r"(?s)C001.*unable to convert 1 node.*test_counted.py.*schema: aten::index.*reason: aten::index shows how large"
    with pytest.raises(torchtrt.CompileError, match=explained):
        torchtrt.compile(made(Chosen().eval()), inputs=inputs, require_full_compilation=True)
    with pytest.raises(torchtrt.CompileError, match=explained):
        torchtrt.ts.convert_method_to_trt_engine(made(Chosen().eval()), "forward", inputs=inputs)


class UntilLarge(nn.Module):
    def forward(self, x):
        s = x
        y = torch.nonzero(x)
        while s.sum() < 100:
            s = s.abs() + 1 + s[s[:, 0] > 0].sum()
            y = torch.nonzero(s > 1)
        return y, s


class CarriedRows(nn.Module):
    def forward(self, x):
        y = x
        trips = x.sum() * 0
        while trips < 2:
            y = (y * 2 + x.relu().amax())[y[:, 0] > 0]
            trips = trips + 1
        return y, x.tanh()


@pytest.mark.parametrize("module", [UntilLarge(), CarriedRows()])
@torch.inference_mode()
def test_rows_are_no_arguments_though_examples_have_as_many(module, capfd):
    """Examples are positive, so that their masks take all rows."""
    torch.manual_seed(0)
    rows = torchtrt.Input(min_shape=[0, 4], opt_shape=[8, 4], max_shape=[50, 4])
    compiled = torchtrt.compile(torch.jit.script(module.eval()), inputs=[rows])
    for scale in (1.0, -1.0, 0.5):
        x = torch.randn(8, 4) * scale
        assert_same(compiled(x), module(x))
    assert FELL_BACK not in capfd.readouterr().err


@torch.inference_mode()
def test_shapes_that_do_not_fit_are_pytorchs_error():
    compiled = compiled_of(lambda x, m: (x * 2 + 1).tanh()[m], torch.ones(3, 2), torch.ones(3, dtype=torch.bool),
                           inputs=[torchtrt.Input(min_shape=[1, 2], opt_shape=[3, 2], max_shape=[5, 2]),
                                   torchtrt.Input(min_shape=[1], opt_shape=[3], max_shape=[5], dtype=torch.bool)])
    x = torch.randn(3, 2)
    mask = torch.tensor([True, False, True])
    assert_same(compiled(x, mask), (x * 2 + 1).tanh()[mask])
    with pytest.raises((RuntimeError, IndexError)):
        compiled(x, torch.ones(4, dtype=torch.bool))


def test_meta_tensors_have_no_length_to_count():
    compiled = compiled_of(lambda x: (x > 0).nonzero(), torch.ones(4))
    with pytest.raises(RuntimeError, match="depends on data"):
        compiled(torch.ones(4, device="meta"))
