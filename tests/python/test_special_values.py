"""Infinities, NaN, zeros, denormal, large and huge numbers: PyTorch's answer, or what docs/numbers.md says instead."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import torchtrt
from torch_release import fused_attention_takes_three_dimensions, layer_norm_takes_infinite_variances

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-7, torch.float16: 2e-2, torch.bfloat16: 2e-2}
KINDS = ("infinite", "nan", "zero", "denormal", "large", "huge")
SUMS = {"large", "huge"}  # sums that overflow or cancel
# The operands of attention have three dimensions here.
NAN_SCORES = {"nan"} if fused_attention_takes_three_dimensions() else set()
INFINITE_VARIANCE = {"huge"} if layer_norm_takes_infinite_variances() else {"huge", "large"}
IMAGE, ROWS = (1, 8, 6, 6), (5, 16)


def layers():
    torch.manual_seed(3)
    return nn.ModuleDict({
        "conv": nn.Conv2d(8, 8, 3, padding=1), "pointwise": nn.Conv2d(8, 8, 1), "depthwise": nn.Conv2d(8, 8, 3, padding=1, groups=8),
        "deconv": nn.ConvTranspose2d(8, 8, 2, 2), "linear": nn.Linear(16, 8), "batch": nn.BatchNorm2d(8), "layer": nn.LayerNorm(16),
        "group": nn.GroupNorm(2, 8), "rms": nn.RMSNorm(16)}).eval()


ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu, "relu6": F.relu6, "hardswish": F.hardswish, "sigmoid": torch.sigmoid, "tanh": torch.tanh,
               "mish": F.mish, "elu": F.elu, "leaky_relu": F.leaky_relu, "softplus": F.softplus, "hardsigmoid": F.hardsigmoid,
               "gelu_tanh": lambda x: F.gelu(x, approximate="tanh")}
# Name: function of layers and operands, their shapes, and the kinds that docs/numbers.md says something of.
OPERATORS = {
    **{name: (lambda w, x, f=f: f(x), [IMAGE], {"infinite", "huge", "large"} if name == "gelu" else set()) for name, f in ACTIVATIONS.items()},
    **{f"{layer}_{name}": (lambda w, x, layer=layer, f=ACTIVATIONS[name]: f(w[layer](x)), [ROWS if layer == "linear" else IMAGE],
                           SUMS | ({"infinite"} if name == "gelu" else set()))
       for layer in ("conv", "pointwise", "depthwise", "linear") for name in ("relu", "gelu", "silu", "relu6")},
    "conv_max_pool": (lambda w, x: F.max_pool2d(w["conv"](x), 2), [IMAGE], SUMS),
    "conv_avg_pool": (lambda w, x: F.avg_pool2d(w["conv"](x), 2), [IMAGE], SUMS),
    "matmul": (lambda w, x, y: x @ y.t(), [ROWS, ROWS], SUMS),
    "attention": (lambda w, x, y: F.scaled_dot_product_attention(x[None], y[None], y[None]), [ROWS, ROWS], {"huge"} | NAN_SCORES),
    "layer_norm": (lambda w, x: w["layer"](x), [ROWS], INFINITE_VARIANCE),
    "group_norm": (lambda w, x: w["group"](x), [IMAGE], {"huge"}),
    "rms_norm": (lambda w, x: w["rms"](x), [ROWS], set()),
    "batch_norm": (lambda w, x: w["batch"](x), [IMAGE], set()),
    "softmax": (lambda w, x: x.softmax(-1), [ROWS], set()),
    "log_softmax": (lambda w, x: x.log_softmax(-1), [ROWS], set()),
    "logsumexp": (lambda w, x: x.logsumexp(-1), [ROWS], set()),
    "normalize": (lambda w, x: F.normalize(x, dim=-1), [ROWS], SUMS),
    "cosine_similarity": (lambda w, x, y: F.cosine_similarity(x, y, dim=-1), [ROWS, ROWS], SUMS),
    "norm": (lambda w, x: x.norm(dim=-1), [ROWS], SUMS),
    "sum": (lambda w, x: x.sum(-1), [ROWS], SUMS),
    "mean": (lambda w, x: x.mean(-1), [ROWS], SUMS),
    "var": (lambda w, x: x.var(-1), [ROWS], {"huge"}),
    "amax": (lambda w, x: x.amax(-1), [ROWS], set()),
    "adaptive_avg_pool": (lambda w, x: F.adaptive_avg_pool2d(x, 1), [IMAGE], SUMS),
    "max_pool": (lambda w, x: F.max_pool2d(x, 3, 2, 1), [IMAGE], set()),
    "fmod": (lambda w, x, y: torch.fmod(x, y), [ROWS, ROWS], {"huge"}),
    "fmod_number": (lambda w, x: torch.fmod(x, 0.7), [ROWS], {"huge"}),
    "remainder": (lambda w, x, y: torch.remainder(x, y), [ROWS, ROWS], {"huge"}),
    "remainder_number": (lambda w, x: torch.remainder(x, 0.7), [ROWS], {"huge"}),
    "floor_divide": (lambda w, x, y: torch.floor_divide(x, y), [ROWS, ROWS], set()),
    "pow": (lambda w, x, y: torch.pow(x, y), [ROWS, ROWS], set()),
    "div": (lambda w, x, y: x / y, [ROWS, ROWS], set()),
    "atan2": (lambda w, x, y: torch.atan2(x, y), [ROWS, ROWS], set()),
    "logaddexp": (lambda w, x, y: torch.logaddexp(x, y), [ROWS, ROWS], set()),
    **{name: (lambda w, x, name=name: getattr(torch, name)(x), [ROWS], set())
       for name in ("exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "sin", "erf", "floor", "round", "sign", "reciprocal")},
}


def special(x: torch.Tensor, kind: str) -> torch.Tensor:
    """Every seventh value is replaced."""
    limits = torch.finfo(x.dtype)
    values = {"infinite": [float("inf"), -float("inf")], "nan": [float("nan")], "zero": [0.0, -0.0],
              "denormal": [limits.tiny / 2, -limits.tiny / 4, limits.smallest_normal], "large": [2 * limits.max ** 0.5, -2 * limits.max ** 0.5],
              "huge": [limits.max, -limits.max, limits.max / 3]}[kind]
    flat = x.clone().flatten()
    flat[::7] = torch.tensor((values * flat.numel())[:len(flat[::7])], dtype=torch.float64).to(x.dtype)
    return flat.view_as(x)


class Apply(nn.Module):
    def __init__(self, function, dtype):
        super().__init__()
        self.layers = copy.deepcopy(layers()).to(dtype)
        self.function = function

    def forward(self, *given):
        return self.function(self.layers, *given)


def agree(actual, expected, exact=None) -> bool:
    """True if the values agree. Those over tolerance may be as far from `exact`, in float64, as PyTorch's result is, if that is given."""
    ours, theirs = actual.double(), expected.double()
    finite = theirs.isfinite()
    if not torch.equal(ours[~finite].nan_to_num(1e300), theirs[~finite].nan_to_num(1e300)) or not ours[finite].isfinite().all():
        return False
    tolerance = TOLERANCE[expected.dtype]
    is_close = torch.allclose(ours[finite], theirs[finite], rtol=tolerance, atol=1e-2 * tolerance)
    if is_close or exact is None:
        return is_close
    error, their_error = ((each - exact)[finite].abs().max() for each in (ours, theirs))
    return bool(error <= 1.5 * their_error)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", OPERATORS)
