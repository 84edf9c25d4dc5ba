"""The samples of the specification's documents: the C++ programs of tests/documents, the Python calls, the printed graphs."""

import base64
import os
import re
import subprocess
from pathlib import Path

import pytest
import torch
from torch import nn

import models
import torchtrt
import torchtrt.runtime
import trtorch

BUILD = Path(os.environ["TORCHTRT_BUILD"])
TOLERANCE = {torch.float32: 1e-4, torch.float16: 2e-2}  # of the largest reference value

ENGINE_CALL = ["prim::GetAttr", "prim::ListConstruct", "tensorrt::execute_engine", "prim::ListUnpack"]


def assert_equal(actual: torch.Tensor, expected: torch.Tensor) -> None:
    assert actual.shape == expected.shape and actual.dtype == expected.dtype
    tolerance = TOLERANCE[expected.dtype]
    assert (actual.double() - expected.double()).abs().max() <= tolerance * expected.double().abs().max()


def run(*command) -> subprocess.CompletedProcess:
    process = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    return process


def node_kinds(module) -> list[str]:
    return [node.kind() for node in module.graph.nodes()]


@pytest.fixture(scope="module")
def lenet():
    return models.build("lenet")


@pytest.fixture(scope="module")
def image():
    return models.sample("lenet")


@pytest.fixture(scope="module")
def saved_lenet(lenet, tmp_path_factory):
    path = tmp_path_factory.mktemp("documents") / "lenet.ts"
    torch.jit.script(lenet).save(str(path))
    return path


@pytest.fixture(scope="module")
def compiled(lenet):
    return torchtrt.ts.compile(torch.jit.script(lenet), inputs=[torchtrt.Input([1, 1, 32, 32])])


class Holder(nn.Module):
    """Carries a tensor into a C++ program."""

    def __init__(self, tensor):
        super().__init__()
        self.register_buffer("input", tensor)

    def forward(self):
        return self.input


@pytest.fixture(scope="module")
def document_002(saved_lenet, image):
    """Returns the lines that the C++ samples of document 002 printed, and the engine file that they wrote."""
    input_file = saved_lenet.with_name("input.ts")
    engine_file = saved_lenet.with_name("engine_converted_from_jit.trt")
    torch.jit.script(Holder(image)).save(str(input_file))
    output = run(BUILD / "bin" / "document_002", saved_lenet, input_file, engine_file).stdout
    lines = output.splitlines()
    assert lines[0] == "ok"
    values = {name: torch.tensor([float(text) for text in numbers]) for name, *numbers in map(str.split, lines[1:])}
    return values, engine_file


@pytest.mark.parametrize("name", ["pytorch", "compiled"])
def test_002_cpp_compile_graph(document_002, lenet, image, name):
    assert_equal(document_002[0][name], lenet(image).detach().flatten())


def half_result(image):
    return models.build("lenet").half()(image.half()).detach()


def test_002_cpp_compile_graph_in_half(document_002, image):
    assert_equal(document_002[0]["half"].half(), half_result(image).flatten())


def test_002_cpp_written_engine_runs_when_embedded(document_002, image):
    module = torchtrt.ts.embed_engine_in_new_module(document_002[1].read_bytes())
    assert_equal(module(image.half()), half_result(image))


def test_002_converter_from_a_library_replaces_the_built_in_one(saved_lenet, lenet, image):
    output = saved_lenet.with_name("flattened.ts")
    library = BUILD / "lib" / "libflatten_converter.so"
    process = run(BUILD / "bin" / "torchtrtc", saved_lenet, output, "(1,1,32,32)", f"--custom-converters={library}")
    warnings = [line for line in process.stderr.splitlines() if "aten::flatten" in line and "replace" in line]
    assert warnings, process.stderr
    loaded = torch.jit.load(str(output))
    (engine,) = torchtrt.runtime.engines(loaded).values()
    assert "aten::flatten" in engine.inspect()
    assert_equal(loaded(image), lenet(image).detach())


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=4)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        return self.fc(torch.flatten(torch.nn.functional.adaptive_avg_pool2d(torch.relu(self.conv(x)), 1), 1))


def test_002_python_range_in_half():
    torch.manual_seed(0)
    model = SmallNet().eval()
    torch_script_module = torch.jit.script(model)
    compile_settings = {
        "input_shapes": [
            {
                "min": [1, 3, 224, 224],
                "opt": [1, 3, 512, 512],
                "max": [1, 3, 1024, 1024]
            },  # For static size [1, 3, 224, 224]
        ],
        "op_precision": torch.half  # Run with FP16
    }
    trt_ts_module = trtorch.compile(torch_script_module, compile_settings)

    reference = SmallNet().eval().half()
    reference.load_state_dict(model.half().state_dict())
    for size in [(224, 224), (512, 512), (1024, 1024), (300, 411)]:
        input_data = torch.randn(1, 3, *size)
        input_data = input_data.half()
        result = trt_ts_module(input_data)
        assert_equal(result, reference(input_data).detach())


