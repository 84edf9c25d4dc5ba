"""The benchmark's own arithmetic: quartiles, ratios and wins, tables, taking up a run, and processes that fail. No speed is asserted."""

import json

import answers
import columns
import flat
import flat_worker
import kept
import neighbour
import numpy
import peers
import plot
import processes
import pytest
import report
import timing
import torch
import turns
import verdict
from job import Cell, Job

NAMES = ["eager", "script", "freeze", "optimize_for_inference", "inductor", "onnxruntime", "openvino", "engine"]


def figures(*samples: float, **others) -> dict:
    """Returns the figures of a way that takes these milliseconds."""
    return {"make_seconds": 1.5, "load_seconds": 0.5, "first_call_ms": 3 * samples[0], "resident_bytes": 7e6, "peak_bytes": 9e6,
            "difference": 1e-6, "samples_ms": list(samples), "milliseconds": vars(timing.of_samples(list(samples))), **others}


def result(model: str = "lenet", **changed) -> dict:
    all_ways = {name: figures(4.0, 4.0, 4.0) for name in NAMES} | {
        "engine": figures(1.0, 2.0, 3.0, engines=1, torch_segments=0, tuning={"seconds": 2.25, "slower": 3}, make_peak_bytes=2e6,
                          file_bytes=3e5, flops=4e6, peak_flops_per_second=1e11)}
    return {"model": model, "batch": 1, "threads": 2, "device": "cpu", "dtype": "float32", "rounds": 3, "load": 0.0,
            "weight_bytes": 1e6, "ways": all_ways | changed}


def test_quartiles():
    assert timing.of_samples([4.0, 1.0, 3.0, 2.0, 5.0, 6.0, 7.0]) == timing.Timing(4.0, 2.0, 6.0, 7)


def test_another_is_first_in_every_round():
    assert [timing.turned(["a", "b", "c"], i)[0] for i in range(4)] == ["a", "b", "c", "a"]


@pytest.mark.parametrize("seconds, calls", [(0.5, 1), (0.002, 10), (1e-9, 1000)])
def test_calls_of_a_round(seconds, calls):
    assert timing.calls_per_round(seconds) == calls


def test_ratio_is_to_the_fastest_that_is_right():
    assert verdict.ratio(result(openvino=figures(3.0, 3.0, 3.0)), NAMES) == verdict.Ratio("openvino", 1.5, 1.0, 3.0)
    wrong = figures(3.0, 3.0, 3.0, difference=0.5)
    assert verdict.ratio(result(openvino=wrong), NAMES).value == 2.0
    assert "off by 0.5" in verdict.problem(wrong)
    assert verdict.ratio(result(openvino={"error": "no"}), NAMES).best != "openvino"
    assert verdict.ratio(result(openvino=figures(3.0, 3.0, 3.0)), ["script", "engine"]).best == "script"
    assert verdict.ratio(result(engine={"error": "no"}), NAMES) is None


def test_summary_counts_wins_and_names_the_rest():
    failed = {"error": "RuntimeError: cannot"}
    results = [result("a"), result("b", openvino=figures(1.0, 1.0, 1.0)), result("c", inductor=failed, openvino=failed),
               result("d", engine=failed)]
    text = verdict.summary(results, NAMES)
    assert "faster than the best of all others: 1 of 4 models; geometric mean of the ratios 1.26" in text
    assert "slower: b 0.50 of openvino" in text
    assert "run it: c" in text and "not compared: d" in text


def test_tables_show_what_failed():
    text = report.whole([result(inductor={"error": "BackendError: no compiler"}), result("unet")], NAMES)
    lines = text.splitlines()
    assert any(line.startswith("lenet") and "failed" in line for line in lines)
    assert "  lenet, inductor: BackendError: no compiler" in lines
    assert any("2.00 (1.33..4.00) eager" in line for line in lines)
    assert any("2.0, 2% of 100" in line for line in lines)
    assert any(line.split()[:8] == ["unet", "1.0", "1", "+", "0", "1.50", "2.25", "3"] for line in lines)


def test_tables_show_that_tuning_failed():
    broken = result()
    broken["ways"]["engine"]["tuning"] = {"error": "CompileError: no"}
    lines = report.whole([broken], NAMES).splitlines()
    assert "  lenet, tuning: CompileError: no" in lines
    assert any(line.split()[5:8] == ["1.50", "failed", "failed"] for line in lines)


def test_ways_that_make_nothing_have_a_dash():
    eager = figures(4.0, 4.0, 4.0)
    del eager["make_seconds"]
    assert report.by_way([result(eager=eager)], NAMES, columns.COSTS[0][1]).splitlines()[2].split()[:3] == ["lenet", "-", "1.50"]


def test_a_run_is_taken_up(tmp_path):
    file, here = str(tmp_path / "deep" / "bench.json"), {"build": "1"}
    kept.Kept(file, here).add(result())
    kept.Kept(file, here).add(result("unet"))
    again = kept.Kept(file, here)
    lenet = Cell("lenet", 1, 2)
    assert again.find(lenet, NAMES, 3)["model"] == "lenet"
    assert again.find(Cell("lenet", 8, 2), NAMES, 3) is None and again.find(lenet, NAMES, 4) is None
    assert again.find(lenet, [*NAMES, "another"], 3) is None
    assert kept.Kept(file, {"build": "2"}).find(lenet, NAMES, 3) is None
    again.add(result() | {"rounds": 9})
    assert sorted((r["model"], r["rounds"]) for r in json.loads((tmp_path / "deep" / "bench.json").read_text())["results"]) == [
        ("lenet", 9), ("unet", 3)]


