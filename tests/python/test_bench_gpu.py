"""The benchmark of a GPU as far as a machine without one can run it: arguments, rules, tables, and all processes with a GPU that is none."""

import gc
import os
import pathlib
import types
import weakref
from unittest import mock

import ahead
import arguments
import bench
import cell
import devices
import gpu
import gpu_ways
import job
import kept
import plot
import pytest
import report
import timing
import torch
import verdict
from job import Cell, Job

FAKE = pathlib.Path(__file__).parent / "fake_gpu"
NAMES = ["eager", "eager+graph", "freeze", "freeze+graph", "inductor", "onnxruntime", "engine"]
ALONE = [name for name in NAMES if name not in ("inductor", "onnxruntime")]


def figures(*samples: float, **others) -> dict:
    """Returns the figures of a way that takes these milliseconds."""
    return {"make_seconds": 1.5, "load_seconds": 0.5, "first_call_ms": 3 * samples[0], "resident_bytes": 7e6, "peak_bytes": 9e6, "allowed": 2e-2,
            "difference": 1e-3, "samples_ms": list(samples), "milliseconds": vars(timing.of_samples(list(samples))), **others}


def result(model: str = "lenet", dtype: str = "float16", **changed) -> dict:
    limits = {"flops": 4e9, "bytes": 1e9, "peak_flops_per_second": 8e12, "peak_bytes_per_second": 2e12, "bound_ms": 0.75}
    all_ways = {name: figures(4.0, 4.0, 4.0) for name in NAMES} | {
        "engine": figures(1.0, 2.0, 3.0, engines=1, torch_segments=0, make_peak_bytes=2e6, file_bytes=3e5, **limits)}
    return {"model": model, "batch": 1, "threads": 2, "device": "cuda:0", "dtype": dtype, "rounds": 3, "load": 0.0, "weight_bytes": 1e6,
            "eager_difference": 1e-3, "ways": all_ways | changed}


def test_defaults_of_a_gpu():
    options = arguments.parse("", ["--device", "cuda"])
    assert (options.device, options.dtype, options.batch, options.threads) == ("cuda:0", ["float16"], [1, 32], [timing.threads_available()])
    assert options.models == arguments.PEER_MODELS and options.peers == []
    options = arguments.parse("", ["--device", "cuda:1", "--peers", "--dtype", "tf32,bfloat16", "--batch", "8"])
    assert (options.device, options.dtype, options.batch, options.peers) == ("cuda:1", ["tf32", "bfloat16"], [8], ["inductor", "onnxruntime"])
    assert len(options.threads) == 1


def test_defaults_of_a_cpu():
    options = arguments.parse("", [])
    assert (options.device, options.dtype, options.batch, options.models) == ("cpu", ["float32"], [1], arguments.MODELS)
    options = arguments.parse("", ["--peers"])
    assert (options.peers, options.batch, options.models) == (["inductor", "onnxruntime", "openvino"], [1, 8], arguments.PEER_MODELS)


@pytest.mark.parametrize("given, told", [
    (["--device", "gpu"], 'expected "cpu", "cuda" or for example "cuda:1", got "gpu"'),
    (["--device", "cuda:"], 'got "cuda:"'),
    (["--device", "cuda", "--dtype", "half"], "unknown dtype 'half': expected one of float32, tf32, float16, bfloat16"),
    (["--dtype", "tf32"], "--precision tf32 is for a GPU: expected float32, float16, bfloat16, int8, int4"),
    (["--device", "cuda", "--precision", "w4"], "--precision int4 is for a CPU: expected float32, tf32, float16, bfloat16"),
    (["--precision", "bf16,f32", "--plot", "a.png"], "--plot draws one precision of a CPU, got bfloat16, float32"),
    (["--device", "cuda", "--peers", "openvino"], "unknown peer 'openvino': expected one of inductor, onnxruntime"),
    (["--device", "cuda", "--memory"], "--memory measures a CPU: expected --device cpu, got cuda:0"),
    (["--device", "cuda", "--ahead", "4"], "--ahead compiles TorchInductor's modules: expected --peers with inductor"),
    (["--device", "cuda:2", "--neighbour"], "--neighbour measures a CPU: expected --device cpu, got cuda:2"),
])
def test_arguments_that_do_not_fit(capsys, given, told):
    with pytest.raises(SystemExit):
        arguments.parse("", given)
    assert told in capsys.readouterr().err


def test_ways_of_a_device():
    assert devices.of("cpu").own == ["eager", "script", "freeze", "optimize_for_inference", "engine"]
    assert devices.of("cuda:3").own == ALONE and devices.of("cuda:3").peers == ["inductor", "onnxruntime"]
    assert set(devices.of("cuda:3").ways) == set(NAMES) and "openvino" in devices.of("cpu").ways