@pytest.mark.parametrize("capture", ["trace", "script"])
def test_002_python_traced_and_scripted(lenet, image, capture):
    model = lenet
    if capture == "trace":
        module = torch.jit.trace(model, torch.empty([1, 1, 32, 32]))
    else:
        module = torch.jit.script(model)
    trt_ts_module = trtorch.compile(module, {"input_shapes": [[1, 1, 32, 32]]})
    assert_equal(trt_ts_module(image), lenet(image).detach())


def printed_tensor(text: str) -> torch.Tensor:
    """Reads a small matrix as libtorch prints it: blocks of columns, each maybe with a common factor."""
    values, factor = [], 1.0
    for line in text.splitlines():
        if scale := re.fullmatch(r"\s*([0-9.e+-]+) \*\s*", line):
            factor = float(scale.group(1))
        elif not line.startswith(("Columns", "[")):
            values += [factor * float(number) for number in line.split()]
    return torch.tensor(values)


def test_000_cpp(saved_lenet, lenet):
    output = run(BUILD / "bin" / "document_000", saved_lenet).stdout
    assert "CPUFloatType{1,10}" in output
    expected = lenet(torch.ones(1, 1, 32, 32)).detach().flatten()
    assert (printed_tensor(output) - expected).abs().max() <= 1e-3 * expected.abs().max()  # four digits are printed


def test_000_python(lenet, image):
    ts_model = torch.jit.script(lenet)
    trt_model = torchtrt.ts.compile(ts_model, **{
        "inputs": [torchtrt.Input([1, 1, 32, 32])],
        "min_block_size": 3,
        "torch_executed_ops": [],
        "torch_executed_modules": [],
    })
    assert_equal(trt_model(image), lenet(image).detach())


def test_004_graph_of_a_compiled_module(compiled):
    assert node_kinds(compiled) == ENGINE_CALL
    attribute, listed, execute, unpacked = compiled.graph.nodes()
    self_value, input_value = compiled.graph.inputs()
    assert self_value.debugName() == "self_1"
    assert re.search(r"__torch__\.(\w+\.)*LeNet_trt", self_value.type().str())
    assert attribute.s("name").startswith("__torch__") and attribute.s("name").endswith("LeNet_trt_engine")
    assert str(attribute.output().type()) == "__torch__.torch.classes.tensorrt.Engine"
    assert [value.debugName() for value in listed.inputs()] == [input_value.debugName()]
    assert [value.debugName() for value in execute.inputs()] == [
        listed.output().debugName(), attribute.output().debugName()]
    assert [value.debugName() for value in compiled.graph.outputs()] == [unpacked.output().debugName()]


class TwoOutputs(nn.Module):
    def forward(self, x):
        return torch.relu(x), torch.sigmoid(x)


def test_004_graph_with_several_outputs_ends_in_a_tuple():
    module = torchtrt.ts.compile(torch.jit.script(TwoOutputs().eval()), inputs=[torchtrt.Input([2, 3])])
    assert node_kinds(module) == [*ENGINE_CALL, "prim::TupleConstruct"]
    assert len(list(module.graph.findNode("prim::ListUnpack").outputs())) == 2
    assert module.graph.findNode("prim::TupleConstruct").output().type().str() == "(Tensor, Tensor)"
    x = torch.randn(2, 3)
    for actual, expected in zip(module(x), TwoOutputs()(x), strict=True):
        assert_equal(actual, expected)


def test_004_engine_pickles_to_four_strings(compiled, tmp_path):
    compiled.save(str(tmp_path / "compiled.ts"))
    loaded = torch.jit.load(str(tmp_path / "compiled.ts"))
    (name, engine), = torchtrt.runtime.engines(loaded).items()
    (strings, weights, *_), _ = engine.__getstate__()
    assert len(strings) == 4
    abi_version, engine_name, device, plan = strings
    assert abi_version == "3"
    assert engine_name == name
    assert "cpu" in device.lower()
    assert len(base64.b64decode(plan, validate=True)) > 100
    assert all(isinstance(weight, torch.Tensor) for weight in weights)


def test_004_engine_is_made_of_four_strings_alone(lenet, compiled, image):
    """The constructor takes the four strings without tensors beside them; the plan then carries its weights."""
    serialized = torchtrt.ts.convert_method_to_trt_engine(
        torch.jit.script(lenet), "forward", inputs=[torchtrt.Input([1, 1, 32, 32])])
    (original,) = torchtrt.runtime.engines(compiled).values()
    (strings, *_), _ = original.__getstate__()
    abi_version, _, device, _ = strings
    engine = torch.classes.tensorrt.Engine([abi_version, "by_hand", device, base64.b64encode(serialized).decode()])
    assert engine.name() == "by_hand"
    (result,) = torch.ops.tensorrt.execute_engine([image], engine)
    assert_equal(result, lenet(image).detach())
