"""`./dev bench --precision` below float32 on a CPU: its ways, its tables, and all processes on a small model. No speed is asserted."""

import arguments
import cell
import devices
import numpy
import peers
import pytest
import report
import timing
import verdict
import ways
from job import Cell, Job

PEERS = ["inductor", "onnxruntime", "openvino"]


def figures(*samples: float, **others) -> dict:
    return {"load_seconds": 0.5, "first_call_ms": 3.0, "resident_bytes": 7e6, "peak_bytes": 9e6, "difference": 1e-2, "allowed": 2e-2,
            "samples_ms": list(samples), "milliseconds": vars(timing.of_samples(list(samples))), **others}


def result(**changed) -> dict:
    facts = {"eager": figures(4.0, 4.0, 4.0), "freeze": figures(3.0, 3.0, 3.0), "openvino": figures(1.0, 1.0, 1.0),
             ways.FLOAT32: figures(0.5, 1.0, 1.5), ways.ENGINE: figures(2.0, 2.0, 2.0)}
    return {"model": "lenet", "batch": 1, "threads": 2, "device": "cpu", "dtype": "bfloat16", "rounds": 3, "load": 0.0, "weight_bytes": 1e6,
            "ways": facts | changed}


def test_arguments():
    options = arguments.parse("", ["--precision", "bf16,i8,w4,float32", "--peers", "--batch", "2"])
    assert options.dtype == ["bfloat16", "int8", "int4", "float32"] and options.batch == [2]
    assert options.models == arguments.PRECISION_MODELS and len(options.models) == 10
    assert arguments.parse("", ["--precision", "f16", "--peers"]).batch == [1]


@pytest.mark.parametrize("dtype, names, needed", [
    ("float32", ["eager", "script", "freeze", "optimize_for_inference", *PEERS, "engine"], 2),
    ("float16", ["eager", "freeze", *PEERS, ways.FLOAT32, "engine"], 2),
    ("bfloat16", ["eager", "freeze", "inductor", "openvino", ways.FLOAT32, "engine"], 2),
    ("int8", [ways.QUANTIZED, "onnxruntime", "openvino", ways.FLOAT32, "engine"], 2),
    ("int4", ["onnxruntime", "openvino", ways.FLOAT32, "engine"], 2),
])
def test_ways_of_a_precision(dtype, names, needed):
    assert devices.of("cpu").names(dtype, PEERS) == names and devices.of("cpu").needed(dtype) == needed
    assert set(names) <= set(devices.of("cpu").ways)


def test_the_engine_in_float32_is_no_other_system():
    names = devices.of("cpu").names("bfloat16", ["openvino"])
    lines = report.whole([result()], names).splitlines()
    assert lines[0].startswith("batch 1, 2 threads, bfloat16: ") and "x float32" in lines[1]
    assert "0.50 (0.25..0.75)" in lines[3] and "0.50 (0.50..0.50) openvino" in lines[3]
    assert "slower: lenet 0.50 of openvino" in lines
    wrong = figures(1.0, 1.0, 1.0, difference=0.03)
    assert verdict.ratio(result(openvino=wrong), verdict.others(names)).best == "freeze"
    assert "no win, for fewer than 2 of inductor, openvino run it: lenet" in report.whole([result(openvino=wrong)], names)


@pytest.mark.parametrize("dtype, names", [
    ("bfloat16", ["eager", "freeze", ways.FLOAT32, "engine"]), ("float16", ["eager", ways.FLOAT32, "engine"]),
    ("int8", [ways.QUANTIZED, ways.FLOAT32, "engine"]), ("int4", [ways.FLOAT32, "engine"])])
def test_all_processes(dtype, names, monkeypatch):
    monkeypatch.setattr(cell, "TRIES", 1)
    measured = cell.measure(Cell("lenet", 2, 1, dtype=dtype), names, 2, 300, lambda text: None)
    found = measured["ways"]
    assert list(found) == names
    for name in names:
        assert verdict.problem(found[name]) is None and len(found[name]["samples_ms"]) == 2, name
    assert found[ways.FLOAT32]["difference"] < 1e-5 < found["engine"]["difference"]
    assert found["engine"]["engines"] == 1 and "tuning" not in found["engine"]


@pytest.mark.parametrize("dtype", ["float16", "int8", "int4"])
def test_other_systems_run_the_same_precision(dtype, monkeypatch):
    for package in ("onnxruntime", "openvino", "onnx_ir"):
        pytest.importorskip(package)
    monkeypatch.setattr(cell, "TRIES", 1)
    measured = cell.measure(Cell("lenet", 1, 1, dtype=dtype), ["onnxruntime", "openvino"], 2, 300, lambda text: None)
    differences = [measured["ways"][name]["difference"] for name in ("onnxruntime", "openvino")]
    assert all(1e-5 < each < 0.1 for each in differences), measured["ways"]


def test_integers_are_written_once_for_all(tmp_path, monkeypatch):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    job = Job("onnxruntime", "lenet", 1, 1, str(tmp_path), dtype="int8")
    ways.make_model(job)
    peers.write_onnx(job, peers._module(job))
    kinds = {node.op_type for node in onnx.load(peers.onnx_file(job)).graph.node}
    assert {"QuantizeLinear", "DequantizeLinear", "Conv"} <= kinds
    monkeypatch.setattr(peers, "_export", lambda *_: pytest.fail("it is there"))
    beside = Job("openvino", "lenet", 1, 1, str(tmp_path), dtype="int8")
    peers.write_onnx(beside, peers._module(beside))
    assert peers.onnx_file(beside) == peers.onnx_file(job)
    assert [each.dtype for each in job.arrays()] == [numpy.float32]
