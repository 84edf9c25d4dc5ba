"""A part of `./dev bench --neighbour`: the time of calls while others want the cores, too, as services that share a host do.

The others are endless loops, one for each core, or a second process that makes the same calls. Which threads the system then leaves on one
core is chance, and stays so for a while: each figure is the mean of calls in SECONDS of a new process, or of two.
"""

import contextlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import processes
import timing
from job import Job

SECONDS = 2
LOADING_SECONDS, ANSWER_SECONDS = 600, 120


def _milliseconds(process: processes.Process) -> float:
    return process.ask({"seconds": SECONDS}, ANSWER_SECONDS)["ms"]


@contextlib.contextmanager
def _serving(job: Job, count: int) -> Iterator[list[processes.Process]]:
    """So many processes that have loaded the job's file and called it a few times."""
    serving = []
    try:
        for _ in range(count):
            serving.append(processes.of_job("serve", job))
            serving[-1].listen(LOADING_SECONDS)
        yield serving
    finally:
        for process in serving:
            process.end()


def beside_loops(job: Job) -> float:
    with _serving(job, 1) as (process,):
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(timing.threads_available())]
        try:
            return _milliseconds(process)
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()


def beside_itself(job: Job) -> float:
    with _serving(job, 2) as pair:
        found: list[float] = []
        asking = [threading.Thread(target=lambda process=process: found.append(_milliseconds(process))) for process in pair]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        return sum(found) / len(found)


def alone(job: Job) -> float:
    with _serving(job, 1) as (process,):
        return _milliseconds(process)


CROWDS: dict[str, Callable[[Job], float]] = {
    "nobody": alone, "an endless loop for each core": beside_loops, "a second process like it": beside_itself}
