"""Honest timings: all candidates in turn within one run, warm, medians with quartiles, the machine's load watched. Here candidates are
functions of this process; turns.py times processes in the same way."""

import dataclasses
import os
import statistics
import time
from collections.abc import Callable, Iterable

LOAD_LIMIT = 0.3  # runs under more load of others than this, per core, are repeated
BLOCK_SECONDS = 0.02  # what is faster is called several times a round


@dataclasses.dataclass(frozen=True)
class Timing:
    """Milliseconds a call."""

    median: float
    lower: float  # first quartile
    upper: float  # third quartile
    rounds: int


class OthersLoad:
    """The share of the cores that this process may run on which neither it nor the processes of `pids` use, and that is busy, from when it
    is made."""

    def __init__(self, pids: Iterable[int] = ()):
        self._pids = ["self", *pids]
        self._begin = self._ticks()

    def share(self) -> float:
        (busy, all_ticks, own), (busy_then, all_then, own_then) = self._ticks(), self._begin
        return max(0.0, (busy - busy_then) - (own - own_then)) / max(1, all_ticks - all_then)

    def _ticks(self) -> tuple[int, int, int]:
        cores = {f"cpu{core}" for core in os.sched_getaffinity(0)}
        lines = [line.split() for line in open("/proc/stat") if line.startswith("cpu")]
        lines = [line for line in lines if line[0] in cores] or lines[:1]  # the first one is of all cores
        fields = [sum(map(int, column)) for column in zip(*(line[1:9] for line in lines))]
        own = 0
        for pid in self._pids:
            try:
                own += sum(map(int, open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[11:13]))  # user and system time
            except FileNotFoundError:
                continue  # it has ended
        return sum(fields) - fields[3] - fields[4], sum(fields), own


def quiet(tries: int = 5) -> float:
    """Waits for a quiet machine, at most a few seconds; returns the load that was left."""
    for last in range(tries, -1, -1):
        load = OthersLoad()
        time.sleep(0.2)
        share = load.share()
        if share <= LOAD_LIMIT or not last:
            break
        time.sleep(1)
    return share


def of_samples(milliseconds: list[float]) -> Timing:
    lower, median, upper = statistics.quantiles(milliseconds, n=4)
    return Timing(median, lower, upper, len(milliseconds))


def calls_per_round(seconds: float, block_seconds: float = BLOCK_SECONDS) -> int:
    """So many calls of this length that a round can be timed."""
    return max(1, min(1000, int(block_seconds / max(seconds, 1e-7))))


def turned(order: list[str], round_index: int) -> list[str]:
    """Another one comes first in every round."""
    shift = round_index % len(order)
    return order[shift:] + order[:shift]


def in_turn(candidates: dict[str, Callable[[], object]], rounds: int = 30, warmup: int = 5,
            block_seconds: float = BLOCK_SECONDS) -> dict[str, Timing]:
    """Times every candidate once a round, so that a drifting machine hurts all alike; fast ones run several calls a round."""
    calls = {}
    for name, call in candidates.items():
        for _ in range(warmup):
            call()
        start = time.perf_counter()
        call()
        calls[name] = calls_per_round(time.perf_counter() - start, block_seconds)
    samples: dict[str, list[float]] = {name: [] for name in candidates}
    for round_index in range(rounds):
        for name in turned(list(candidates), round_index):
            call, count = candidates[name], calls[name]
            call()  # back into the caches after the others
            start = time.perf_counter()
            for _ in range(count):
                call()
            samples[name].append((time.perf_counter() - start) / count * 1e3)
    return {name: of_samples(values) for name, values in samples.items()}


def threads_available() -> int:
    return len(os.sched_getaffinity(0))
