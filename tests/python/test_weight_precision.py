"""Weight-only quantization: weight_precision, group_size and weight_zero_points of compile(), and torchtrtc's options."""

import pytest
import torch
from torch import nn

import torchtrt
from test_torchtrtc import succeeds
from torchtrt import ptq


class Block(nn.Module):
    """The matrix multiplications of a decoder's block: with a bias, a residual and an activation, and without any."""

    def __init__(self):
        super().__init__()
        self.up, self.down, self.head = nn.Linear(192, 256), nn.Linear(256, 192), nn.Linear(192, 100, bias=False)

    def forward(self, x):
        return self.head(x + self.down(torch.relu(self.up(x))))


def made(kind=Block, seed=0):
    torch.manual_seed(seed)
    return kind().eval()


def rounded(weight, bits, group_size, zero_points=False):
    """The float32 numbers that integer weights of these bits stand for."""
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    groups = weight.double().reshape(weight.shape[0], -1, group_size)
    if zero_points:
        low, high = groups.amin(2, keepdim=True).clamp(max=0), groups.amax(2, keepdim=True).clamp(min=0)
        scale = ((high - low) / (most - least)).float().double()
        zero = (least - torch.round(low / scale)).clamp(least, most)
    else:
        extreme = groups.gather(2, groups.abs().argmax(2, keepdim=True))
        scale, zero = (extreme / least).float().double(), 0
    q = (torch.round(groups / scale) + zero).clamp(least, most)
    return ((q - zero) * scale).reshape(weight.shape).float()


def with_rounded_weights(model, *form):
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            layer.weight.data = rounded(layer.weight.data, *form)
    return model


def expect_close(got, expected):
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5 * expected.abs().max().item())


def families(module):
    return [step.family for segment in torchtrt.report(module).segments for step in segment.steps]


@pytest.mark.parametrize("rows", [1, 3, 40])
@pytest.mark.parametrize(("precision", "bits"), [("int8", 8), ("int4", 4)])
@pytest.mark.parametrize("zero_points", [False, True])
def test_equals_pytorch_with_the_rounded_weights(precision, bits, zero_points, rows):
    compiled = torchtrt.compile(made(), inputs=[[rows, 192]], weight_precision=precision, group_size=64, weight_zero_points=zero_points)
    x = torch.randn(rows, 192)
    expect_close(compiled(x), with_rounded_weights(made(), bits, 64, zero_points)(x))
    assert families(compiled).count("integer_weight_matrix_multiply") == 3


def test_bias_residual_and_activation_are_part_of_the_product():
    compiled = torchtrt.compile(made(), inputs=[[1, 192]], weight_precision="int4")
    assert families(compiled) == ["integer_weight_matrix_multiply"] * 3


@pytest.mark.parametrize("group_size", [32, 64, 96, 128])
def test_of_groups_that_do_not_divide_the_depth_weights_stay(group_size):
    compiled = torchtrt.compile(made(), inputs=[[2, 192]], weight_precision="int4", group_size=group_size)
    layers = torchtrt.report(compiled).segments[0].calibration.layers
    assert [layer.is_quantized for layer in layers] == [depth % group_size == 0 for depth in (192, 256, 192)]
    for layer, depth in zip(layers, (192, 256, 192)):
        assert layer.is_quantized or layer.reason == f"its depth of {depth} is no multiple of the group size, {group_size}"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_of_half_precision(dtype):
    compiled = torchtrt.compile(made(), inputs=[torchtrt.Input([2, 192], dtype=dtype)], op_precision=dtype, weight_precision="int8")
    x = torch.randn(2, 192, dtype=dtype)
    expected = with_rounded_weights(made().to(dtype).float(), 8, 64)(x.float())
    assert (compiled(x).float() - expected).abs().max() <= 2e-2 * expected.abs().max()
    assert families(compiled).count("integer_weight_matrix_multiply") == 3


