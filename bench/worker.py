"""A process of `./dev bench` that makes a way of running a model, or loads and calls it: `worker.py model|make|ahead|tune|serve|gpu JOB`.

`serve` tells what loading and the first calls took, then answers {"calls": N, "warm": whether to call once before} by {"ms": a call},
{"behind_loads": N} by {"ms": the median of so many calls, each behind what lies before the first one, done once more}, {"seconds": S} by
{"ms": the mean of the calls that begin within so long}, and {} by the memory. Every process has torch, also those that do not call it: what is
imported counts for nobody.

On a GPU `make` and `serve` first tell {"ready": true} and wait to be asked (processes.Group). Calls follow each other without waiting for the GPU;
what is timed ends when the GPU is done. `gpu` tells which GPU it is.
"""

import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable

import answers
import gpu
import talk
from job import Job

WARM_CALLS, WARM_SECONDS = 6, 3  # whichever comes first, but two calls; on a GPU all, for engines and TorchInductor record calls


def way_of(job: Job):
    import devices

    return devices.of(job.device).ways[job.way]


def _wait_for_turn(job: Job, tell) -> None:
    if job.is_on_gpu:
        tell({"ready": True})
        next(talk.questions())


def make(job: Job, wait: Callable[[], None]) -> dict:
    """Makes the way when `wait` returns. make_seconds, make_peak_bytes beyond what the process held, and the way's own figures."""
    way, memory = way_of(job), gpu.memory_of(job)
    import ways

    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", job.file("inductor"))
    with way.libraries(job) if job.is_on_gpu else ways.torch_libraries(job):
        if job.way in (ways.ENGINE, ways.FLOAT32):
            import torchtrt  # noqa: F401 - its import is not a part of compiling
        wait()
        given = way.given(job)
        before = memory.settled()
        memory.restart_peak()
        start = time.perf_counter()
        made = way.make(job, given)
        gpu.wait(job)
        facts = {"make_seconds": time.perf_counter() - start, "make_peak_bytes": memory.peak() - before}
        return facts | way.finish(job, made)


def ahead(job: Job) -> dict:
    """What is told of the model, and of making the way, or its error. Others use the GPU meanwhile, so that nothing is told of memory."""
    model = _make_model(job)
    try:
        made = make(job, lambda: None)
    except Exception as problem:  # noqa: BLE001 - the cell's other ways are measured
        traceback.print_exc()
        return {"model": model, "made": {"error": talk.described(problem)}}
    del made["make_peak_bytes"]
    return {"model": model, "made": made}


def _make_model(job: Job) -> dict:
    import gpu_ways
    import ways

    return gpu_ways.make_model(job) if job.is_on_gpu else ways.make_model(job)


def _reference_difference(job: Job, answer: list) -> float:
    """Of an answer's arrays."""
    import models
    import numpy

    with numpy.load(job.file("reference.npz")) as file:
        reference = [file[name] for name in file.files]
    return answers.difference(answer, reference, ordered=not models.ALL[job.model].detects)


def _behind_loads(load, call, calls: int) -> float:
    """Milliseconds of the median call that finds the caches as loading leaves them."""
    spent = []
    for _ in range(calls):
        loaded = load()
        begin = time.perf_counter()
        call()
        spent.append(time.perf_counter() - begin)
        del loaded
    return statistics.median(spent) * 1e3


def _within(seconds: float, call) -> float:
    """Milliseconds of the mean call, of those that begin within so long."""
    calls, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        call()
        calls += 1
    return (time.perf_counter() - begin) / calls * 1e3


def _keeps_state(job: Job) -> bool:
    import models

    return models.ALL[job.model].keeps_state


def serve(job: Job, tell) -> None:
    way, memory = way_of(job), gpu.memory_of(job)
    with way.libraries(job):
        _wait_for_turn(job, tell)
        bare = memory.settled()
        memory.restart_peak()
        start = time.perf_counter()
        call = way.load(job)
        gpu.wait(job)
        loaded = time.perf_counter()
        answer = call()
        gpu.wait(job)
        first = time.perf_counter()
        answer = answers.flat(answer)
        spent = []
        least = WARM_CALLS if job.is_on_gpu else 2
        while len(spent) < least or (len(spent) < WARM_CALLS and sum(spent) < WARM_SECONDS):
            begin = time.perf_counter()
            call()
            gpu.wait(job)
            spent.append(time.perf_counter() - begin)
        figures = {"peak_bytes": memory.peak() - bare}
        difference = _reference_difference(job, answer)
        if job.is_on_gpu:
            if not _keeps_state(job):  # later calls are recorded ones
                difference = max(difference, _reference_difference(job, answers.flat(call())))
            figures["resident_bytes"] = memory.settled() - bare  # before others load: the GPU tells only what all hold
        tell({"load_seconds": loaded - start, "first_call_ms": (first - loaded) * 1e3, "warm_seconds": statistics.median(spent),
              "difference": difference})
        del answer
        for asked in talk.questions():
            if not asked:
                tell(figures if job.is_on_gpu else figures | {"resident_bytes": memory.settled() - bare})
                continue
            if "behind_loads" in asked:
                tell({"ms": _behind_loads(lambda: way.load(job), call, asked["behind_loads"])})
                continue
            if "seconds" in asked:
                tell({"ms": _within(asked["seconds"], call)})
                continue
            if asked["warm"]:
                call()  # back into the caches after the others
            gpu.wait(job)
            begin = time.perf_counter()
            for _ in range(asked["calls"]):
                call()
            gpu.wait(job)
            tell({"ms": (time.perf_counter() - begin) / asked["calls"] * 1e3})


def main(tell) -> None:
    action, job = sys.argv[1], Job.from_json(sys.argv[2])
    if action == "serve":
        serve(job, tell)
    elif action == "make":
        tell(make(job, lambda: _wait_for_turn(job, tell)))
    else:
        import ways

        tell({"model": _make_model, "ahead": ahead, "tune": ways.tune, "gpu": gpu.facts}[action](job))


if __name__ == "__main__":
    talk.run(main)
