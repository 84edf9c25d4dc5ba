"""`./dev bench --neighbour`: what an engine costs others of its process, and what its first call costs.

ATen operators right behind a call of the engine, in turn with other processes: behind one of the module that it was made of, which takes as much
out of the caches but leaves ATen's own code there, behind ONNX Runtime's call, where that is installed, which leaves as little of ATen there as
the engine, behind a copy of as much memory as the engine's weights, which computes nothing and has no threads, and alone; CPU time after a call;
calls a second from several threads; calls while others want the cores (crowded.py); first calls, of new processes that loaded and prepared the engine, in later calls in a row and in later ones
that, as the first, come behind loading and preparing, beside those of the module that it was made of.
"""

import importlib.util
import os
import statistics
import tempfile
from collections.abc import Callable

import crowded
import processes
import table
import timing
import ways
from job import Job

ENGINE_MODEL = "mobilenet_v3_large"  # whose engine is the neighbour
FIRST_CALLS = ["lenet", "mobilenet_v3_large", "resnet50", "minilm", "ssd300", "silero_vad"]  # the last two have Torch segments
FIRST_PROCESSES = 5
CROWDED_PROCESSES = 5
CALLS_BEHIND_LOADS = 5  # of each such process
ALONE, OURS, PEER, COPY = "nothing", "the engine", "onnxruntime", "a copy"
CALLED = {"TorchScript": "script", "ONNX Runtime": PEER, OURS: ways.ENGINE}
IDLE_OPERATOR = "mm 384"
CALLS_BEHIND = 9  # of an operator a round, each behind a call of its own; the median is the round's
MAKING_SECONDS, ANSWER_SECONDS = 600, 120


def _engine(model: str, threads: int, folder: str) -> tuple[Job, dict]:
    """Leaves script.ts and engine.ts in `folder`."""
    processes.answer_of("model", Job("model", model, 1, threads, folder), MAKING_SECONDS)
    job = Job(ways.ENGINE, model, 1, threads, folder)
    return job, processes.answer_of("make", job, MAKING_SECONDS)


def _quartiles(values: list[float], form: str = "#.3g") -> str:
    each = timing.of_samples(values)
    return f"{each.median:{form}} ({each.lower:{form}}..{each.upper:{form}})"


def neighbours_of(job: Job, threads: int) -> dict[str, processes.Process]:
    """Processes by what is called in them: nothing, a copy, the module, its engine and, if its file was made, ONNX Runtime."""
    beside = {ALONE: processes.Process("neighbour_worker.py", [str(threads)], job.file(f"neighbour-{threads}.log"))}
    copied = str(os.path.getsize(job.file("engine.ts")))
    beside[COPY] = processes.Process("neighbour_worker.py", [str(threads), copied], job.file(f"neighbour-copy-{threads}.log"))
    for name, way in CALLED.items():
        called = Job(way, job.model, job.batch, threads, job.folder)
        if way != PEER or os.path.exists(called.file(f"{PEER}.onnx")):
            beside[name] = processes.Process("neighbour_worker.py", [str(threads), called.to_json()], job.file(f"neighbour-{way}-{threads}.log"))
    return beside


def operators(beside: dict[str, processes.Process], names: list[str], rounds: int) -> str:
    samples: dict[str, dict[str, list[float]]] = {name: {kind: [] for kind in beside} for name in names}
    for name in names:
        for index in range(rounds):
            for kind in timing.turned(list(beside), index):
                samples[name][kind].append(beside[kind].ask({"operator": name, "calls": CALLS_BEHIND}, ANSWER_SECONDS)["ms"])
                beside[kind].wait_until_idle()
    others = [name for name in beside if name not in (ALONE, OURS)]
    rows = [[name, *(_quartiles(of[kind]) for kind in beside),
             *(_quartiles([a / b - 1 for a, b in zip(of[OURS], of[other])], "+.0%") for other in others)] for name, of in samples.items()]
    return table.render(["ATen operator behind a call of, ms", *beside, *(f"engine to {other}" for other in others)], rows)


def idle(process: processes.Process, rounds: int) -> str:
    rows = []
    for title, name in [(f"ATen's {IDLE_OPERATOR}", IDLE_OPERATOR), ("engine", None)]:
        spent = []
        for _ in range(rounds):
            spent.append(process.ask({"idle": name}, ANSWER_SECONDS)["ms"])
            process.wait_until_idle()
        rows.append([title, _quartiles(spent)])
    return table.render(["CPU in 100 ms after a call of", "ms"], rows)


