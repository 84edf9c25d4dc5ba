"""Every name of the reference systems and of the specification's documents works, or says what replaces it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import torchtrt
import torchtrt.runtime

BUILD = Path(os.environ["TORCHTRT_BUILD"])

# Expressions over these modules, as users write them. `relu` is a scripted ReLU, `x` a tensor of [2, 3], `compiled` a compiled module.
TORCH_TENSORRT = """
torch_tensorrt.compile(relu, ir="ts", inputs=[x])
torch_tensorrt.compile(relu, ir="torchscript", arg_inputs=[x])
torch_tensorrt.compile(relu, kwarg_inputs={"input": torch_tensorrt.Input([2, 3])})
torch_tensorrt.compile(relu, inputs=[x], enabled_precisions=torch.half)
torch_tensorrt.compile(relu, inputs=[x], enabled_precisions=torch_tensorrt.dtype.half)
torch_tensorrt.compile(relu, inputs=[x], enabled_precisions={torch.float, torch_tensorrt.dtype.f16})
torch_tensorrt.convert_method_to_trt_engine(relu, "forward", inputs=[x])
torch_tensorrt.convert_method_to_trt_engine(relu, "forward", kwarg_inputs={"input": x})
torch_tensorrt.save(compiled, path)
torch_tensorrt.save(compiled, path, output_format="torchscript", inputs=[x])
torch_tensorrt.load(path)
torch_tensorrt.get_build_info()
torch_tensorrt.dump_build_info()
torch_tensorrt.__version__
torch_tensorrt.dtype.unknown, torch_tensorrt.dtype.int8, torch_tensorrt.dtype.i32, torch_tensorrt.dtype.f32, torch_tensorrt.dtype.bf16, torch_tensorrt.dtype.b
torch_tensorrt.memory_format.linear, torch_tensorrt.memory_format.contiguous, torch_tensorrt.memory_format.channels_last
torch_tensorrt.TensorFormat.contiguous, torch_tensorrt.TensorFormat.channels_last
torch_tensorrt.EngineCapability.STANDARD, torch_tensorrt.EngineCapability.SAFETY, torch_tensorrt.EngineCapability.DLA_STANDALONE
torch_tensorrt.EngineCapability.default, torch_tensorrt.EngineCapability.safe_gpu, torch_tensorrt.EngineCapability.safe_dla
torch_tensorrt.DeviceType.GPU, torch_tensorrt.DeviceType.DLA, torch_tensorrt.DeviceType.UNKNOWN, torch_tensorrt.DeviceType.CPU
torch_tensorrt.Device("cuda:0"), torch_tensorrt.Device("gpu:1"), torch_tensorrt.Device("dla:0", allow_gpu_fallback=True)
torch_tensorrt.Device(gpu_id=0, dla_core=0, allow_gpu_fallback=True)
torch_tensorrt.Device(device_type=torch_tensorrt.DeviceType.GPU, gpu_id=0)
torch_tensorrt.Device._current_device()
torch_tensorrt.Input([2, 3]).shape_mode == torch_tensorrt.Input._ShapeMode.STATIC or 1 / 0
torch_tensorrt.Input(min_shape=[1, 3], opt_shape=[2, 3], max_shape=[4, 3]).shape_mode == torch_tensorrt.Input._ShapeMode.DYNAMIC or 1 / 0
torch_tensorrt.Input(min_shape=[1, 3], opt_shape=[2, 3], max_shape=[4, 3]).shape["opt_shape"] == [2, 3] or 1 / 0
torch_tensorrt.Input(torch_tensorrt.Input(min_shape=[1, 3], opt_shape=[2, 3], max_shape=[4, 3]).shape).max_shape == [4, 3] or 1 / 0
torch_tensorrt.Input([2, 3], dtype=torch.half, format=torch.channels_last, tensor_domain=(0.0, 1.0), name="x", is_shape_tensor=False)
torch_tensorrt.Input([2, 3]).is_trt_dtype() or 1 / 0
torch_tensorrt.Input([2, 3]).is_shape_tensor is False or 1 / 0
torch_tensorrt.Input([2, 3]).torch_tensor.shape == (2, 3) or 1 / 0
torch_tensorrt.Input([2, 3]).example_tensor()
torch_tensorrt.Input.from_tensor(x), torch_tensorrt.Input.from_tensors([x])
torch_tensorrt.ts.compile(relu, [x])
torch_tensorrt.ts.compile(relu, None, (x,), "cpu", False, False, {torch.float}, False, False, torch_tensorrt.EngineCapability.STANDARD, 1, 0, 1048576, 1073741824, 536870912, False, False, 1, [], [], False)
torch_tensorrt.ts.convert_method_to_trt_engine(relu, "forward", [x], "cpu", False, False, {torch.float}, False, False, torch_tensorrt.EngineCapability.default, 1, 0, 1048576, 1073741824, 536870912, False, False)
torch_tensorrt.ts.embed_engine_in_new_module(torch_tensorrt.ts.convert_method_to_trt_engine(relu, inputs=[x]), [], [], "cpu")
torch_tensorrt.ts.check_method_op_support(relu, "forward") or 1 / 0
torch_tensorrt.ts.TensorRTCompileSpec([torch_tensorrt.Input([2, 3])], None, "cpu", False, False, {torch.float}, False, False, torch_tensorrt.EngineCapability.STANDARD, 1, 0, 1048576, 1073741824, 536870912, False, False)
torch_tensorrt.ts.logging.Level.Graph, torch_tensorrt.ts.logging.log(torch_tensorrt.ts.logging.Level.Debug, "x")
torch_tensorrt.ts.ptq.CalibrationAlgo.ENTROPY_CALIBRATION_2
torch_tensorrt.logging.get_logging_prefix(), torch_tensorrt.logging.get_reportable_log_level(), torch_tensorrt.logging.get_is_colored_output_on()
torch_tensorrt.logging.set_logging_prefix(torch_tensorrt.logging.get_logging_prefix())
torch_tensorrt.logging.set_reportable_log_level(torch_tensorrt.logging.Level.Warning)
torch_tensorrt.logging.set_is_colored_output_on(False)
torch_tensorrt.logging.internal_errors(), torch_tensorrt.logging.errors(), torch_tensorrt.logging.warnings()
torch_tensorrt.logging.info(), torch_tensorrt.logging.debug(), torch_tensorrt.logging.graphs()
torch_tensorrt.ptq.CalibrationAlgo.ENTROPY_CALIBRATION, torch_tensorrt.ptq.CalibrationAlgo.LEGACY_CALIBRATION, torch_tensorrt.ptq.CalibrationAlgo.MINMAX_CALIBRATION
torch_tensorrt.ptq.DataLoaderCalibrator([x], algo_type=torch_tensorrt.ptq.CalibrationAlgo.ENTROPY_CALIBRATION_2, cache_file="c", use_cache=False, device=torch.device("cpu"))
torch_tensorrt.ptq.CacheCalibrator("c", algo_type=torch_tensorrt.ptq.CalibrationAlgo.ENTROPY_CALIBRATION_2)
torch.classes.tensorrt.Engine
torch.ops.tensorrt.execute_engine([x], engine), torch.ops.trt.execute_engine([x], engine)
"""

TRTORCH = """
trtorch.compile(relu, {"input_shapes": [[2, 3]]})
trtorch.compile(relu, {"input_shapes": [{"min": [1, 3], "opt": [2, 3], "max": [4, 3]}], "op_precision": torch.half})
trtorch.compile(relu, {"input_shapes": [[2, 3]], "torch_fallback": {"enabled": True, "min_block_size": 3, "forced_fallback_ops": ["aten::relu"]}})
trtorch.compile(relu, {"input_shapes": [[2, 3]], "torch_fallback": {"enabled": False}})
trtorch.CompileGraph(relu, {"input_shapes": [[2, 3]]})
trtorch.convert_method_to_trt_engine(relu, "forward", {"input_shapes": [[2, 3]]})
trtorch.ConvertGraphToTRTEngine(relu, "forward", {"input_shapes": [[2, 3]]})
trtorch.embed_engine_in_new_module(trtorch.ConvertGraphToTRTEngine(relu, "forward", {"input_shapes": [[2, 3]]}))
trtorch.check_method_op_support(relu, "forward"), trtorch.CheckMethodOperatorSupport(relu, "forward")
trtorch.TensorRTCompileSpec({"input_shapes": [[2, 3]]})
trtorch.DeviceType.GPU, trtorch.DeviceType.DLA
trtorch.dtype.half, trtorch.EngineCapability.default, trtorch.Input([1]), trtorch.Device("gpu:0")
trtorch.get_build_info(), trtorch.dump_build_info()
trtorch.logging.Level.Warning, trtorch.ptq.CalibrationAlgo.MINMAX_CALIBRATION
"""

# Names that cannot work here, and the message of each.
REPLACED = {
    'torch_tensorrt.Input(min_shape=[1], opt_shape=[2], max_shape=[3], is_shape_tensor=True)': r"\[C002\] .*shape tensor(.|\n)*sample_inputs",
    'torch_tensorrt.compile(relu, ir="dynamo", inputs=[x])': r'\[C003\] there is no front end "dynamo"\n  use ir="ts"',
    'torch_tensorrt.compile(relu, inputs=[x], device=torch_tensorrt.Device("cuda:99"))': r"\[C003\] .*GPU(.|\n)*cpu",
    'torch_tensorrt.compile(relu, inputs=[x], device="dla:0")': r"\[C003\] .*DLA(.|\n)*cpu",
    'torch_tensorrt.ts.embed_engine_in_new_module(b"", device="cuda:99")': r'\[C003\] the device cuda:99 cannot be used here(.|\n)*Device\("cpu"\)',
    "torch_tensorrt.set_device(99)": r"\[C003\] there is no device cuda:99",
    'torch_tensorrt.save(compiled, path, output_format="aot_inductor")': r"\[C003\] a compiled module has no form 'aot_inductor'",
    "torch_tensorrt.save(torch.nn.ReLU(), path)": r"\[C004\] cannot save a ReLU\n  give a ScriptModule",
    "torch_tensorrt.save(compiled)": r"\[C003\] no file was given",
    'torch_tensorrt.load("none.ts")': r"\[C004\] there is no file",
    "torch_tensorrt.compile(relu, inputs=[x], arg_inputs=[x])": r"\[C002\] inputs and arg_inputs are both given",
    'torch_tensorrt.compile(relu, kwarg_inputs={"y": x})': r"\[C002\] kwarg_inputs has \['y'\], and forward takes \['input'\]",
    'trtorch.compile(relu, {"input_shapes": [[2, 3]], "torch_fallback": True})': r'\[C003\] option torch_fallback(.|\n)*"forced_fallback_ops"',
    'trtorch.compile(relu, {"input_shapes": [[2, 3]], "device": "gpu:0"})': r"\[C003\] .*GPU",
}


class Names:
    """The names that the expressions above use."""

    def __init__(self, folder):
        import torch_tensorrt
        import trtorch

        self.x = torch.ones(2, 3)
        self.relu = torch.jit.script(nn.ReLU().eval())
        self.compiled = torchtrt.compile(self.relu, inputs=[self.x])
        self.path = str(folder / "compiled.ts")
        self.compiled.save(self.path)
        (self.engine,) = torchtrt.runtime.engines(self.compiled).values()
        self.torch, self.torch_tensorrt, self.trtorch = torch, torch_tensorrt, trtorch

    def value(self, expression):
        return eval(expression, vars(self))  # noqa: S307 - texts of this file


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    return Names(tmp_path_factory.mktemp("names"))


@pytest.mark.parametrize("expression", [*TORCH_TENSORRT.strip().splitlines(), *TRTORCH.strip().splitlines()])
def test_works(names, expression):
    names.value(expression)


@pytest.mark.parametrize("expression", REPLACED)
def test_says_what_replaces_it(names, expression):
    with pytest.raises(torchtrt.CompileError, match=REPLACED[expression]):
        names.value(expression)


def test_fallback_dictionary_means_what_the_documents_say(names):
    kept = names.value('trtorch.compile(relu, {"input_shapes": [[2, 3]], "torch_fallback": {"enabled": True, "forced_fallback_ops": ["aten::relu"]}})')
    assert torchtrt.report(kept).engine_segments == 0
    inverse = torch.jit.trace(lambda x: torch.linalg.inv(x), torch.eye(2))
    import trtorch

    with pytest.raises(torchtrt.CompileError, match="C001"):
        trtorch.compile(inverse, {"input_shapes": [[2, 2]], "torch_fallback": {"enabled": False}})


class Two(nn.Module):
    def forward(self, x, scale: float = 2.0, mask: torch.Tensor | None = None):
        y = torch.relu(x) * scale
        return y if mask is None else y * mask


@pytest.mark.parametrize("arguments", [
    {"arg_inputs": [torch.ones(2)]},
    {"arg_inputs": (torch.ones(2),), "kwarg_inputs": {"scale": 3.0}},
    {"kwarg_inputs": {"x": torchtrt.Input([2]), "mask": torchtrt.Input([2])}},
    {"inputs": [torch.ones(2)], "kwarg_inputs": {"mask": torch.ones(2), "scale": 3.0}},
])
def test_inputs_by_name_are_put_in_order(arguments):
    module = torch.jit.script(Two().eval())
    compiled = torchtrt.compile(module, **arguments)
    given = {name: value for name, value in arguments.get("kwarg_inputs", {}).items() if name != "x"}
    given = {name: torch.full((2,), 3.0) if name == "mask" else value for name, value in given.items()}
    x = torch.tensor([-1.0, 2.0])
    assert torch.equal(compiled(x, **given), module(x, **given))


def test_repr_says_what_it_is(names):
    assert repr(torchtrt.report(names.compiled)) == f"<torchtrt.Report: {torchtrt.report(names.compiled).summary()}>"
    loaded = torchtrt.load(names.path)
    assert repr(torchtrt.report(loaded)) == f"<torchtrt.Report: {torchtrt.report(loaded).summary()}>"
    assert repr(torchtrt.profile(names.compiled, [names.x], calls=1)).startswith("<torchtrt.Profile: ")
    assert repr(torchtrt.verify(names.relu, names.compiled, [names.x], calls=1)).startswith("<torchtrt.Verification: ")
    for text in ('Device("gpu:1")', 'Device("dla:1", allow_gpu_fallback=True)', 'Device("cpu")', "Device()"):
        device = eval(text, {"Device": torchtrt.Device})  # noqa: S307
        assert repr(device) == text and eval(repr(device), {"Device": torchtrt.Device}) == device  # noqa: S307
    assert repr(torchtrt.Device("cuda:1")) == 'Device("gpu:1")' and torchtrt.Device("cuda").device_type == "gpu"


def test_names_of_tensorrt_llm(capfd):
    """Checks the names of its graph rewriting: records, patterns, managers, layers and networks."""
    from torchtrt import functional, logging
    from torchtrt.graph_rewriting import (AnalysisPatternManager, FLayerInfoMemo, PatternRewriter, RewritePatternManager, Tensor, net_guard,
                                          record_signature)
    from torchtrt.network import Network

    @record_signature
    def scaled(x, factors, flag=True, name="scaled"):
        return functional.relu(x * factors[0]) if flag else x

    net = Network()
    with net_guard(net):
        x, a, b = (Tensor(name=name, shape=(2,)) for name in "xab")
        y = scaled(x, [a, b])
        y.mark_output("y")
        layer = net.get_layer_by_name(y.get_parent().name)
        assert layer.trt_layer.type == layer.as_layer().type and layer.trt_layer.name == layer.name
        record = FLayerInfoMemo.instance().get(layer.name)
        assert record.layer_kind == "scaled" and record.layer_name == layer.name
        assert record.raw_inputs == {"x": x, "factors": [a, b], "flag": True, "name": "scaled"} and record.raw_outputs == [y]
        assert record.get_input("x") == x and record.get_input("factors") == [a, b] and record.get_input("flag") is True
        assert record.signature == ("scaled", {"x": Tensor, "factors": [Tensor, Tensor], "flag": True, "name": "scaled"})

    class Replace(PatternRewriter):
        def __init__(self):
            super().__init__("replace", seperate_match_rewrite=True)

        def match(self, layer):
            self.log_info("not shown")
            self.log_warn("a warning")
            self.log_error("an error")
            return False

    with logging.warnings():
        manager = RewritePatternManager.instance()
        assert manager is RewritePatternManager.instance() and manager is not AnalysisPatternManager.instance()
        manager.add(label="names", pattern=Replace())
        assert not any(manager.rewrite(net).values())
    told = capfd.readouterr().err
    assert "pattern replace: a warning" in told and "pattern replace: an error" in told and "not shown" not in told


def test_submodules_are_imported_by_name():
    code = ("import torch_tensorrt.logging, torch_tensorrt.ptq, torch_tensorrt.ts, torch_tensorrt.ts.logging, torch_tensorrt.ts.ptq, trtorch.logging, "
            "trtorch.ptq\nfrom torch_tensorrt import ts, logging, ptq, Input, Device, DeviceType, EngineCapability, TensorFormat, dtype, save, load")
    subprocess.run([sys.executable, "-c", code], check=True)



def test_names_of_cpp(tmp_path):
    """Compiled as C++17; the program checks values, and fails to compile where a name is missing."""
    process = subprocess.run([BUILD / "bin" / "reference_names"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert process.returncode == 0, process.stdout + process.stderr


def test_public_headers_are_cxx17_too():
    """Those of the engine side each alone, in their own target; reference_names includes all."""
    subprocess.run(["ninja", "-C", BUILD, "public_headers_cxx17"], check=True, capture_output=True)
    command = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "public_headers_cxx17"], check=True, capture_output=True, text=True).stdout
    assert command.count("-std=gnu++17") + command.count("-std=c++17") >= 10 and "++20" not in command
