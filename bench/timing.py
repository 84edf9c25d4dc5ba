"""Honest timings: all candidates in turn within one run, warm, medians with quartiles, the machine's load watched."""

import dataclasses
import os
import statistics
import time
from collections.abc import Callable

LOAD_LIMIT = 0.3  # runs under more load than this, per core, are repeated


@dataclasses.dataclass(frozen=True)
class Timing:
    """Milliseconds a call."""

    median: float
    lower: float  # first quartile
    upper: float  # third quartile
    rounds: int


def other_load(seconds: float = 0.2) -> float:
    """Share of the cores that is busy while this process sleeps, from /proc/stat."""

    def busy() -> tuple[int, int]:
        fields = [int(f) for f in open("/proc/stat").readline().split()[1:9]]
        return sum(fields) - fields[3] - fields[4], sum(fields)

    busy_before, all_before = busy()
    time.sleep(seconds)
    busy_after, all_after = busy()
    return (busy_after - busy_before) / max(1, all_after - all_before)


def quiet(tries: int = 5) -> float:
    """Waits for a quiet machine, at most a few seconds; returns the load that was left."""
    load = other_load()
    while load > LOAD_LIMIT and tries > 0:
        time.sleep(1)
        tries -= 1
        load = other_load()
    return load


def in_turn(candidates: dict[str, Callable[[], object]], rounds: int = 30, warmup: int = 5,
            block_seconds: float = 0.02) -> dict[str, Timing]:
    """Times every candidate once a round, so that a drifting machine hurts all alike; fast ones run several calls a round."""
    calls = {}
    for name, call in candidates.items():
        for _ in range(warmup):
            call()
        start = time.perf_counter()
        call()
        once = max(time.perf_counter() - start, 1e-7)
        calls[name] = max(1, min(1000, int(block_seconds / once)))
    samples: dict[str, list[float]] = {name: [] for name in candidates}
    order = list(candidates)
    for round_index in range(rounds):
        shift = round_index % len(order)
        for name in order[shift:] + order[:shift]:
            call, count = candidates[name], calls[name]
            call()  # back into the caches after the others
            start = time.perf_counter()
            for _ in range(count):
                call()
            samples[name].append((time.perf_counter() - start) / count * 1e3)
    result = {}
    for name, values in samples.items():
        lower, median, upper = statistics.quantiles(values, n=4)
        result[name] = Timing(median, lower, upper, rounds)
    return result


def threads_available() -> int:
    return len(os.sched_getaffinity(0))
