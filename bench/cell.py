"""One cell of the benchmark: a model, a batch and a number of threads, run in all ways."""

import tempfile
from collections.abc import Callable

import peers
import processes
import timing
import turns
import ways
from job import Job

TRIES = 3  # of measuring, under load


def _answer(action: str, job: Job, limit: float) -> dict:
    """The figures of a process, or its error."""
    try:
        return processes.answer_of(action, job, limit)
    except processes.Failed as failure:
        return {"error": str(failure)}


def _made(job: Job, limit: float) -> dict:
    """The figures of making a way, or its error; an engine's with those of making it once more, tuned, which nobody calls."""
    facts = _answer("make", job, limit) if (ways.WAYS | peers.PEERS)[job.way].make else {}
    return facts | ({"tuning": _answer("tune", job, limit)} if job.way == ways.ENGINE and "error" not in facts else {})


def measure(model: str, batch: int, threads: int, names: list[str], rounds: int, limit: float, say: Callable[[str], None]) -> dict:
    """Every way's figures under "ways", by name: seconds, bytes, samples of milliseconds a call and their quartiles, the difference from
    the reference; or its error. No process may take longer than `limit` seconds for one thing. `say` is told what is going on."""
    with tempfile.TemporaryDirectory(prefix="torchtrt-bench-") as folder:
        def job(name: str) -> Job:
            return Job(name, model, batch, threads, folder)

        say("the model")
        result = {"model": model, "batch": batch, "threads": threads, "rounds": rounds,
                  **processes.answer_of("model", job("model"), limit), "ways": {}}
        serving: dict[str, processes.Process] = {}
        try:
            for name in names:
                say(f"making {name}")
                facts = result["ways"][name] = _made(job(name), limit)
                if "error" in facts:
                    continue
                say(f"loading {name}")
                process = processes.of_job("serve", job(name))
                try:
                    facts |= process.listen(limit)
                    serving[name] = process
                except processes.Failed as failure:
                    facts["error"] = str(failure)
            _time(result, serving, rounds, limit, say)
        finally:
            for process in serving.values():
                process.end()
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
        try:
            facts[name] |= process.ask({}, limit)
        except processes.Failed as failure:
            facts[name]["error"] = str(failure)