def test_of_any_number_of_rows():
    compiled = torchtrt.compile(made(), inputs=[torchtrt.Input(min_shape=[1, 192], opt_shape=[1, 192], max_shape=[64, 192])], weight_precision="int4")
    reference = with_rounded_weights(made(), 4, 64)
    for rows in (1, 2, 13, 64):
        x = torch.randn(rows, 192)
        expect_close(compiled(x), reference(x))


def test_the_report_says_what_stays_and_why():
    compiled = torchtrt.compile(made(), inputs=[torch.randn(2, 192)], weight_precision="int4", precision={"head": torch.float32})
    report = torchtrt.report(compiled)
    calibration = report.segments[0].calibration
    assert (calibration.precision, calibration.quantized_layers, len(calibration.layers)) == ("int4 weights", 2, 3)
    assert 0 < calibration.error < 0.2
    assert calibration.layers[2].reason == "precision pins 'head' to Float32"
    assert "weights  2 of 3 layers with int4 weights, off by" in str(report)
    assert "; int4 weights: 2 of 3 layers, engines off by" in str(report)


def test_small_layers_and_other_numbers_stay():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.small, self.broken = nn.Linear(64, 64), nn.Linear(64, 512)
            self.broken.weight.data[3, 5] = float("inf")

        def forward(self, x):
            return self.broken(self.small(x))

    compiled = torchtrt.compile(made(Net), inputs=[[2, 64]], weight_precision="int8", check_results=False)
    reasons = [layer.reason for layer in torchtrt.report(compiled).segments[0].calibration.layers]
    assert reasons == ["its 4096 weights are too few to gain from rounding", "its weights are not finite"]


def test_the_accuracy_target_leaves_the_costliest_layers():
    batches = [torch.randn(4, 192, generator=torch.Generator().manual_seed(seed)) for seed in range(3)]

    def calibration(target):
        calibrator = ptq.DataLoaderCalibrator(batches)
        compiled = torchtrt.compile(made(), inputs=[[4, 192]], weight_precision="int4", calibrator=calibrator, accuracy_target=target)
        return torchtrt.report(compiled).segments[0].calibration

    strict = calibration(1e-6)
    assert strict.quantized_layers == 0
    assert all(layer.error > 1e-3 and "costs more accuracy" in layer.reason for layer in strict.layers)
    least = min(layer.error for layer in strict.layers)
    some = calibration(1.01 * least)
    assert [layer.is_quantized for layer in some.layers] == [layer.error == least for layer in strict.layers]
    assert some.error == pytest.approx(least, rel=1e-3)
    assert calibration(0.9).quantized_layers == 3


def test_a_saved_module_and_its_update(tmp_path):
    compiled = torchtrt.compile(made(), inputs=[[2, 192]], weight_precision="int4", group_size=32, weight_zero_points=True, refit=True)
    torch.jit.save(compiled, tmp_path / "block.ts")
    loaded = torch.jit.load(tmp_path / "block.ts")
    x = torch.randn(2, 192)
    assert torch.equal(loaded(x), compiled(x))
    torchtrt.update_weights(loaded, made(seed=1).state_dict())
    expect_close(loaded(x), with_rounded_weights(made(seed=1), 4, 32, True)(x))


def test_an_engine_alone():
    plan = torchtrt.ts.convert_method_to_trt_engine(made(), inputs=[[2, 192]], weight_precision="int4")
    module = torchtrt.ts.embed_engine_in_new_module(plan)
    x = torch.randn(2, 192)
    expect_close(module(x), with_rounded_weights(made(), 4, 64)(x))
    assert len(plan) < 80_000  # 117,376 weights


def test_the_same_bytes_on_any_number_of_threads():
    x = torch.randn(1, 192)
    compiled = torchtrt.compile(made(), inputs=[[1, 192]], weight_precision="int4")
    threads = torch.get_num_threads()
    try:
        results = []
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            results.append(compiled(x))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(result, results[0]) for result in results)


