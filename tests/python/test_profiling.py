"""Where people look: PyTorch's profiler, traces, ONNX graphs, and counters."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import torch
from torch import nn

import models
import torchtrt
import torchtrt.runtime
from test_torchtrtc import succeeds, torchtrtc

EXAMPLES = Path(__file__).parents[2] / "examples"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3)
        self.second = nn.Linear(8, 4)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)).mean([2, 3]))


BATCHES = torchtrt.Input(min_shape=[1, 3, 8, 8], opt_shape=[2, 3, 8, 8], max_shape=[4, 3, 8, 8])


@pytest.fixture(scope="module")
def compiled():
    return torchtrt.compile(torch.jit.script(Net().eval()), inputs=[BATCHES])


@pytest.fixture(scope="module")
def file(compiled, tmp_path_factory):
    path = tmp_path_factory.mktemp("profiling") / "net.ts"
    compiled.save(str(path))
    return path


def engine_of(module):
    (engine,) = torchtrt.runtime.engines(module).values()
    return engine


def test_pytorchs_profiler_shows_every_step(compiled):
    x = torch.randn(2, 3, 8, 8)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler, torch.inference_mode():
        profiled = compiled(x)
    assert torch.equal(profiled, compiled(x))
    names = [event.name for event in profiler.events()]
    kernels = [line for line in engine_of(compiled).schedule([x]).splitlines() if re.match(r" +\d+ ", line)]
    steps = [name for name in names if name.startswith("torchtrt::")]
    assert len(steps) == len(kernels) and any(re.fullmatch(r"torchtrt::convolution \S.* \[\w+\]", name) for name in steps), steps
    assert f"torchtrt engine {engine_of(compiled).name()}" in names
    table = profiler.key_averages().table(sort_by="cpu_time_total")
    assert "torchtrt::convolution" in table and "tensorrt::execute_engine" in table


def test_steps_lie_inside_of_their_engine_in_the_exported_trace(compiled, tmp_path):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        compiled(torch.randn(2, 3, 8, 8))
    profiler.export_chrome_trace(str(tmp_path / "trace.json"))
    events = [each for each in json.loads((tmp_path / "trace.json").read_text())["traceEvents"] if "torchtrt" in each.get("name", "")]
    (outer,) = [each for each in events if each["name"].startswith("torchtrt engine ")]
    for each in events:
        assert outer["ts"] <= each["ts"] and each["ts"] + each["dur"] <= outer["ts"] + outer["dur"]


def test_nvtx_ranges_need_a_pytorch_with_cuda(file):
    """Without one, asking for them changes nothing."""
    succeeds("run", file, "(2,3,8,8)", "--calls=1", env={**os.environ, "TORCHTRT_NVTX": "1"})


def test_a_trace_of_a_profile_has_its_steps(file, tmp_path):
    succeeds("profile", file, "(2,3,8,8)", "--calls=2", "--trace", tmp_path / "trace.json", "--json", tmp_path / "profile.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    profile = json.loads((tmp_path / "profile.json").read_text())
    shown = [(each["name"], each["dur"]) for each in events if each["ph"] == "X" and each["tid"] == 1 and each["cat"] != "engine"]
    assert shown == [(step["name"], step["microseconds"]) for step in profile["engines"][0]["steps"]]
    ends = 0.0
    for each in events:
        if each["ph"] == "X" and each["tid"] == 1 and each["cat"] != "engine":
            assert each["ts"] == pytest.approx(ends, abs=0.01)
            ends = each["ts"] + each["dur"]


def test_a_trace_is_refused_before_the_work_where_it_cannot_be_written(file, tmp_path):
    process = torchtrtc("profile", file, "(2,3,8,8)", "--trace", tmp_path / "missing" / "trace.json")
    assert process.returncode == 1 and "missing" in process.stderr and not process.stdout


def test_a_profile_gives_its_trace_in_python(compiled):
    profile = torchtrt.profile(compiled, [torch.randn(2, 3, 8, 8)], calls=1)
    assert {each["name"] for each in json.loads(profile.to_trace())["traceEvents"]} >= {step.name for step in profile.engines[0].steps}


def fields(data: bytes) -> list[tuple[int, object]]:
    """Numbers and values of a message of Protocol Buffers, without its schema."""
    def varint(at):
        value = shift = 0
        while True:
            byte = data[at]
            value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
            if byte < 0x80:
                return value, at
    found, at = [], 0
    while at < len(data):
        key, at = varint(at)
        if key & 7 == 0:
            value, at = varint(at)
        else:
            length, at = (4, at) if key & 7 == 5 else varint(at)
            value, at = data[at:at + length], at + length
            assert len(value) == length
        found.append((key >> 3, value))
    return found


def of(message: bytes, number: int) -> list:
    return [value for field, value in fields(message) if field == number]


def test_the_onnx_graph_has_every_step_and_names_for_dims_that_vary(file, tmp_path):
    told = succeeds("inspect", file, "--onnx", tmp_path / "net.onnx")
    assert re.fullmatch(r"wrote +\S+net\.onnx, [\d.]+ (bytes|KB)\n", told.stderr) and not told.stdout
    (graph,) = of((tmp_path / "net.onnx").read_bytes(), 7)
    engine = engine_of(torch.jit.load(str(file)))
    families = re.findall(r"^  \d+ (\w+) ", engine.inspect().split("\nsteps\n")[1], re.MULTILINE)
    nodes = of(graph, 1)
    assert [name for node in nodes for name in of(node, 4) if name not in (b"view", b"output")] == [family.encode() for family in families]
    assert {domain for node in nodes for domain in of(node, 7)} == {b"torchtrt"}
    (value,) = of(graph, 11)
    shape = of(of(of(of(value, 2)[0], 1)[0], 2)[0], 1)
    assert [fields(dim)[0] for dim in shape] == [(2, engine.inputs()[0][2][0].encode()), (1, 3), (1, 8), (1, 8)]


@pytest.mark.parametrize("weights", [False, True])
def test_the_onnx_package_reads_the_graph(file, tmp_path, weights):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed (requirements-peers.txt)")
    path = tmp_path / "net.onnx"
    succeeds("inspect", file, "--onnx", path, *["--onnx-weights"] * weights)
    model = onnx.load(str(path))
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param
    assert {node.domain for node in model.graph.node} == {"torchtrt"}
    shapes = {tuple(each.dims) for each in model.graph.initializer}
    assert any(sorted(shape)[-2:] == [8, 27] or len(shape) == 4 for shape in shapes), shapes
    if weights:
        onnx.checker.check_model(model)
        values = [onnx.numpy_helper.to_array(each) for each in model.graph.initializer]
        assert all(value.size for value in values)


def test_an_engine_by_itself_is_a_graph_too(tmp_path):
    torch.jit.script(models.build("lenet")).save(str(tmp_path / "lenet.ts"))
    succeeds(tmp_path / "lenet.ts", tmp_path / "engine", "(1,1,32,32)", "--save-engine")
    succeeds("inspect", tmp_path / "engine", "--onnx", tmp_path / "lenet.onnx")
    assert b"convolution" in (tmp_path / "lenet.onnx").read_bytes()


ONNX_MISUSES = {
    "plain": (["plain.ts", "--onnx", "out.onnx"], 1, '[C004] "plain.ts" has no engines to show\n  compile it first'),
    "weights": (["plain.ts", "--onnx-weights"], 2, "[C003] --onnx-weights without --onnx writes nothing\n  give --onnx FILE"),
    "folder": (["plain.ts", "--onnx", "missing/out.onnx"], 1, "missing"),
}


@pytest.mark.parametrize("case", ONNX_MISUSES)
def test_misuse_of_onnx_is_told(case, tmp_path):
    torch.jit.script(nn.ReLU()).save(str(tmp_path / "plain.ts"))
    arguments, code, message = ONNX_MISUSES[case]
    process = torchtrtc("inspect", *arguments, cwd=tmp_path)
    assert process.returncode == code and message in process.stderr, process.stderr
    assert not (tmp_path / "out.onnx").exists()


def test_counters_count_calls_fallbacks_and_shapes():
    compiled = torchtrt.compile(torch.jit.script(Net().eval()), inputs=[BATCHES])
    name = engine_of(compiled).name()
    before = torchtrt.runtime.counters()[name]
    for batch in (1, 2, 1, 2):
        compiled(torch.randn(batch, 3, 8, 8))
    compiled(torch.randn(2, 3, 9, 9))  # PyTorch runs it
    after = torchtrt.runtime.counters()[name]
    grown = {key: after[key] - before[key] for key in after}
    assert (grown["calls"], grown["fallbacks"], grown["errors"]) == (4, 1, 0)
    assert grown["new_shapes"] <= 1 and grown["seconds"] > 0


def scraped(url: str) -> dict[str, float]:
    with urllib.request.urlopen(url, timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    return {line.split("{")[0]: float(line.split()[-1]) for line in lines if line and not line.startswith("#")}


@pytest.mark.parametrize("library", ["with prometheus_client", "without it"])
def test_the_example_serves_metrics(library, tmp_path):
    if library == "without it":
        (tmp_path / "prometheus_client.py").write_text("raise ImportError('left out')\n")
    else:
        pytest.importorskip("prometheus_client", reason="prometheus_client is not installed (requirements-integrations.txt)")
    environment = dict(os.environ)
    environment["PYTHONPATH"] = f"{tmp_path}:{environment.get('PYTHONPATH', '')}"
    process = subprocess.Popen([sys.executable, EXAMPLES / "metrics.py", "--port", "0", "--calls", "8"], stdout=subprocess.PIPE, text=True,
                               env=environment)
    try:
        values = scraped(process.stdout.readline().strip())
    finally:
        process.kill()
        process.wait()
    assert values["torchtrt_calls_total"] >= 8 and values["torchtrt_fallbacks_total"] == 1
    assert values["torchtrt_seconds_total"] > 0
