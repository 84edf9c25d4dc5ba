"""Whole models with op_precision float16 and bfloat16 against eager modules of that dtype, in a range of batches."""

import copy

import pytest
import torch

import models
import torchtrt

TOLERANCE = 2e-2  # of the largest reference value
EQUALLY_FAR = 1.5  # what is beyond the tolerance may be as far from float64 as eager is, with this factor
HALVES = [torch.float16, torch.bfloat16]


class Encoder(torch.nn.Module):
    """A transformer block with every product that encoders have."""

    def __init__(self):
        super().__init__()
        self.attend = torch.nn.Linear(64, 192)
        self.first, self.second = torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)
        self.before, self.after = torch.nn.LayerNorm(64), torch.nn.LayerNorm(64)

    def forward(self, x):
        q, k, v = self.attend(self.before(x)).unflatten(-1, (3, 4, 16)).permute(2, 0, 3, 1, 4).unbind(0)
        x = x + torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        return x + self.second(torch.nn.functional.gelu(self.first(self.after(x))))


def encoder():
    torch.manual_seed(0)
    return Encoder().eval(), lambda batch: torch.randn(batch, 50, 64, generator=torch.Generator().manual_seed(batch))


def model(name):
    return models.build(name), lambda batch: models.sample(name, batch, seed=batch)


CASES = {"encoder": encoder} | {name: (lambda name=name: model(name)) for name in ("lenet", "resnet18", "mobilenet_v3_small")}


def distance(actual, expected):
    return ((actual.double() - expected.double()).abs().max() / expected.double().abs().max()).item()


def assert_equal(actual, module, x):
    eager = copy.deepcopy(module).to(x.dtype)(x)
    assert actual.shape == eager.shape and actual.dtype == eager.dtype
    if distance(actual, eager) > TOLERANCE:
        exact = copy.deepcopy(module).double()(x.double())
        assert distance(actual, exact) <= EQUALLY_FAR * distance(eager, exact)


@pytest.mark.parametrize("dtype", HALVES, ids=["float16", "bfloat16"])
@pytest.mark.parametrize("name", CASES)
@torch.inference_mode()
def test_a_model_cast_by_the_compiler(name, dtype):
    module, sample = CASES[name]()
    shape = list(sample(1).shape[1:])
    traced = torch.jit.trace(module, sample(2), check_trace=False)
    compiled = torchtrt.compile(
        traced, op_precision=dtype,
        inputs=[torchtrt.Input(min_shape=[1, *shape], opt_shape=[1, *shape], max_shape=[3, *shape], dtype=dtype)])
    report = torchtrt.report(compiled)
    assert (report.engine_segments, report.torch_segments) == (1, 0)
    for batch in (1, 3):
        assert_equal(compiled(sample(batch).to(dtype)), module, sample(batch).to(dtype))


@pytest.mark.parametrize("dtype", HALVES, ids=["float16", "bfloat16"])
@torch.inference_mode()
def test_a_module_that_was_cast_already(dtype):
    module, sample = encoder()
    x = sample(2).to(dtype)
    compiled = torchtrt.compile(torch.jit.script(copy.deepcopy(module).to(dtype)), inputs=[x])
    assert torchtrt.report(compiled).torch_segments == 0
    assert_equal(compiled(x), module, x)


def test_a_precision_that_nothing_has_is_told(capfd):
    script = torch.jit.script(torch.nn.Linear(4, 4).eval())
    for enabled, options in [({torch.half}, {"op_precision": torch.half}), ({torch.half, torch.float}, {}), ({torch.float}, {})]:
        torchtrt.compile(script, inputs=[torchtrt.Input([2, 4])], enabled_precisions=enabled, **options)
    half = torch.jit.script(torch.nn.Linear(4, 4).eval().half())
    torchtrt.compile(half, inputs=[torchtrt.Input([2, 4], dtype=torch.half)], enabled_precisions={torch.half})
    assert "enabled_precisions" not in capfd.readouterr().err
    torchtrt.compile(script, inputs=[torchtrt.Input([2, 4])], enabled_precisions={torch.half})
    assert "neither weights nor inputs are of it" in capfd.readouterr().err


def test_what_bfloat16_itself_blurs_is_no_disagreement(monkeypatch):
    """A deep network is far from float64 in bfloat16, in PyTorch as in an engine, and so they are from each other."""
    monkeypatch.setenv("TORCHTRT_STRICT", "1")
    x = models.sample("resnet50").bfloat16()
    module = torch.jit.trace(models.build("resnet50").bfloat16(), x, check_trace=False)
    compiled = torchtrt.compile(module, inputs=[x])
    assert len(torchtrt.runtime.engines(compiled)) == 1