@torch.no_grad()
def test_special_values(name, dtype):
    function, shapes, documented = OPERATORS[name]
    module = Apply(function, dtype).eval()
    torch.manual_seed(4)
    given = [torch.randn(shape).to(dtype) for shape in shapes]
    with torchtrt.logging.errors():
        compiled = torchtrt.compile(torch.jit.trace(module, given, check_trace=False),
                                    inputs=[torchtrt.Input(list(x.shape), dtype=dtype) for x in given], min_block_size=1)
    assert torchtrt.report(compiled).torch_segments == 0
    in_float64 = copy.deepcopy(module).double()
    for kind in KINDS:
        operands = [special(x, kind) for x in given]
        ours, theirs = compiled(*operands), module(*operands)
        # Fused attention of PyTorch 2.15 rounds elsewhere, as far from float64 as engines do.
        exact = in_float64(*(x.double() for x in operands)) if (name, dtype) == ("attention", torch.bfloat16) else None
        assert kind in documented or agree(ours, theirs, exact), (kind, ours, theirs)


# Scores of 16-bit attention are beyond what 16 bits hold, or differ by less than what they tell apart.
@pytest.mark.parametrize("scale", (1, 8, 200))
@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16), ids=str)
@pytest.mark.parametrize("shape", ((1, 5, 16), (2, 4, 64, 32)), ids=str)
@torch.no_grad()
def test_attention_in_16_bits_rounds_its_result_alone(shape, dtype, scale):
    torch.manual_seed(0)
    given = [(torch.randn(shape) * factor).to(dtype) for factor in (scale, scale, 1)]
    module = Apply(lambda w, q, k, v: F.scaled_dot_product_attention(q, k, v), dtype).eval()
    with torchtrt.logging.errors():
        compiled = torchtrt.compile(torch.jit.trace(module, given), inputs=[torchtrt.Input(list(shape), dtype=dtype)] * 3, min_block_size=1)
    exact = module(*(x.double() for x in given))
    ours, theirs = ((each.double() - exact).abs().max() for each in (compiled(*given), module(*given)))
    assert ours <= 1.5 * theirs + torch.finfo(dtype).eps


@pytest.mark.parametrize("limit", (0.1, 0.3, 0.7))
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@torch.no_grad()
def test_limits_of_16_bits_are_compared_as_in_pytorch(dtype, limit):
    beside = torch.tensor([limit * (1 + step / 4096) for step in range(-20, 21)], dtype=torch.float64)
    x = torch.cat([beside, -beside]).to(dtype)
    for function in (lambda w, x: F.hardshrink(x, limit), lambda w, x: F.threshold(x, limit, 20.0), lambda w, x: F.softshrink(x, limit),
                     lambda w, x: F.hardtanh(x, -limit, limit), lambda w, x: (x > limit) | (x <= -limit)):
        module = Apply(function, dtype).eval()
        with torchtrt.logging.errors():
            compiled = torchtrt.compile(torch.jit.trace(module, x), inputs=[torchtrt.Input(list(x.shape), dtype=dtype)], min_block_size=1)
        assert torch.equal(compiled(x), module(x))


@torch.no_grad()
def test_roll_of_nothing():
    module = Apply(lambda w, x: (torch.roll(x, 1, 0), torch.roll(x, (2, -1), (0, 1)), torch.roll(x, 3)), torch.float32).eval()
    with torchtrt.logging.errors():
        compiled = torchtrt.compile(torch.jit.trace(module, torch.randn(4, 3)),
                                    inputs=[torchtrt.Input(min_shape=[0, 3], opt_shape=[4, 3], max_shape=[8, 3])], min_block_size=1)
    for rows in (0, 1, 4, 8):
        x = torch.randn(rows, 3)
        assert all(torch.equal(ours, theirs) for ours, theirs in zip(compiled(x), module(x), strict=True))