def test_answers_of_every_kind():
    detections = ({}, [{"boxes": torch.ones(2, 4), "scores": torch.tensor([0.5, 0.25])}])
    assert [each.shape for each in answers.flat(detections)] == [(2, 4), (2,)]
    a, b = [numpy.array([1.0, 2.0])], [numpy.array([2.0, 1.0])]
    assert answers.difference(a, b) == 0.5 and answers.difference(a, b, ordered=False) == 0.0
    assert answers.difference(a, [numpy.zeros(3)]) == float("inf")
    assert answers.difference([numpy.array([numpy.nan])], [numpy.array([1.0])]) == float("inf")


@pytest.mark.parametrize("ways_of", [{}, {"inductor": {"error": "no"}}, {"engine": {"error": "no"}}])
def test_plot(tmp_path, ways_of):
    pytest.importorskip("matplotlib")
    plot.draw([result(**ways_of), result("unet") | {"batch": 8}], NAMES, str(tmp_path / "plot.png"))
    assert [path.name for path in tmp_path.iterdir()] == ["plot.png"]


@pytest.mark.parametrize("before, after, is_flat", [
    (100e6, 107e6, True), (100e6, 109e6, False), (2e9, 2.015e9, True), (2e9, 2.03e9, False)])
def test_flat(before, after, is_flat):
    assert flat.is_flat(before, after) == is_flat


def test_memory_beside():
    theirs = figures(1.0, 1.0, 1.0, resident_bytes=14e6)
    lines = flat.beside([result(onnxruntime=theirs), result("unet", onnxruntime={"error": "no"})]).splitlines()
    assert lines[2].split() == ["lenet", "1.0", "7.0", "14.0", "9.0", "9.0", "0.50"]
    assert lines[3].split() == ["unet", "1.0", "7.0", "failed", "9.0", "failed", "-"]


def test_growth_is_told_at_a_tenth_and_at_the_end():
    told = []
    flat_worker.calls("lstm, scripted", 20, told.append)
    flat_worker.compiles("lenet", 10, told.append)
    assert len(told) == 4 and all(each["bytes"] > 1e7 for each in told)


def job(folder, way: str) -> Job:
    return Job(way, "lenet", 2, 1, str(folder))


def test_what_the_exporter_does_not_know(tmp_path, monkeypatch):
    """torch.diff, with which transformers' causal masks begin, and sums of truths, with which they go on."""
    onnxruntime = pytest.importorskip("onnxruntime")

    class Differences(torch.nn.Module):
        def forward(self, x):
            return torch.diff(x), torch.diff(x, prepend=x[:, :1] - 1, dim=-1), (x > 2).cumsum(-1), x.float().cumsum(0)

    x = torch.tensor([[1, 4, 2], [3, 3, 9]])
    monkeypatch.setattr(peers.models, "arguments", lambda *_: (x,))
    exported = Job("onnxruntime", "gpt2", 1, 1, str(tmp_path))
    peers.write_onnx(exported, Differences())
    session = onnxruntime.InferenceSession(exported.file("onnxruntime.onnx"))
    answer = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    assert answers.difference(answer, answers.flat(Differences()(x))) == 0


def test_first_calls_beside_torchscripts():
    row = neighbour.first_calls(["lenet"], 1, lambda text: None).splitlines()[2].split()
    assert row[:4] == ["lenet", "1", "+", "0"] and all(float(cell) > 0 for cell in row[4:])


def test_processes(tmp_path, monkeypatch):
    """The engine and one that fails, over two rounds; the limit of time."""
    assert processes.answer_of("model", job(tmp_path, "model"), 300)["weight_bytes"] == 324_776
    made = processes.answer_of("make", job(tmp_path, "engine"), 300)
    assert made["engines"] == 1 and made["flops"] > 1e6 and made["file_bytes"] > 1e5
    serving = {"engine": processes.of_job("serve", job(tmp_path, "engine"))}
    loaded = serving["engine"].listen(300)
    assert loaded["difference"] < 1e-5 and loaded["load_seconds"] > 0
    beside = neighbour.neighbours_of(job(tmp_path, "engine"), 1)
    assert list(beside) == [neighbour.ALONE, neighbour.COPY, "TorchScript", neighbour.OURS]  # nobody made ONNX Runtime's file
    names = [process.listen(300)["operators"] for process in beside.values()]
    assert all(each == names[0] for each in names) and len(neighbour.operators(beside, names[0][:1], 2).splitlines()) == 3
    ours = beside[neighbour.OURS]
    assert "engine" in neighbour.idle(ours, 2) and neighbour.callers(ours, 2).splitlines()[2].split()[0] == "1"
    for process in beside.values():
        process.end()
    serving["lost"] = processes.of_job("serve", job(tmp_path, "freeze"))  # nobody made it
    samples, errors, _ = turns.rounds_of(serving, {"engine": 1e-4, "lost": 1e-4}, 2, 300)
    assert len(samples["engine"]) == 2 and "freeze.ts" in errors["lost"] and list(serving) == ["engine"]
    assert serving["engine"].ask({"behind_loads": 2}, 300)["ms"] > 0
    assert serving["engine"].ask({}, 300)["peak_bytes"] > 0
    monkeypatch.setattr(neighbour, "CROWDED_PROCESSES", 2)
    monkeypatch.setattr(neighbour.crowded, "SECONDS", 0.1)
    table = neighbour.calls_in_crowds(job(tmp_path, "engine"), lambda text: None).splitlines()
    assert [row.split()[0] for row in table[2:]] == ["nobody", "an", "a"] and table[0].split()[-3:] == ["TorchScript", "the", "engine"]
    with pytest.raises(processes.Failed, match="no answer within 0 s"):
        serving["engine"].listen(0.01)
