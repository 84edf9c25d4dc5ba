"""Quantization: fake quantization is in engines, to the bit; quantized modules keep their quantized tensors in PyTorch and have the rest in
engines, unless full compilation is asked for (test_quantized_operators.py, test_quantized_models.py)."""

import warnings

import pytest
import torch
from torch import nn
from torch.ao import quantization

import torchtrt
from same import saved

RANGES = [(-128, 127), (0, 255), (0, 127), (-7, 7), (3, 9), (-32768, 32767)]


def values(*shape: int, dtype=torch.float32, seed=0) -> torch.Tensor:
    x = torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) * 9
    x[..., 0] = torch.tensor([float("inf"), float("-inf"), float("nan"), 0.0, 1e30])[: x.shape[0]][:, None] if x.dim() == 3 else 0.5
    return x.to(dtype)


def compiled_whole(function, x: torch.Tensor):
    traced = torch.jit.trace(function, x, check_trace=False)
    return torchtrt.compile(traced, inputs=[torchtrt.Input(list(x.shape), dtype=x.dtype)], require_full_compilation=True)


def assert_bits(actual: torch.Tensor, expected: torch.Tensor) -> None:
    assert actual.dtype == expected.dtype
    assert torch.equal(actual.nan_to_num(7e7), expected.nan_to_num(7e7))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("low, high", RANGES)
@torch.inference_mode()
def test_fake_quantization_is_exact_for_any_zero_point_and_range(low, high, dtype):
    x = values(5, 4, 33, dtype=dtype)
    for scale, zero in ((0.1, low), (0.037, high), (1.7, (low + high) // 2)):
        def per_tensor(x, scale=scale, zero=zero):
            return torch.fake_quantize_per_tensor_affine(x, scale, zero, low, high)

        assert_bits(compiled_whole(per_tensor, x)(x), per_tensor(x))
    generator = torch.Generator().manual_seed(high)
    for axis in (0, 1, 2):
        scales = torch.rand(x.shape[axis], generator=generator) + 0.01
        zeros = torch.randint(low, high + 1, (x.shape[axis],), generator=generator, dtype=torch.int32)

        def per_channel(x, axis=axis, scales=scales, zeros=zeros):
            return torch.fake_quantize_per_channel_affine(x, scales, zeros, axis, low, high)

        assert_bits(compiled_whole(per_channel, x)(x), per_channel(x))


@torch.inference_mode()
def test_float64_is_not_rounded_before_it_is_quantized():
    """float32 would be a step off beside a border of rounding."""
    x = torch.tensor([0.5 + 1e-12, 1.5 - 1e-12, 2.5 + 1e-12, -0.5 - 1e-12], dtype=torch.float64)

    def per_tensor(x):
        return torch.fake_quantize_per_tensor_affine(x, 1.0, 0, -8, 7)

    assert per_tensor(x).tolist() == [1, 1, 3, -1]
    assert_bits(compiled_whole(per_tensor, x)(x), per_tensor(x))
    y = torch.randn(64, 33, dtype=torch.float64) * 3

    def scaled(x):
        return torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -100, 100)

    assert_bits(compiled_whole(scaled, y)(y), scaled(y))


class Quantized(nn.Module):
    """Float at both ends, and between them what static quantization has: conv, conv_relu, add, cat, mean, linear."""

    def __init__(self):
        super().__init__()
        self.quantize, self.dequantize = quantization.QuantStub(), quantization.DeQuantStub()
        self.conv, self.relu, self.other = nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1)
        self.linear, self.functional = nn.Linear(16, 10), nn.quantized.FloatFunctional()

    def forward(self, x):
        x = self.relu(self.conv(self.quantize(x * 2 + 1)))
        x = self.functional.add(x, self.other(x))
        x = self.functional.cat([x, x], 1).mean([2, 3])
        return self.dequantize(self.linear(x)) * 3 - 1


def statically(backend: str) -> nn.Module:
    torch.manual_seed(0)
    module = Quantized().eval()
    module.qconfig = quantization.get_default_qconfig(backend)
    quantization.fuse_modules(module, [["conv", "relu"]], inplace=True)
    quantization.prepare(module, inplace=True)
    module(torch.randn(4, 3, 8, 8))
    return quantization.convert(module).eval()


def dynamically() -> nn.Module:
    torch.manual_seed(0)
    return quantization.quantize_dynamic(nn.Sequential(nn.Tanh(), nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3)), {nn.Linear}).eval()


def check(module: nn.Module, x: torch.Tensor, way: str, engines: int, stays: str) -> None:
    module = torch.jit.script(module) if way == "script" else torch.jit.trace(module, x)
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input(list(x.shape))], min_block_size=1)
    for each in (compiled, saved(compiled)):
        torch.testing.assert_close(each(x), module(x), rtol=1e-6, atol=1e-6)
    report = torchtrt.report(compiled)
    reasons = [reason for segment in report.segments for reason in segment.reasons]
    assert report.engine_segments == engines, str(report)
    assert f"no converter is registered for {stays}" in reasons
    assert not [reason for reason in reasons if "changes from call to call" in reason]


@pytest.mark.parametrize("way", ["script", "trace"])
@pytest.mark.parametrize("backend", [each for each in torch.backends.quantized.supported_engines if each != "none"])
@torch.inference_mode()
def test_statically_quantized_modules_have_their_float_parts_in_engines(backend, way):
    before = torch.backends.quantized.engine
    torch.backends.quantized.engine = backend
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(statically(backend), torch.randn(2, 3, 8, 8, generator=torch.Generator().manual_seed(1)), way, 2, "quantized::add")
    finally:
        torch.backends.quantized.engine = before


@pytest.mark.parametrize("way", ["script", "trace"])
@torch.inference_mode()
def test_dynamically_quantized_modules_have_their_float_parts_in_engines(way):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(dynamically(), torch.randn(4, 5, generator=torch.Generator().manual_seed(1)), way, 3, "quantized::linear_dynamic")


@torch.inference_mode()
def test_a_graph_without_module_keeps_its_quantized_operators_in_pytorch():
    @torch.jit.script
    def function(x):
        y = torch.quantize_per_tensor(torch.tanh(x * 2) + 1, 0.1, 3, torch.quint8)
        return torch.dequantize(torch.relu(y)) * 3 - 1

    x = torch.randn(4, 8, generator=torch.Generator().manual_seed(0))
    compiled = torchtrt.compile(function, inputs=[torchtrt.Input([4, 8])], min_block_size=1)
    assert_bits(compiled(x), function(x))
    report = torchtrt.report(compiled)
    left = [node.node for node in report.nodes if node.target != "engine"]
    assert any(node.startswith("aten::quantize_per_tensor") for node in left), str(report)