def test_jobs_name_device_and_dtype():
    each = Job.of_cell("freeze", Cell("lenet", 4, 2, "cuda:1", "tf32"), "/there")
    assert Job.from_json(each.to_json()) == each and each.is_on_gpu and (each.device, each.dtype) == ("cuda:1", "tf32")
    assert not Job("freeze", "lenet", 4, 2, "/there").is_on_gpu
    assert Cell.of_result({"model": "lenet", "batch": 4, "threads": 2, "rounds": 9}) == Cell("lenet", 4, 2, "cpu", "float32")


def test_results_of_another_dtype_are_not_taken(tmp_path):
    file = str(tmp_path / "bench.json")
    kept.Kept(file, {}).add(result())
    kept.Kept(file, {}).add(result(dtype="tf32"))
    again = kept.Kept(file, {})
    assert again.find(Cell("lenet", 1, 2, "cuda:0", "float16"), NAMES, 3)["dtype"] == "float16"
    assert again.find(Cell("lenet", 1, 2, "cuda:0", "bfloat16"), NAMES, 3) is None
    assert again.find(Cell("lenet", 1, 2, "cuda:1", "float16"), NAMES, 3) is None


@pytest.mark.parametrize("dtype, of_eager, expected", [
    ("float32", 1e-6, 1e-4), ("tf32", 1e-4, 1e-2), ("float16", 1e-3, 2e-2), ("bfloat16", 0.03, 0.06), ("float16", float("inf"), 2e-2)])
def test_allowed_differences(dtype, of_eager, expected):
    assert verdict.allowed(dtype, of_eager) == expected


def test_a_way_that_is_too_far_off_does_not_count():
    fast = {"freeze+graph": figures(1.0, 1.0, 1.0, difference=0.021)}
    assert "off by 0.02 of the largest value" in verdict.problem(fast["freeze+graph"])
    assert verdict.ratio(result(**fast), NAMES).value == 2.0
    fast["freeze+graph"]["allowed"] = 0.04
    assert verdict.ratio(result(**fast), NAMES) == verdict.Ratio("freeze+graph", 0.5, 1 / 3, 1.0)


def test_wins_want_another_system_only_where_one_is_asked_for():
    missing = {"error": "ModuleNotFoundError: No module named 'onnxruntime'"}
    assert verdict.has_peers(result(onnxruntime=missing), NAMES)
    assert not verdict.has_peers(result(onnxruntime=missing, inductor=missing), NAMES)
    assert verdict.has_peers(result(onnxruntime=missing, inductor=missing), ALONE)


def test_tables():
    missing = {"error": "ModuleNotFoundError: No module named 'onnxruntime'"}
    lines = report.whole([result("mobilenet_v3_large", onnxruntime=missing, eager=figures(400.0, 400.0, 400.0)), result("unet")], NAMES).splitlines()
    assert lines[0] == "batch 1, float16: milliseconds a call, medians of 3 rounds in turn"
    assert lines[1].split()[:8] == ["model", *NAMES]
    assert lines[3].split()[:8] == ["mobilenet_v3_large", "400.000", "4.000", "4.000", "4.000", "4.000", "failed", "2.000"]
    assert "2.00 (1.33..4.00) eager+graph" in lines[3] and max(map(len, lines)) <= 190
    of_engines = lines.index("engines")
    assert lines[of_engines + 1].endswith("TFLOP/s, of peak  GB/s, of memory's  bound ms  bound of median")
    assert lines[of_engines + 4].endswith("2.0, 25% of 8   500, 25% of 2000     0.750              38%")
    assert any(line.startswith("GPU memory held") for line in lines) and any(line.startswith("peak of GPU memory") for line in lines)
    differences = next(index for index, line in enumerate(lines) if line.startswith("difference from the reference"))
    assert lines[differences + 4].split() == ["unet", *["1.0e-03"] * 7]
    assert "  mobilenet_v3_large, onnxruntime: ModuleNotFoundError: No module named 'onnxruntime'" in lines
    assert "faster than the best of all others: 2 of 2 models; geometric mean of the ratios 2.00" in lines


def test_tables_without_other_systems_compare_with_all_ways():
    text = report.whole([result(**{"eager+graph": figures(3.0, 3.0, 3.0)})], ALONE)
    assert "1.50 (1.00..3.00) eager+graph" in text and "geometric mean of the ratios 1.50" in text