def callers(process: processes.Process, rounds: int) -> str:
    counts = sorted({1, 2, timing.threads_available()})
    speeds: dict[int, list[float]] = {count: [] for count in counts}
    for _ in range(max(2, rounds // 6)):  # each lasts a second
        for count in counts:
            speeds[count].append(process.ask({"callers": count}, ANSWER_SECONDS)["calls_per_second"])
    rows = [[str(count), _quartiles(each, ".1f"), _quartiles([a / b for a, b in zip(each, speeds[1])], ".2f")] for count, each in speeds.items()]
    return table.render(["threads that call, each with one thread", "calls/s", "x one"], rows)


def calls_in_crowds(job: Job, say: Callable[[str], None]) -> str:
    """Returns the table of calls in new processes, in turn: the engine, PyTorch and ONNX Runtime."""
    called = {name: Job(way, job.model, job.batch, job.threads, job.folder) for name, way in CALLED.items()}
    called = {name: each for name, each in called.items() if each.way != PEER or os.path.exists(each.file(f"{PEER}.onnx"))}
    rows = []
    for crowd, measure in crowded.CROWDS.items():
        samples: dict[str, list[float]] = {name: [] for name in called}
        for index in range(CROWDED_PROCESSES):
            say(f"calls beside {crowd}, {index + 1} of {CROWDED_PROCESSES}")
            for name in timing.turned(list(called), index):
                samples[name].append(measure(called[name]))
        rows.append([crowd, *map(_quartiles, samples.values())])
    return table.render(["calls on cores that are also wanted by, ms", *called], rows)


def first_call(job: Job) -> tuple[float, float, float]:
    """Milliseconds of the first call, of later ones in a row, and of later ones behind another load: medians over new processes."""
    firsts, later, behind = [], [], []
    for _ in range(FIRST_PROCESSES):
        process = processes.of_job("serve", job)
        try:
            loaded = process.listen(MAKING_SECONDS)
            calls = timing.calls_per_round(loaded["warm_seconds"])
            firsts.append(loaded["first_call_ms"])
            later.append(process.ask({"calls": calls, "warm": True}, MAKING_SECONDS)["ms"])
            behind.append(process.ask({"behind_loads": CALLS_BEHIND_LOADS}, MAKING_SECONDS)["ms"])
        finally:
            process.end()
    return statistics.median(firsts), statistics.median(later), statistics.median(behind)


def first_calls(models: list[str], threads: int, say: Callable[[str], None]) -> str:
    rows = []
    for model in models:
        with tempfile.TemporaryDirectory(prefix="torchtrt-bench-") as folder:
            say(f"first calls of {model}")
            _, made = _engine(model, threads, folder)
            cells = []
            for way in (ways.ENGINE, "script"):
                first, later, behind = first_call(Job(way, model, 1, threads, folder))
                cells += [f"{first:#.3g}", f"{later:#.3g}", f"{first / later:.2f}", f"{behind:#.3g}", f"{first / behind:.2f}"]
            rows.append([model, f"{made['engines']} + {made['torch_segments']}", *cells])
    each = ["later ms", "x later", "behind a load ms", "x those"]
    return table.render(["first call, prepared", "engines + PyTorch", "ms", *each, "TorchScript's ms", *each], rows)


def main(models: list[str], threads: int, rounds: int, say: Callable[[str], None]) -> None:
    with tempfile.TemporaryDirectory(prefix="torchtrt-bench-") as folder:
        say(f"the engine of {ENGINE_MODEL}")
        job, _ = _engine(ENGINE_MODEL, threads, folder)
        if importlib.util.find_spec(PEER):
            processes.answer_of("make", Job(PEER, ENGINE_MODEL, 1, threads, folder), MAKING_SECONDS)
        print(f"the engine is {ENGINE_MODEL}'s, {threads} threads of {os.cpu_count()} cores, medians and quartiles of {rounds} rounds\n")
        for count in dict.fromkeys([threads, 1]):
            beside = neighbours_of(job, count)
            try:
                names = [process.listen(MAKING_SECONDS)["operators"] for process in beside.values()][0]
                load = timing.OthersLoad([process.pid for process in beside.values()])
                if count == threads:
                    say("ATen operators beside it")
                    print(operators(beside, names, rounds) + "\n")
                    say("CPU time after a call")
                    print(idle(beside[OURS], rounds) + "\n")
                if count == 1:
                    say("several callers")
                    print(callers(beside[OURS], rounds) + "\n")
                if load.share() > timing.LOAD_LIMIT:
                    print("measured under load, repeat on a quiet machine\n")
            finally:
                for process in beside.values():
                    process.end()
        print(calls_in_crowds(job, say) + "\n")
    print(first_calls(models or FIRST_CALLS, threads, say))
