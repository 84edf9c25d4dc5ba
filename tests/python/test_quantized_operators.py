"""Quantized operators in engines, under full compilation: to the bit of what PyTorch computes, or not at all."""

import contextlib
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional

import torchtrt
from torch_release import vector_code_multiplies_as_scalar_code

# x86 means oneDNN on a CPU with VNNI.
ENGINES = ["fbgemm", "qnnpack"] + ([] if torch.cpu._is_vnni_supported() else ["x86"])
QUINT8, QINT8 = torch.quint8, torch.qint8
ops = torch.ops.quantized


@contextlib.contextmanager
def quantized_engine(name: str):
    before = torch.backends.quantized.engine
    torch.backends.quantized.engine = name
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.backends.quantized.engine = before


def compiled_whole(module: nn.Module, *inputs: torch.Tensor, way="trace", **options):
    module = module.eval()
    script = torch.jit.trace(module, inputs, check_trace=False) if way == "trace" else torch.jit.script(module)
    shapes = [torchtrt.Input(list(each.shape)) for each in inputs]
    return torchtrt.compile(script, inputs=shapes, require_full_compilation=True, **options)


def within(step: float, zero: int, low: int, high: int, *shape: int, seed=0) -> torch.Tensor:
    """Floats that quantize to low..high, on and between the steps, halves among them."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.rand(*shape, generator=generator) * (high - low) + low - zero
    halves = torch.rand(*shape, generator=generator) < 0.2
    return torch.where(halves, torch.floor(values).clamp(max=high - zero - 1) + 0.5, values) * step


def range_of(dtype: torch.dtype) -> tuple[int, int]:
    return (0, 255) if dtype == QUINT8 else (-128, 127)


class Between(nn.Module):
    """Quantizes every argument, calls an operator of quantized tensors, dequantizes."""

    def __init__(self, operator, *quantizations):
        super().__init__()
        self.operator, self.quantizations = operator, quantizations

    def forward(self, *x):
        quantized = [torch.quantize_per_tensor(each, *how) for each, how in zip(x, self.quantizations)]
        return self.operator(*quantized).dequantize()


def assert_same(module: nn.Module, *inputs: torch.Tensor) -> None:
    """Expects results equal to the bit, and results that can tell."""
    expected = module(*inputs)
    assert expected.unique().numel() > 1
    assert torch.equal(compiled_whole(module, *inputs)(*inputs), expected)


def assert_stays(module: nn.Module, *inputs: torch.Tensor) -> None:
    with pytest.raises(torchtrt.CompileError):
        compiled_whole(module, *inputs)
    traced = torch.jit.trace(module.eval(), inputs, check_trace=False)
    compiled = torchtrt.compile(traced, inputs=[torchtrt.Input(list(each.shape)) for each in inputs], min_block_size=1)
    assert torch.equal(compiled(*inputs), module(*inputs))


def packed_weight(shape, per_channel: bool, seed=0):
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(*shape, generator=generator)
    if not per_channel:
        return torch.quantize_per_tensor(weight, float(weight.abs().max()) / 127, 0, QINT8)
    scales = weight.flatten(1).abs().amax(1).double() / 127
    return torch.quantize_per_channel(weight, scales, torch.zeros(shape[0], dtype=torch.int64), 0, QINT8)


@pytest.mark.parametrize("dtype", [QUINT8, QINT8])
@torch.inference_mode()
def test_quantize_and_dequantize_of_any_zero_point(dtype):
    low, high = range_of(dtype)
    for zero in (low, high, low + 128, low + 37):
        for scale in (0.1, 0.037, 1.7, 3e-6):
            x = within(scale, zero, low - 40, high + 40, 3, 67)
            x[0, :3] = torch.tensor([float("nan"), 1e6 * scale, -1e6 * scale])
            assert_same(Between(lambda q: q, (scale, zero, dtype)), x)


@torch.inference_mode()
def test_beyond_an_int32_of_steps_values_are_the_last_where_pytorch_wraps_around():
    x = torch.tensor([float("inf"), float("-inf"), 3e9, -3e9] * 16)
    for dtype in (QUINT8, QINT8):
        low, high = range_of(dtype)
        for zero in (low, high):
            module = Between(lambda q: q, (0.5, zero, dtype))
            expected = torch.tensor([high - zero, low - zero] * 32) * 0.5
            assert torch.equal(compiled_whole(module, x)(x), expected)


CONVOLUTIONS = [  # spatial dimensions, input channels, outputs, groups, kernel, stride, padding, dilation
    (2, 3, 8, 1, 3, 1, 1, 1),
    (2, 16, 16, 16, 3, 2, 1, 1),
    (2, 24, 12, 4, 1, 1, 0, 1),
    (2, 32, 32, 1, 3, 1, 1, 1),
    (2, 5, 7, 1, 5, 1, 4, 2),
    (1, 6, 9, 3, 3, 2, 1, 1),
    (3, 4, 6, 2, 3, 1, 1, 1),
]


class Convolution(nn.Module):
    def __init__(self, case, per_channel, bias, relu, scale, zero):
        super().__init__()
        dims, channels, outputs, groups, kernel, stride, padding, dilation = case
        weight = packed_weight([outputs, channels // groups] + [kernel] * dims, per_channel)
        bias = torch.randn(outputs, generator=torch.Generator().manual_seed(1)) if bias else None
        prepack = getattr(ops, f"conv{dims}d_prepack")
        self.packed = prepack(weight, bias, *([each] * dims for each in (stride, padding, dilation)), groups)
        self.operator = getattr(ops, f"conv{dims}d" + ("_relu" if relu else ""))
        self.step, self.zero = scale, zero

    def forward(self, x):
        q = torch.quantize_per_tensor(x, self.step, self.zero, QUINT8)
        return self.operator(q, self.packed, 0.137, 61).dequantize()


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
@pytest.mark.parametrize("engine", ENGINES)
@torch.inference_mode()
def test_convolution(engine, case):
    with quantized_engine(engine):
        for seed, (per_channel, bias, relu, batch) in enumerate(
            [(True, True, False, 2), (False, True, True, 1), (True, False, True, 3), (False, False, False, 1)]
        ):
            if engine == "qnnpack" and case[0] != 2:
                continue
            module = Convolution(case, per_channel, bias, relu, 0.031, 40)
            x = within(0.031, 40, 0, 127, batch, case[1], *[11, 9, 7][: case[0]], seed=seed)
            assert_same(module, x)


@torch.inference_mode()
def test_sums_too_long_for_float32_are_cut_in_two_and_no_further():
    with quantized_engine("fbgemm"):
        cut, too_long = ((2, channels, 4, 1, 3, 1, 1, 1) for channels in (700, 2000))
        assert_same(Convolution(cut, True, True, False, 0.01, 0), within(0.01, 0, 60, 127, 1, 700, 5, 5))
        assert_stays(Convolution(too_long, True, True, False, 0.01, 0), within(0.01, 0, 60, 127, 1, 2000, 5, 5))


@torch.inference_mode()
def test_what_fbgemm_saturates_without_vnni_is_exact():
    with quantized_engine("fbgemm"):
        weight = torch.quantize_per_tensor(torch.full((8, 16, 1, 1), 1.27), 0.01, 0, QINT8)
        packed = ops.conv2d_prepack(weight, None, [1, 1], [0, 0], [1, 1], 1)

        class Saturated(nn.Module):
            def __init__(self):
                super().__init__()
                self.packed = packed

            def forward(self, x):
                return ops.conv2d(torch.quantize_per_tensor(x, 1.0, 0, QUINT8), self.packed, 100.0, 0).dequantize()

        x = torch.full((1, 16, 4, 4), 255.0)
        assert torch.equal(compiled_whole(Saturated(), x)(x), torch.full((1, 8, 4, 4), 5200.0))  # 16 * 255 * 1.27


class Linear(nn.Module):
    def __init__(self, inputs, outputs, per_channel, bias, relu):
        super().__init__()
        bias = torch.randn(outputs, generator=torch.Generator().manual_seed(1)) if bias else None
        self.packed = ops.linear_prepack(packed_weight([outputs, inputs], per_channel), bias)
        self.operator = ops.linear_relu if relu else ops.linear

    def forward(self, x):
        return self.operator(torch.quantize_per_tensor(x, 0.031, 40, QUINT8), self.packed, 0.137, 61).dequantize()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("shape", [(1, 21), (3, 64), (2, 4, 33), (7, 1024), (1, 3, 2, 6)])
@torch.inference_mode()
def test_linear(engine, shape):
    with quantized_engine(engine):
        for per_channel, bias, relu, outputs in ((True, True, False, 7), (False, True, True, 32), (True, False, True, 4)):
            assert_same(Linear(shape[-1], outputs, per_channel, bias, relu), within(0.031, 40, 0, 127, *shape))


@pytest.mark.parametrize("kind", ["conv", "linear"])
@torch.inference_mode()
def test_onednns_kernels_round_otherwise_and_stay(kind):
    with quantized_engine("onednn"):
        module = Linear(9, 5, True, True, True) if kind == "linear" else Convolution(CONVOLUTIONS[0], True, True, True, 0.031, 40)
        assert_stays(module, within(0.031, 40, 0, 127, *((2, 9) if kind == "linear" else (1, 3, 8, 8))))


PAIRS = [("add", QUINT8), ("add_relu", QUINT8), ("mul", QUINT8), ("mul_relu", QUINT8), ("add", QINT8), ("add_relu", QINT8)]


@pytest.mark.parametrize("name, dtype", PAIRS, ids=str)
@torch.inference_mode()
def test_sums_and_products_of_all_values(name, dtype):
    low, high = range_of(dtype)
    values = torch.arange(low, high + 1).float()
    for scales, zeros in (((0.0531, 0.0317, 0.0937), (low, low + 100, low + 33)), ((0.0171, 0.0813, 0.117), (low + 77, low + 9, low + 200))):
        x, y = (values - zeros[0]) * scales[0], (values - zeros[1]) * scales[1]
        x, y = x.repeat_interleave(256), y.repeat(256)

        def operator(a, b, scale=scales[2], zero=zeros[2]):
            return getattr(ops, name)(a, b, scale, zero)

        module = Between(operator, (scales[0], zeros[0], dtype), (scales[1], zeros[1], dtype))
        assert_same(module, x, y)
        assert_same(module, x[::257][:256].reshape(4, 1, 64), y[:320].reshape(5, 64))


@torch.inference_mode()
def test_products_of_qint8_that_pytorchs_vector_code_gets_wrong_stay():
    x = within(0.05, 9, -128, 127, 4, 33)
    check = assert_same if vector_code_multiplies_as_scalar_code() else assert_stays
    check(Between(lambda a, b: ops.mul(a, b, 0.2, 3), (0.05, 9, QINT8), (0.03, 2, QINT8)), x, x * 0.6)


UNARY = {
    "relu": torch.relu,
    "relu6": functional.relu6,
    "hardtanh": lambda q: functional.hardtanh(q, -0.7, 0.9),
    "clamp": lambda q: torch.clamp(q, -0.7, 0.9),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "hardsigmoid": functional.hardsigmoid,
    "hardswish": lambda q: ops.hardswish(q, 0.03, 12),
    "leaky_relu": lambda q: ops.leaky_relu(q, 0.1, False, 0.07, 11),
    "elu": lambda q: ops.elu(q, 0.03, 50, 0.9),
    "celu": lambda q: ops.celu(q, 0.03, 50, 0.9),
    "add_scalar": lambda q: ops.add_scalar(q, 0.5),
    "add_scalar_relu": lambda q: ops.add_scalar_relu(q, -0.5),
    "mul_scalar": lambda q: ops.mul_scalar(q, 0.5),
    "mul_scalar_relu": lambda q: ops.mul_scalar_relu(q, 2.5),
}


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", [QUINT8, QINT8])
@torch.inference_mode()
def test_functions_of_all_values(name, dtype):
    low, high = range_of(dtype)
    for scale, zero in ((0.0531, low + 100), (0.0913, low + 128)):
        x = (torch.arange(low, high + 1).float() - zero) * scale
        for shape in ((256,), (2, 128), (1, 4, 8, 8)):
            assert_same(Between(UNARY[name], (scale, zero, dtype)), x.reshape(shape))


@pytest.mark.parametrize("dtype", [QUINT8, QINT8])
@torch.inference_mode()
def test_cat_takes_every_tensor_to_the_scale_of_the_result(dtype):
    low, high = range_of(dtype)
    how = [(0.05, low + 100, dtype), (0.031, low + 7, dtype), (0.02, low + 50, dtype)]
    inputs = [within(*each[:2], low, high, 2, channels, 5, 7) for each, channels in zip(how, (3, 16, 33))]
    assert_same(Between(lambda *q: ops.cat(q, 1, 0.05, low + 100), *how), *inputs)
    assert_same(Between(lambda *q: ops.cat_relu(q, -3, 0.06, low + 90), *how), *inputs)


MOVING = {
    "reshape": lambda q: q.reshape(2, -1),
    "flatten": lambda q: torch.flatten(q, 1),
    "permute": lambda q: q.permute(0, 2, 3, 1),
    "transpose": lambda q: q.transpose(1, 3),
    "slice": lambda q: q[:, 1:7:2],
    "select": lambda q: q[:, 3],
    "unsqueeze": lambda q: q.unsqueeze(1),
    "squeeze": lambda q: q[:, :1].squeeze(1),
    "chunk": lambda q: ops.add(*q.chunk(2, 1), 0.0937, 9),
    "split": lambda q: ops.mul(*q.split([4, 4], 1), 0.0937, 9),
    "shuffle": lambda q: q.view(q.size(0), 2, 4, q.size(2), q.size(3)).transpose(1, 2).contiguous().view(q.shape),
    "max_pool": lambda q: functional.max_pool2d(q, 3, 2, 1),
    "max_pool_ceil": lambda q: functional.max_pool2d(q, (2, 3), 2, (0, 1), ceil_mode=True),
}


@pytest.mark.parametrize("name", MOVING)
@torch.inference_mode()
def test_moving(name):
    x = within(0.05, 77, 0, 255, 2, 8, 9, 6)
    assert_same(Between(MOVING[name], (0.05, 77, QUINT8)), x)


class Averages(nn.Module):
    def __init__(self, pooling):
        super().__init__()
        self.convolution, self.pooling = Convolution((2, 5, 40, 1, 3, 1, 1, 1), True, True, False, 0.031, 40), pooling

    def forward(self, x):
        q = torch.quantize_per_tensor(x, 0.031, 40, QUINT8)
        return self.pooling(ops.conv2d(q, self.convolution.packed, 0.137, 61)).dequantize()


AVERAGES = {
    "global": lambda q: functional.adaptive_avg_pool2d(q, 1),
    "windows": lambda q: functional.avg_pool2d(q, 2, 2),
    "padded": lambda q: functional.avg_pool2d(q, 3, 2, 1),
}


@pytest.mark.parametrize("name", AVERAGES)
@pytest.mark.parametrize("size", [(8, 8), (7, 7), (6, 4)])
@torch.inference_mode()
def test_averages_behind_convolutions(name, size):
    for engine in ENGINES:
        with quantized_engine(engine):
            assert_same(Averages(AVERAGES[name]), within(0.031, 40, 0, 127, 2, 5, *size))


@torch.inference_mode()
def test_averages_that_pytorch_rounds_by_memory_order_stay():
    x = within(0.05, 77, 0, 255, 2, 8, 8, 6)
    row_major = Between(AVERAGES["global"], (0.05, 77, QUINT8))
    with quantized_engine("fbgemm"):
        assert_stays(row_major, x)
        assert_stays(Averages(lambda q: functional.avg_pool2d(q, 3, 2, 1, count_include_pad=False)), x[:, :5])
        assert_stays(Averages(lambda q: functional.adaptive_avg_pool2d(q, (2, 3))), x[:, :5])
    with quantized_engine("qnnpack"):
        assert_same(row_major, x)


STAYING = {
    "hardswish": lambda q: ops.hardswish(q, 0.03, 12),  # to neighbours, by vector and by scalar code
    "mean": lambda q: q.mean([2, 3]),
    "interpolate": lambda q: functional.interpolate(q, scale_factor=2.0, mode="bilinear", align_corners=False),
    "layer_norm": lambda q: ops.layer_norm(q, [6], None, None, 1e-5, 0.05, 77),
    "group_norm": lambda q: ops.group_norm(q, 2, None, None, 1e-5, 0.05, 77),
    "batch_norm": lambda q: ops.batch_norm2d(q, torch.ones(8), torch.zeros(8), torch.zeros(8), torch.ones(8), 1e-5, 0.05, 77),
}


@pytest.mark.parametrize("name", STAYING)
@torch.inference_mode()
def test_what_is_not_exact_stays(name):
    assert_stays(Between(STAYING[name], (0.05, 100, QUINT8)), within(0.05, 77, 0, 255, 2, 8, 9, 6))


@torch.inference_mode()
def test_dynamic_quantization_stays():
    with quantized_engine("fbgemm"):
        module = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Tanh(), nn.Linear(5, 6)), {nn.Linear})
        assert_stays(module, torch.randn(4, 5, generator=torch.Generator().manual_seed(0)))


@torch.inference_mode()
def test_without_full_compilation_quantized_operators_keep_pytorchs_int8_kernels():
    with quantized_engine("fbgemm"):
        module, x = Linear(21, 7, True, True, True).eval(), within(0.031, 40, 0, 127, 3, 21)
        compiled = torchtrt.compile(torch.jit.trace(module, x), inputs=[torchtrt.Input([3, 21])], min_block_size=1)
        assert torchtrt.report(compiled).engine_segments == 0
        assert torch.equal(compiled(x), module(x))