def test_an_engine_that_cannot_be_profiled_is_in_the_tables():
    broken = result()
    for name in ("flops", "bytes", "bound_ms"):
        del broken["ways"]["engine"][name]
    broken["ways"]["engine"]["profile_error"] = "EngineError: no"
    lines = report.whole([broken], NAMES).splitlines()
    assert "  lenet, profile: EngineError: no" in lines
    assert lines[lines.index("engines") + 3].split()[-5:] == ["-"] * 5


def test_scripted_models_stay_in_float32():
    assert bench.cell_of("ssd300", "float16", 1, 2, "cuda:0").dtype == "float32" == bench.cell_of("silero_vad", "bfloat16", 1, 2, "cuda:0").dtype
    assert bench.cell_of("ssd300", "tf32", 1, 2, "cuda:0").dtype == "tf32" and bench.cell_of("unet", "float16", 1, 2, "cuda:0").dtype == "float16"
    results = [result("ssd300", "float32"), result("unet")]
    half, single = (bench.of_table(results, ["unet", "ssd300"], (dtype, 1, 2, "cuda:0")) for dtype in ("float16", "float32"))
    assert [row["model"] for row in half] == ["unet", "ssd300 (float32)"] and [row["model"] for row in single] == ["ssd300"]
    assert report.setting(half[1]) == "batch 1, float16" and results[0]["model"] == "ssd300"


def test_the_bound_of_a_call_is_the_slower_limit_of_each_step():
    assert gpu_ways.bound_seconds([(4.0, 2.0, 1.0), (1.0, 2.0, 6.0)], 3.0) == 4.0


def test_limits_of_a_profile():
    """Two calls of an engine of three steps: one computes on tensor cores, one in float32, and one moves memory."""
    steps = [types.SimpleNamespace(flops=4e9, bytes=1e6, peak=8e12), types.SimpleNamespace(flops=1e9, bytes=1e6, peak=1e12),
             types.SimpleNamespace(flops=1e6, bytes=2e9, peak=1e12)]
    profile = types.SimpleNamespace(engines=[types.SimpleNamespace(calls=2, steps=steps)], bytes_per_second=1e12, tensor_flops_per_second=8e12,
                                    flops_per_second=1e12, peak_of=lambda step: step.peak)
    found = gpu_ways.limits(profile, "float16")
    assert (found["flops"], found["bytes"], found["peak_flops_per_second"]) == (10.002e9, 4.004e9, 8e12)
    assert gpu_ways.limits(profile, "float32")["peak_flops_per_second"] == 1e12
    assert found["bound_ms"] == pytest.approx(2 * (0.5 + 1.0 + 2.0))


def test_nests_of_tensors_are_moved():
    tokens, images = torch.ones(2, dtype=torch.int64), [torch.ones(3), torch.ones(3)]
    moved = gpu.moved((tokens, images, 16000), "cpu", gpu.dtype_of("float16"))
    assert moved[0].dtype == torch.int64 and [x.dtype for x in moved[1]] == [torch.float16] * 2 and moved[2] == 16000
    assert gpu.dtype_of("tf32") == torch.float32


def test_memory_is_what_the_driver_tells(monkeypatch):
    for name, value in {"synchronize": None, "mem_get_info": (30, 100), "memory_reserved": 20, "max_memory_reserved": 45}.items():
        monkeypatch.setattr(torch.cuda, name, lambda device, value=value: value)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    assert gpu.Memory("cuda:0").settled() == 70
    assert gpu.Memory("cuda:0").peak() == 50 + 45  # beside PyTorch's allocator, and the most that it held


def test_plot(tmp_path):
    pytest.importorskip("matplotlib")
    plot.draw([result(), result("unet", "tf32"), result("unet") | {"batch": 32}], NAMES, str(tmp_path / "plot.png"))
    assert [path.name for path in tmp_path.iterdir()] == ["plot.png"]


@pytest.fixture
def no_gpu(monkeypatch) -> str:
    """The name of a device that the benchmark's processes take for a GPU."""
    monkeypatch.setenv("PYTHONPATH", f"{FAKE}{os.pathsep}{os.environ['PYTHONPATH']}")
    return "cpu:0"


def test_the_environment_names_the_gpu(no_gpu):
    environment = bench.environment_of(no_gpu, 300)
    assert environment["gpu"] == "a GPU that is none" and {"torch", "CUDA", "cuDNN"} <= set(environment["versions"])
    assert bench.title(environment, ["float16", "tf32"]).startswith("a GPU that is none, driver ")
    assert bench.title(environment, ["float16", "tf32"]).endswith("; float16, tf32")


