"""`./dev bench --neighbour`: what an engine costs others of its process, and what its first call costs.

ATen operators in a process whose engine has just been called beside those of one that has torch alone, in turn; CPU time after a call;
calls a second from several threads; first calls, of new processes, beside the module's that the engine was made of.
"""

import os
import statistics
import tempfile
from collections.abc import Callable

import processes
import table
import timing
import ways
from job import Job

ENGINE_MODEL = "mobilenet_v3_large"  # whose engine is the neighbour
FIRST_CALLS = ["lenet", "mobilenet_v3_large", "resnet50", "minilm", "ssd300", "silero_vad"]  # the last two have Torch segments
FIRST_PROCESSES = 5
IDLE_OPERATOR = "mm 384"
MAKING_SECONDS, ANSWER_SECONDS = 600, 120


def _engine(model: str, threads: int, folder: str) -> tuple[Job, dict]:
    """Leaves script.ts and engine.ts in `folder`."""
    processes.answer_of("model", Job("model", model, 1, threads, folder), MAKING_SECONDS)
    job = Job(ways.ENGINE, model, 1, threads, folder)
    return job, processes.answer_of("make", job, MAKING_SECONDS)


def _quartiles(values: list[float]) -> str:
    each = timing.of_samples(values)
    return f"{each.median:.3f} ({each.lower:.3f}..{each.upper:.3f})"


def pair_of(job: Job, threads: int) -> dict[str, processes.Process]:
    arguments = {"bare": [], "engine": [job.file("engine.ts"), job.model]}
    return {kind: processes.Process("neighbour_worker.py", [kind, str(threads), *more], job.file(f"neighbour-{kind}-{threads}.log"))
            for kind, more in arguments.items()}


def operators(pair: dict[str, processes.Process], names: list[str], rounds: int) -> str:
    samples: dict[str, dict[str, list[float]]] = {name: {kind: [] for kind in pair} for name in names}
    for name in names:
        once = pair["bare"].ask({"operator": name, "calls": 1}, ANSWER_SECONDS)["ms"] / 1e3
        for index in range(rounds):
            for kind in timing.turned(list(pair), index):
                asked = {"operator": name, "calls": timing.calls_per_round(once)}
                samples[name][kind].append(pair[kind].ask(asked, ANSWER_SECONDS)["ms"])
                pair[kind].wait_until_idle()
    rows = [[name, *(_quartiles(of[kind]) for kind in pair),
             f"{statistics.median(of['engine']) / statistics.median(of['bare']) - 1:+.1%}"] for name, of in samples.items()]
    return table.render(["ATen operator, ms", "torch alone", "after an engine's call", "more"], rows)


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
    one = statistics.median(speeds[1])
    rows = [[str(count), f"{statistics.median(each):.1f}", f"{statistics.median(each) / one:.2f}"] for count, each in speeds.items()]
    return table.render(["threads that call, each with one thread", "calls/s", "x one"], rows)


def first_call(job: Job) -> tuple[float, float]:
    """Milliseconds of the first call and of later ones, medians over new processes."""
    firsts, later = [], []
    for _ in range(FIRST_PROCESSES):
        process = processes.of_job("serve", job)
        try:
            loaded = process.listen(MAKING_SECONDS)
            calls = timing.calls_per_round(loaded["warm_seconds"])
            firsts.append(loaded["first_call_ms"])
            later.append(process.ask({"calls": calls, "warm": True}, MAKING_SECONDS)["ms"])
        finally:
            process.end()
    return statistics.median(firsts), statistics.median(later)


def first_calls(models: list[str], threads: int, say: Callable[[str], None]) -> str:
    rows = []
    for model in models:
        with tempfile.TemporaryDirectory(prefix="torchtrt-bench-") as folder:
            say(f"first calls of {model}")
            job, made = _engine(model, threads, folder)
            cells = []
            for way in (ways.ENGINE, "script"):
                first, later = first_call(Job(way, model, 1, threads, folder))
                cells += [f"{first:.2f}", f"{later:.2f}", f"{first / later:.2f}"]
            rows.append([model, f"{made['engines']} + {made['torch_segments']}", *cells])
    return table.render(["first call", "engines + PyTorch", "ms", "later ms", "x later", "TorchScript's ms", "later ms", "x later"], rows)


def main(models: list[str], threads: int, rounds: int, say: Callable[[str], None]) -> None:
    with tempfile.TemporaryDirectory(prefix="torchtrt-bench-") as folder:
        say(f"the engine of {ENGINE_MODEL}")
        job, _ = _engine(ENGINE_MODEL, threads, folder)
        print(f"the engine is {ENGINE_MODEL}'s, {threads} threads of {os.cpu_count()} cores, medians and quartiles of {rounds} rounds\n")
        for count in dict.fromkeys([threads, 1]):
            pair = pair_of(job, count)
            try:
                names = [process.listen(MAKING_SECONDS)["operators"] for process in pair.values()][0]
                load = timing.OthersLoad([process.pid for process in pair.values()])
                if count == threads:
                    say("ATen operators beside it")
                    print(operators(pair, names, rounds) + "\n")
                    say("CPU time after a call")
                    print(idle(pair["engine"], rounds) + "\n")
                if count == 1:
                    say("several callers")
                    print(callers(pair["engine"], rounds) + "\n")
                if load.share() > timing.LOAD_LIMIT:
                    print("measured under load, repeat on a quiet machine\n")
            finally:
                for process in pair.values():
                    process.end()
    print(first_calls(models or FIRST_CALLS, threads, say))
