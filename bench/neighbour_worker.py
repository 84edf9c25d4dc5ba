"""A process of `./dev bench --neighbour`: `neighbour_worker.py THREADS [JOB|BYTES]`. It calls JOB before each call of an operator that is
timed, or copies so many BYTES; without, the process has torch alone.

Answers {"operator": NAME, "calls": N} by {"ms": the median call}, {"idle": NAME or null for the job} by {"ms": of CPU time in IDLE_SECONDS
after a call}, and {"callers": N} by {"calls_per_second": of the job, from so many threads}.
"""

import contextlib
import statistics
import sys
import threading
import time

import talk
from job import Job

IDLE_SECONDS = 0.1
CALLERS_SECONDS = 1.0


def operators() -> dict:
    """ATen operators that run on all threads, by name."""
    import torch

    a, b = torch.randn(384, 384), torch.randn(384, 384)
    image, filters = torch.randn(1, 64, 56, 56), torch.randn(64, 64, 3, 3)
    values = torch.randn(1 << 20)
    return {
        "mm 384": lambda: torch.mm(a, b), "conv2d 64x56x56": lambda: torch.conv2d(image, filters, padding=1),
        "add 1M": lambda: torch.add(values, values), "exp 1M": lambda: torch.exp(values), "sum 1M": lambda: torch.sum(values),
        "softmax 384x384": lambda: torch.softmax(a, -1), "relu 100": lambda: torch.relu(values[:100]),
    }


def copy_of(bytes_copied: int):
    import numpy

    source, target = numpy.ones(bytes_copied, numpy.uint8), numpy.zeros(bytes_copied, numpy.uint8)
    return lambda: numpy.copyto(target, source)


def timed(call, before, calls: int) -> float:
    """Milliseconds of the median call, each behind one of `before`."""
    spent = []
    for _ in range(calls):
        before()
        start = time.perf_counter()
        call()
        spent.append(time.perf_counter() - start)
    return statistics.median(spent) * 1e3


def idle(call) -> float:
    """Milliseconds of CPU time that the process uses in IDLE_SECONDS after a call."""
    call()
    start = time.process_time()
    time.sleep(IDLE_SECONDS)
    return (time.process_time() - start) * 1e3


def calls_per_second(call, callers: int, threads: int) -> float:
    import torch

    counts, begin = [0] * callers, threading.Barrier(callers + 1)
    ended = threading.Event()

    def run(index: int) -> None:
        torch.set_num_threads(threads)  # of the operators and engines that this thread calls
        with torch.inference_mode():
            call()
            begin.wait()
            while not ended.is_set():
                call()
                counts[index] += 1

    running = [threading.Thread(target=run, args=[index]) for index in range(callers)]
    for thread in running:
        thread.start()
    begin.wait()
    start = time.perf_counter()
    time.sleep(CALLERS_SECONDS)
    ended.set()
    for thread in running:
        thread.join()
    return sum(counts) / (time.perf_counter() - start)


def main(tell) -> None:
    import torch

    import worker

    threads = int(sys.argv[1])
    torch.set_num_threads(threads)
    with contextlib.ExitStack() as libraries:
        neighbour = None
        if len(sys.argv) > 2 and sys.argv[2].isdigit():
            neighbour = copy_of(int(sys.argv[2]))
        elif len(sys.argv) > 2:
            job = Job.from_json(sys.argv[2])
            libraries.enter_context(worker.way_of(job).libraries(job))
            neighbour = worker.way_of(job).load(job)
        libraries.enter_context(torch.inference_mode())
        calls = operators()
        for call in [*calls.values(), *([neighbour] if neighbour else [])]:
            for _ in range(3):
                call()
        tell({"operators": list(calls)})
        for asked in talk.questions():
            if "callers" in asked:
                tell({"calls_per_second": calls_per_second(neighbour, asked["callers"], threads)})
            elif "idle" in asked:
                tell({"ms": idle(calls[asked["idle"]] if asked["idle"] else neighbour)})
            else:
                call = calls[asked["operator"]]
                tell({"ms": timed(call, neighbour or call, asked["calls"])})


if __name__ == "__main__":
    talk.run(main)
