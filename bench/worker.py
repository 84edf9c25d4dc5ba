"""A process of `./dev bench` that makes a way of running a model, or loads and calls it: `worker.py model|make|tune|serve JOB`.

`serve` tells what loading and the first calls took, then answers {"calls": N, "warm": whether to call once before} by {"ms": a call},
{"behind_loads": N} by {"ms": the median of so many calls, each behind what lies before the first one, done once more}, {"seconds": S} by
{"ms": the mean of the calls that begin within so long}, and {} by the memory. Every process has torch, also those that do not call it: what is imported counts for nobody.
"""

import os
import statistics
import sys
import time

import answers
import memory
import talk
from job import Job

WARM_CALLS, WARM_SECONDS = 6, 3  # whichever comes first, but two calls


def way_of(job: Job):
    import peers
    import ways

    return (ways.WAYS | peers.PEERS)[job.way]


def make(job: Job) -> dict:
    """make_seconds, make_peak_bytes beyond what the process held, and the way's own figures."""
    way = way_of(job)
    import ways

    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", job.file("inductor"))
    with ways.torch_libraries(job):
        if job.way == ways.ENGINE:
            import torchtrt  # noqa: F401 - its import is not a part of compiling
        given = way.given(job)
        before = memory.settled()
        memory.restart_peak()
        start = time.perf_counter()
        made = way.make(job, given)
        facts = {"make_seconds": time.perf_counter() - start, "make_peak_bytes": memory.peak() - before}
        return facts | way.finish(job, made)


def _reference_difference(job: Job, answer) -> float:
    import models
    import numpy

    with numpy.load(job.file("reference.npz")) as file:
        reference = [file[name] for name in file.files]
    return answers.difference(answers.flat(answer), reference, ordered=not models.ALL[job.model].detects)


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


def serve(job: Job, tell) -> None:
    way = way_of(job)
    with way.libraries(job):
        bare = memory.settled()
        memory.restart_peak()
        start = time.perf_counter()
        call = way.load(job)
        loaded = time.perf_counter()
        answer = call()
        first = time.perf_counter()
        spent = []
        while len(spent) < 2 or (len(spent) < WARM_CALLS and sum(spent) < WARM_SECONDS):
            begin = time.perf_counter()
            call()
            spent.append(time.perf_counter() - begin)
        figures = {"peak_bytes": memory.peak() - bare}
        tell({"load_seconds": loaded - start, "first_call_ms": (first - loaded) * 1e3, "warm_seconds": statistics.median(spent),
              "difference": _reference_difference(job, answer)})
        del answer
        for asked in talk.questions():
            if not asked:
                tell(figures | {"resident_bytes": memory.settled() - bare})
                continue
            if "behind_loads" in asked:
                tell({"ms": _behind_loads(lambda: way.load(job), call, asked["behind_loads"])})
                continue
            if "seconds" in asked:
                tell({"ms": _within(asked["seconds"], call)})
                continue
            if asked["warm"]:
                call()  # back into the caches after the others
            begin = time.perf_counter()
            for _ in range(asked["calls"]):
                call()
            tell({"ms": (time.perf_counter() - begin) / asked["calls"] * 1e3})


def main(tell) -> None:
    action, job = sys.argv[1], Job.from_json(sys.argv[2])
    if action == "serve":
        serve(job, tell)
    elif action == "make":
        tell(make(job))
    else:
        import ways

        tell({"model": ways.make_model, "tune": ways.tune}[action](job))


if __name__ == "__main__":
    talk.run(main)