def test_the_command(tmp_path):
    torch.jit.script(made()).save(str(tmp_path / "block.ts"))
    out = tmp_path / "out.ts"
    said = succeeds(tmp_path / "block.ts", out, "(2,192)", "--weight-precision", "int4", "--group-size", "32", "--weight-zero-points")
    assert "3 of 3 layers" in said.stderr
    x = torch.randn(2, 192)
    expect_close(torch.jit.load(out)(x), with_rounded_weights(made(), 4, 32, True)(x))


def packed_int4(columns, depth, group_size, dtype):
    q = torch.randint(0, 16, (columns, depth), dtype=torch.int32)
    groups = torch.stack([torch.rand(depth // group_size, columns) + 0.1, torch.randn(depth // group_size, columns)], 2).to(dtype)
    return torch.ops.aten._convert_weight_to_int4pack_for_cpu(q, 1), groups


class Int4Product(nn.Module):
    def __init__(self, columns, depth, group_size, dtype=torch.float32):
        super().__init__()
        self.group_size = group_size
        weights, groups = packed_int4(columns, depth, group_size, dtype)
        self.register_buffer("weights", weights)
        self.register_buffer("groups", groups)

    def forward(self, x):
        return torch.ops.aten._weight_int4pack_mm_for_cpu(x, self.weights, self.group_size, self.groups)


class Int8Product(nn.Module):
    def __init__(self, columns, depth, dtype=torch.float32):
        super().__init__()
        self.register_buffer("weights", torch.randint(-128, 128, (columns, depth), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(columns).to(dtype))

    def forward(self, x):
        return torch.ops.aten._weight_int8pack_mm(x, self.weights, self.scales)


TOLERANCES = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}


@pytest.mark.parametrize("dtype", list(TOLERANCES))
@pytest.mark.parametrize(("columns", "depth", "group_size"), [(64, 128, 32), (80, 256, 64), (176, 128, 128), (16, 512, 256)])
def test_pytorchs_products_of_packed_int4(columns, depth, group_size, dtype):
    torch.manual_seed(columns)
    model = Int4Product(columns, depth, group_size, dtype).eval()
    compiled = torchtrt.compile(torch.jit.script(model), inputs=[torchtrt.Input([3, depth], dtype=dtype)], require_full_compilation=True)
    assert families(compiled) == ["integer_weight_matrix_multiply"]
    x = torch.randn(3, depth).to(dtype)
    expected = model(x)
    assert (compiled(x).double() - expected.double()).abs().max() <= TOLERANCES[dtype] * expected.abs().max()


@pytest.mark.parametrize("dtype", list(TOLERANCES))
@pytest.mark.parametrize(("columns", "depth"), [(64, 128), (33, 96), (5, 1024)])
def test_pytorchs_products_of_int8(columns, depth, dtype):
    torch.manual_seed(columns)
    model = Int8Product(columns, depth, dtype).eval()
    compiled = torchtrt.compile(torch.jit.script(model), inputs=[torchtrt.Input([3, depth], dtype=dtype)], require_full_compilation=True)
    assert families(compiled) == ["integer_weight_matrix_multiply"]
    x = torch.randn(3, depth).to(dtype)
    expected = model(x)
    assert (compiled(x).double() - expected.double()).abs().max() <= TOLERANCES[dtype] * expected.abs().max()


def test_scales_that_are_not_finite_stay_in_pytorch():
    model = Int8Product(64, 128).eval()
    model.scales[3] = float("nan")
    compiled = torchtrt.compile(torch.jit.script(model), inputs=[[3, 128]], min_block_size=1)
    nodes = [node for node in torchtrt.report(compiled).nodes if "_weight_int8pack_mm" in node.node]
    assert "scales or zero points that are not finite" in nodes[0].reason
    x = torch.randn(3, 128)
    torch.testing.assert_close(compiled(x), model(x), equal_nan=True)