@pytest.mark.parametrize("side_by_side", [1, 8])
def test_all_processes(no_gpu, monkeypatch, side_by_side):
    """Makes, loads and calls; processes start in groups, and one way that cannot run does not end the others."""
    monkeypatch.setattr(cell.timing, "threads_available", lambda: 2 * side_by_side)
    monkeypatch.setattr(cell, "TRIES", 1)
    told = []
    names = ["eager", "eager+graph", "freeze", "freeze+graph", "onnxruntime", "engine"]
    measured = cell.measure(Cell("lenet", 2, 1, no_gpu, "float16"), names, 2, 300, told.append)
    ways = measured["ways"]
    assert (measured["device"], measured["dtype"], list(ways)) == (no_gpu, "float16", names)
    assert 0 < measured["eager_difference"] < 1e-2 and "rror" in ways["onnxruntime"]["error"]
    for name in names:
        if name != "onnxruntime":
            assert len(ways[name]["samples_ms"]) == 2 and 0 < ways[name]["difference"] < ways[name]["allowed"] == 2e-2, name
            assert ways[name]["resident_bytes"] == 0 and ways[name]["peak_bytes"] == 3_000_000
    assert ways["engine"]["engines"] == 1 and ways["engine"]["make_seconds"] > 0 and ways["engine"]["bound_ms"] > 0
    assert ways["freeze"]["file_bytes"] > 1e4 and "make_seconds" not in ways["eager+graph"]
    assert told.index("loading eager") > told.index("making eager+graph") if side_by_side > 1 else told[1:3] == ["making eager", "loading eager"]
    lines = report.whole([measured], names).splitlines()
    assert lines[0].startswith("batch 2, float16: ") and lines[3].split()[0] == "lenet" and "failed" in lines[3]


def test_what_is_made_ahead_is_not_made_again(no_gpu, monkeypatch, tmp_path):
    monkeypatch.setattr(ahead, "WAY", "freeze")  # TorchInductor would compile for a minute
    monkeypatch.setattr(cell, "TRIES", 1)
    monkeypatch.delenv(ahead.THREADS, raising=False)
    told, cells = [], [Cell("lenet", batch, 1, no_gpu, "float16") for batch in (1, 2, 3)]
    made = ahead.Ahead(tmp_path)
    assert made.find(cells[0]) is None
    made.make(cells, 2, 300, told.append)
    assert sorted(told)[2].startswith("lenet, batch 3, float16: freeze compiled for ") and ahead.THREADS not in os.environ
    there = made.find(cells[1])
    assert there.ways["freeze"]["make_seconds"] > 0 and "make_peak_bytes" not in there.ways["freeze"]
    told.clear()
    made.make(cells, 2, 300, told.append)
    assert not told
    measured = cell.measure(cells[1], ["eager", "freeze"], 2, 300, told.append, there)
    assert measured["ways"]["freeze"]["make_seconds"] == there.ways["freeze"]["make_seconds"] and len(measured["ways"]["freeze"]["samples_ms"]) == 2


def test_a_way_that_cannot_be_made_ahead_is_told(no_gpu, monkeypatch, tmp_path):
    monkeypatch.setattr(ahead, "WAY", "onnxruntime")
    told, each = [], Cell("lenet", 1, 1, no_gpu, "float16")
    ahead.Ahead(tmp_path).make([each], 1, 300, told.append)
    assert "rror" in told[0] and "rror" in ahead.Ahead(tmp_path).find(each).ways["onnxruntime"]["error"]


def test_a_model_that_keeps_state_is_not_captured():
    with pytest.raises(RuntimeError, match="keeps state from one call to the next"):
        gpu_ways.captured(lambda each: pytest.fail("it is loaded"))(Job("eager+graph", "silero_vad", 1, 1, "/nowhere", "cuda:0"))


def test_a_captured_call_keeps_what_the_graph_reads(monkeypatch):
    """A graph has addresses alone: the inputs live as long as the call that holds them."""
    fake = mock.MagicMock()
    for name in ("Stream", "current_stream", "stream", "CUDAGraph", "graph"):
        monkeypatch.setattr(torch.cuda, name, fake)

    class Call:
        def __call__(self):
            return "answer"

    calls = [Call()]
    kept = weakref.ref(calls[0])
    replay = gpu_ways.captured(lambda each: calls.pop())(Job("eager+graph", "lenet", 1, 1, "/nowhere", "cuda:0"))
    gc.collect()
    assert replay() == "answer" and kept() is not None and fake().replay.called


def test_dtypes_of_the_devices():
    assert job.DTYPES == tuple(verdict.ALLOWED) and set(job.SHORT.values()) == set(devices.of("cpu").dtypes)
    assert set(devices.of("cpu").dtypes) | set(devices.of("cuda:0").dtypes) == set(job.DTYPES)
