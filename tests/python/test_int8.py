"""Post-training quantization: torchtrt.ptq, the calibrator and accuracy_target of compile(), and --calibration-... of torchtrtc."""

import json
import re

import pytest
import torch
from torch import nn

import nets
import torchtrt
from test_torchtrtc import succeeds, torchtrtc
from torchtrt import ptq


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 32, 5, padding=2), nn.Conv2d(32, 32, 3, stride=2, padding=1)
        self.fc = nn.Linear(32 * 8 * 8, 40)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.conv2(torch.relu(self.conv1(x)))), 2)
        return self.fc(x.flatten(1))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = nn.Linear(64, 128), nn.Linear(128, 128), nn.Linear(128, 32)

    def forward(self, x):
        return self.third(torch.relu(self.second(torch.relu(self.first(x)))))


class Gated(nn.Module):
    """An engine on either side of a branch; batches of positive sums reach one of them."""

    def __init__(self):
        super().__init__()
        self.first, self.positive, self.negative = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, x):
        y = torch.relu(self.first(x))
        if bool(x.sum() > 0):
            y = torch.tanh(torch.relu(self.positive(y)) + y)
        else:
            y = torch.sigmoid(torch.relu(self.negative(y)) - y)
        return y


class Counting(nn.Module):
    """Has a state, and a method beside forward."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(64, 64), nn.Linear(64, 64)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        return self.second(torch.relu(self.first(x))) * self.calls

    @torch.jit.export
    def halved(self, x):
        return self.first(x) / 2


def made(kind, seed=0):
    torch.manual_seed(seed)
    return kind().eval()


def batches(shape, count=4, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for _ in range(count)]


IMAGES, ROWS = [4, 3, 32, 32], [32, 64]
INT8 = {torch.float32, torch.int8}


def compiled(module, shape, data=None, calibrator=None, **options):
    calibrator = calibrator or ptq.DataLoaderCalibrator(batches(shape) if data is None else data, **options.pop("with_", {}))
    if shape is not None:
        options.setdefault("inputs", [torchtrt.Input(shape)])
    return torchtrt.compile(module, enabled_precisions=INT8, calibrator=calibrator, **options)


def calibrations(module):
    return [segment.calibration for segment in torchtrt.report(module).segments if segment.target == "engine"]


def off_by(module, reference, *inputs):
    expected, got = reference(*inputs), module(*inputs)
    return ((got - expected).norm() / expected.norm()).item()


def scripted(module, _):
    return torch.jit.script(module)


def traced(module, x):
    return torch.jit.trace(module, x)


@pytest.mark.parametrize("form", [scripted, traced])
@pytest.mark.parametrize(("kind", "shape", "layers"), [(Cnn, IMAGES, 3), (Mlp, ROWS, 3)])
def test_products_are_computed_in_int8(kind, shape, layers, form):
    module = made(kind)
    x = batches(shape, 1, seed=7)[0]
    int8 = compiled(form(module, x), shape)
    (calibration,) = calibrations(int8)
    assert calibration.quantized_layers == len(calibration.layers) == layers
    assert calibration.calls == 4 and not calibration.is_cached and not calibration.reason
    assert 1e-4 < calibration.error < 0.05
    assert {layer.kind for layer in calibration.layers} <= {"convolution", "matrix_multiply"}
    assert all("test_int8.py" in layer.location or "torch/nn" in layer.location for layer in calibration.layers)
    assert 1e-4 < off_by(int8, module, x) < 0.05  # and not the float engine in disguise
    steps = {step.family for segment in torchtrt.report(int8).segments for step in segment.steps}
    assert steps & {"quantized_convolution", "quantized_matrix_multiply"}


def test_lenet(tmp_path):
    module = nets.lenet()
    int8 = compiled(torch.jit.script(module), None, [nets.images(16, seed) for seed in range(3)], inputs=[torchtrt.Input([16, 1, 32, 32])])
    (calibration,) = calibrations(int8)
    assert calibration.quantized_layers >= 3
    assert off_by(int8, module, nets.images(16, 9)) < 0.1


@pytest.mark.parametrize("algo", list(ptq.CalibrationAlgo))
@pytest.mark.parametrize("symmetric", [False, True])
def test_every_way_to_take_a_range(algo, symmetric):
    module = made(Mlp)
    int8 = compiled(module, ROWS, with_={"algo_type": algo, "symmetric": symmetric, "percentile": 99.9})
    assert calibrations(int8)[0].quantized_layers == 3
    assert 1e-4 < off_by(int8, module, batches(ROWS, 1, 7)[0]) < 0.1


def test_the_report_tells_each_layer():
    int8 = compiled(made(Cnn), IMAGES, accuracy_target=0.3)
    report = torchtrt.report(int8)
    (calibration,) = calibrations(int8)
    assert 1e-4 < calibration.error < 0.05
    assert "; int8: 3 of 3 layers, engines off by " in report.summary()
    assert "int8     3 of 3 layers, ranges from 4 calls, off by " in str(report)
    record = json.loads(report.to_json())["segments"][0]["calibration"]
    assert [layer["is_quantized"] for layer in record["layers"]] == [True] * 3 and record["calls"] == 4
    assert [layer["error"] for layer in record["layers"]] == [None] * 3  # all of them meet the target
    assert "calibration" in [phase.name for phase in report.phases]


def test_a_float_compile_tells_of_no_calibration():
    report = torchtrt.report(torchtrt.compile(made(Mlp), inputs=[ROWS]))
    assert report.segments[0].calibration is None and "; int8: " not in str(report)


def test_saved_modules_load_and_give_the_same(tmp_path):
    int8 = compiled(made(Cnn), IMAGES)
    path = str(tmp_path / "int8.ts")
    int8.save(path)
    loaded = torch.jit.load(path)
    x = batches(IMAGES, 1, 7)[0]
    assert torch.equal(loaded(x), int8(x))
    assert calibrations(loaded)[0].quantized_layers == 3
    assert calibrations(loaded)[0].layers[0].name == calibrations(int8)[0].layers[0].name
    assert torchtrt.report(loaded).summary() == torchtrt.report(int8).summary()


def test_equal_modules_and_batches_give_equal_bytes():
    first, second = (torchtrt.convert_method_to_trt_engine(
        made(Cnn), inputs=[IMAGES], enabled_precisions=INT8, calibrator=ptq.DataLoaderCalibrator(batches(IMAGES))) for _ in range(2))
    assert first == second
    third = torchtrt.convert_method_to_trt_engine(
        made(Cnn), inputs=[IMAGES], enabled_precisions=INT8, calibrator=ptq.DataLoaderCalibrator(batches(IMAGES, seed=2)))
    assert first != third


def test_whole_engines():
    module, x = made(Cnn), batches(IMAGES, 1, 7)[0]
    full = compiled(module, IMAGES, require_full_compilation=True)
    engine = torchtrt.convert_method_to_trt_engine(
        module, inputs=[IMAGES], enabled_precisions=INT8, calibrator=ptq.DataLoaderCalibrator(batches(IMAGES)))
    embedded = torchtrt.ts.embed_engine_in_new_module(engine)
    assert torch.equal(embedded(x), full(x)) and 1e-4 < off_by(embedded, module, x) < 0.05


def test_engines_between_segments_of_pytorch_and_in_loops():
    module = made(nets.Mixed)
    x = batches([64, 32], 1, 7)[0]
    int8 = compiled(module, [64, 32], min_block_size=1, with_={"algo_type": ptq.CalibrationAlgo.MINMAX_CALIBRATION})
    of_first, *_, of_loop = calibrations(int8)
    assert len(calibrations(int8)) >= 2 and of_first.quantized_layers == 1 and of_loop.quantized_layers == 1
    assert (of_first.calls, of_loop.calls) == (4, 12)
    assert 1e-5 < off_by(int8, module, x) < 0.05


def test_what_no_batch_reaches_stays_in_float():
    module = made(Gated)
    data = [batch if batch.sum() > 0 else -batch for batch in batches(ROWS, 8)]
    int8 = compiled(module, ROWS, data, min_block_size=1)
    reasons = sorted(calibration.reason for calibration in calibrations(int8))
    assert "no calibration batch reaches it" in reasons and "" in reasons
    assert "no calibration batch reaches it" in str(torchtrt.report(int8))
    assert off_by(int8, module, data[0]) < 0.05 and off_by(int8, module, -data[0]) < 0.05


def test_state_is_as_it_was_and_other_methods_are_there():
    module, x = made(Counting), batches(ROWS, 1, 7)[0]
    int8 = compiled(module, ROWS)
    assert sum(calibration.quantized_layers for calibration in calibrations(int8)) == 2
    assert module.calls.item() == 0 and int8.calls.item() == 0
    assert off_by(int8, module, x) < 0.05 and off_by(int8, module, x) < 0.05 and int8.calls.item() == 2
    assert torch.equal(int8.halved(x), module.halved(x))


def test_dynamic_shapes():
    module = made(Cnn)
    data = [torch.cat(batches(IMAGES, 1, seed))[:size] for seed, size in enumerate([1, 3, 4])]
    ranges = torchtrt.Input(min_shape=[1, 3, 32, 32], opt_shape=[2, 3, 32, 32], max_shape=[8, 3, 32, 32])
    int8 = compiled(module, None, data, inputs=[ranges])
    assert calibrations(int8)[0].calls == 3
    for size in [1, 5, 8]:
        x = torch.cat(batches(IMAGES, 2, 9))[:size]
        assert 1e-4 < off_by(int8, module, x) < 0.05


def test_layers_stay_in_float_until_the_target_is_met():
    module, x = made(Cnn), batches(IMAGES, 1, 7)[0]
    none = compiled(module, IMAGES, accuracy_target=1e-7)
    (calibration,) = calibrations(none)
    assert calibration.quantized_layers == 0 and len(calibration.layers) == 3
    assert all(layer.reason and layer.error > 1e-7 for layer in calibration.layers)
    assert "; alone in int8 off by " in str(torchtrt.report(none))
    errors = sorted(layer.error for layer in calibration.layers)
    some = compiled(module, IMAGES, accuracy_target=errors[0] * 1.01)
    assert 0 < calibrations(some)[0].quantized_layers < 3
    assert off_by(some, module, x) < 3 * errors[0]


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)

    def forward(self, x, mask):
        return self.first(x).masked_fill(mask, float("-inf"))


def test_results_that_are_not_finite_have_to_be_the_same_and_no_more():
    module = made(Masked)
    x, mask = batches(ROWS, 1, seed=7)[0], torch.rand(32, 64) > 0.8
    inputs = [torchtrt.Input(ROWS), torchtrt.Input([32, 64], dtype=torch.bool)]
    int8 = compiled(torch.jit.script(module), None, [(each, mask) for each in batches(ROWS)], inputs=inputs)
    (calibration,) = calibrations(int8)
    assert calibration.quantized_layers == 1 and 1e-4 < calibration.error < 0.05
    assert torch.equal(int8(x, mask).isinf(), mask)


def test_samples_check_the_float_engine_first():
    x = batches(IMAGES, 1, 7)[0]
    int8 = compiled(made(Cnn), IMAGES, inputs=[x])
    assert calibrations(int8)[0].quantized_layers == 3


def test_int8_without_a_calibrator_says_that_nothing_is_quantized(capfd):
    module, x = made(Mlp), batches(ROWS, 1)[0]
    plain = torchtrt.compile(module, inputs=[ROWS], enabled_precisions=INT8)
    assert "no calibrator is given: nothing is quantized" in capfd.readouterr().err
    assert torch.equal(plain(x), torchtrt.compile(module, inputs=[ROWS])(x))


def test_results_that_int8_cannot_hold_stay_in_float(capfd):
    """Batches that say nothing of what comes later: their ranges clip it."""
    module = made(Mlp)
    nn.init.zeros_(module.third.bias)
    file_data = [batches(ROWS, 1)[0], *[each * 1e-4 for each in batches(ROWS)]]
    int8 = compiled(module, ROWS, file_data, with_={"algo_type": ptq.CalibrationAlgo.LEGACY_CALIBRATION, "percentile": 60})
    (calibration,) = calibrations(int8)
    assert calibration.quantized_layers == 0 and "are off by" in calibration.reason
    assert "stays in float" in capfd.readouterr().err
    x = batches(ROWS, 1, 7)[0]
    assert off_by(int8, module, x) < 1e-5


def test_the_reference_systems_names():
    torch_tensorrt, trtorch = pytest.importorskip("torch_tensorrt"), pytest.importorskip("trtorch")
    x = batches(ROWS, 1, 7)[0]
    expected = compiled(made(Mlp), ROWS)(x)
    calibrator = torch_tensorrt.ptq.DataLoaderCalibrator(
        batches(ROWS), use_cache=False, algo_type=torch_tensorrt.ptq.CalibrationAlgo.MINMAX_CALIBRATION, device=torch.device("cpu"))
    of_torch_tensorrt = torch_tensorrt.ts.compile(torch.jit.script(made(Mlp)), inputs=[torch_tensorrt.Input(ROWS)],
                                                  enabled_precisions={torch.float, torch.half, torch.int8}, calibrator=calibrator)
    of_trtorch = trtorch.compile(torch.jit.script(made(Mlp)), {
        "input_shapes": [ROWS], "op_precision": torch.int8, "calibrator": trtorch.ptq.DataLoaderCalibrator(batches(ROWS))})
    assert torch.equal(of_torch_tensorrt(x), expected) and torch.equal(of_trtorch(x), expected)
    with pytest.raises(torchtrt.CompileError, match="C003.*a calibrator cannot be given where a whole method becomes one engine"):
        torchtrt.ts.TensorRTCompileSpec(inputs=[ROWS], enabled_precisions=INT8, calibrator=calibrator)


def test_torchtrtc_calibrates(tmp_path):
    module, x = made(Mlp), batches(ROWS, 1, 7)[0]
    torch.jit.script(module).save(str(tmp_path / "mlp.ts"))
    torch.save(batches(ROWS), tmp_path / "batches.pt")
    cache = f"--calibration-cache-file={tmp_path / 'mlp.cache'}"
    common = [tmp_path / "mlp.ts", "--enable-precision=int8"]
    told = succeeds(*common, tmp_path / "int8.ts", "(32,64)", cache, f"--calibration-data={tmp_path / 'batches.pt'}").stderr
    assert re.search(r"^int8 +3 of 3 layers", told, re.MULTILINE), told
    succeeds(*common, tmp_path / "cached.ts", "(32,64)", cache)
    expected = compiled(module, ROWS)(x)
    for name in ["int8.ts", "cached.ts"]:
        assert torch.equal(torch.jit.load(str(tmp_path / name))(x), expected)
    told = succeeds(*common, tmp_path / "float.ts", "(32,64)", "--accuracy-target=1e-7",
                    f"--calibration-data={tmp_path / 'batches.pt'}").stderr
    assert re.search(r"^int8 +0 of 3 layers", told, re.MULTILINE), told
    assert "[C003]" in torchtrtc(*common, tmp_path / "no.ts", "(32,64)", f"--calibration-data={tmp_path / 'mlp.ts'}").stderr
    torch.save(3, tmp_path / "three.pt")
    assert "expected a list of batches" in torchtrtc(*common, tmp_path / "no.ts", "(32,64)", f"--calibration-data={tmp_path / 'three.pt'}").stderr


def test_verify_holds_int8_to_what_int8_can():
    module, x = made(Cnn), batches(IMAGES, 1, 7)[0]
    verification = torchtrt.verify(module, compiled(module, IMAGES), [x], calls=1)
    assert verification.agrees and verification.outputs.allowed == verification.segments[0].deviation.allowed == 0.5
    assert 1e-4 < verification.segments[0].deviation.relative < 0.1
    assert torchtrt.verify(made(Cnn, seed=3), compiled(module, IMAGES), [x], calls=1).outputs.difference


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.quantized_part = nn.Linear(64, 64)

    def forward(self, x):
        quantized_convolution = self.quantized_part(x)
        return torch.relu(quantized_convolution)


def test_verify_is_not_misled_by_names():
    module, x = made(Named), batches(ROWS, 1)[0]
    verification = torchtrt.verify(module, torchtrt.compile(torch.jit.script(module), inputs=[ROWS]), [x], calls=1)
    assert verification.segments[0].deviation.allowed < 0.01
