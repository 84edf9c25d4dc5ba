"""One cell of the benchmark: a model, a batch and a number of threads, and a dtype, run in all ways."""

import contextlib
import dataclasses
import tempfile
from collections.abc import Callable

import ahead
import devices
import processes
import timing
import turns
import verdict
import ways
from job import Cell, Job

TRIES = 3  # of measuring, under load


def _tuning(job: Job, limit: float) -> dict:
    """The figures of making an engine once more, tuned, which nobody calls; or their error."""
    try:
        return processes.answer_of("tune", job, limit)
    except processes.Failed as failure:
        return {"error": str(failure)}


def _side_by_side(names: list[str], job: Job) -> list[list[str]]:
    """Groups of ways whose processes start together: on a GPU one for every two cores, because time on it is dear."""
    most = max(1, timing.threads_available() // 2) if job.is_on_gpu else 1
    return [names[begin:begin + most] for begin in range(0, len(names), most)]


def measure(cell: Cell, names: list[str], rounds: int, limit: float, say: Callable[[str], None], made: ahead.Made | None = None) -> dict:
    """Every way's figures under "ways", by name: seconds, bytes, samples of milliseconds a call and their quartiles, the difference from
    the reference; or its error. No process may take longer than `limit` seconds for one thing. `say` is told what is going on. What was `made`
    ahead is not made again."""
    known = devices.of(cell.device).ways
    with contextlib.ExitStack() as at_end:
        folder = made.folder if made else at_end.enter_context(tempfile.TemporaryDirectory(prefix="torchtrt-bench-"))
        done = made.ways if made else {}
        jobs = {name: Job.of_cell(name, cell, folder) for name in names}
        model = Job.of_cell("model", cell, folder)
        say("the model")
        result = {**dataclasses.asdict(cell), "rounds": rounds, **(made.model if made else processes.answer_of("model", model, limit)), "ways": {}}
        serving: dict[str, processes.Process] = {}
        for group in _side_by_side(names, model):
            making = processes.Group("make", [jobs[name] for name in group if known[name].make and name not in done], limit)
            at_end.callback(making.end)
            for name in group:
                say(f"making {name}")
                facts = result["ways"][name] = done[name] if name in done else making.answer(name)
                if name in making.processes:
                    making.processes[name].end()  # what it holds of the GPU is free again
                if name == ways.ENGINE and "error" not in facts and not model.is_on_gpu and cell.dtype == "float32":
                    facts["tuning"] = _tuning(jobs[name], limit)
            able = [name for name in group if "error" not in result["ways"][name]]
            loading = processes.Group("serve", [jobs[name] for name in able], limit)
            at_end.callback(loading.end)
            for name in able:
                say(f"loading {name}")
                result["ways"][name] |= loading.answer(name)
                if "error" not in result["ways"][name]:
                    serving[name] = loading.processes[name]
        if model.is_on_gpu or cell.dtype != "float32":
            for facts in result["ways"].values():
                facts["allowed"] = verdict.allowed(cell.dtype, result["eager_difference"])
        _time(result, serving, rounds, limit, say)
    return result


def _time(result: dict, serving: dict[str, processes.Process], rounds: int, limit: float, say: Callable[[str], None]) -> None:
    facts = result["ways"]
    for attempt in range(TRIES):
        say(f"{rounds} rounds" + (f", again under load {result['load']:.2f}" if attempt else ""))
        timing.quiet()
        warm = {name: facts[name]["warm_seconds"] for name in serving}
        samples, errors, result["load"] = turns.rounds_of(serving, warm, rounds, limit)
        for name, error in errors.items():
            facts[name]["error"] = error
        if result["load"] <= timing.LOAD_LIMIT:
            break
    for name, process in serving.items():
        facts[name] |= {"samples_ms": samples[name], "milliseconds": vars(timing.of_samples(samples[name]))}
        facts[name] |= processes.figures(process, limit, {})
