"""Memory, loading and speed of several processes on one machine that load one compiled file, with private weights and with shared ones
(`TORCHTRT_SHARE_WEIGHTS`): `python bench/host.py --model bert_base --processes 4`.

The processes start one after the other and stay; then each is called alone, in turns. Results are compared: they have to be equal.
"""

import argparse
import os
import statistics
import sys
import tempfile

import models
import processes
import table
import timing

MEGABYTE = 1e6
SECONDS = 600
WAYS = {"private": "0", "shared": "1"}


def compile_to(model: str, file: str) -> None:
    import torch

    import torchtrt

    x = models.sample(model)
    dtype = torchtrt.Input(list(x.shape), dtype=x.dtype)
    torchtrt.compile(models.script(model, models.build(model)), inputs=[dtype]).save(file)
    torch.save(x, file + ".input")


def start(arguments: list[str], count: int, folder: str, way: str) -> tuple[list[processes.Process], list[dict]]:
    os.environ["TORCHTRT_SHARE_WEIGHTS"] = WAYS[way]
    started, answers = [], []
    for index in range(count):
        started.append(processes.Process("host_worker.py", arguments, f"{folder}/{way}-{index}.log"))
        answers.append(started[-1].listen(SECONDS))
    return started, answers


def proportional(group: list[processes.Process]) -> int:
    return sum(process.ask({"memory": True}, SECONDS)["proportional"] for process in group)


def bare(count: int, folder: str) -> int:
    """Bytes of as many processes that loaded the libraries and no module."""
    group, _ = start(["-"], count, folder, "private")
    try:
        return proportional(group)
    finally:
        for process in group:
            process.end()


def measure(file: str, count: int, threads: int, rounds: int, folder: str) -> dict[str, dict]:
    figures = {}
    groups = {}
    try:
        for way in WAYS:
            groups[way], answers = start([file, str(threads)], count, folder, way)
            figures[way] = {
                "proportional": proportional(groups[way]), "shared": answers[0]["shared"],
                "loads": [answer["load"] for answer in answers], "sums": {answer["sum"] for answer in answers}, "milliseconds": []}
            for process in groups[way][:-1]:
                process.end()
        for _ in range(rounds):
            for way in WAYS:
                figures[way]["milliseconds"].append(groups[way][-1].ask({"rounds": 5}, SECONDS)["milliseconds"])
    finally:
        for process in [each for group in groups.values() for each in group]:
            process.end()
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/host.py", description=__doc__)
    parser.add_argument("--model", default="bert_base", choices=sorted(models.ALL))
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--threads", type=int, default=timing.threads_available())
    parser.add_argument("--rounds", type=int, default=10, help="turns of five calls, after loading")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="torchtrt-bench-") as folder:
        file = f"{folder}/compiled.ts"
        print(f"compiling {options.model}", file=sys.stderr, flush=True)
        compile_to(options.model, file)
        libraries = bare(options.processes, folder)
        figures = measure(file, options.processes, options.threads, options.rounds, folder)
    rows = []
    for way, facts in figures.items():
        first, second, *_ = [*facts["loads"], float("nan")]
        rows.append([way, f"{facts['proportional'] / MEGABYTE:.0f}", f"{(facts['proportional'] - libraries) / MEGABYTE:.0f}",
                     f"{facts['shared'] / MEGABYTE:.0f}", f"{first * 1e3:.0f}",
                     f"{second * 1e3:.0f}", f"{statistics.median(facts['milliseconds']):.2f}"])
    print(f"{options.model}, {options.processes} processes, {options.threads} threads each\n")
    print(table.render(["weights", "MB in all (PSS)", "beyond libraries", "MB shared", "first load, ms", "second load, ms", "a call, ms"], rows))
    sums = set.union(*(facts["sums"] for facts in figures.values()))
    print(f"\nresults {'are equal' if len(sums) == 1 else 'DIFFER'} in all {2 * options.processes} processes")
    return 0 if len(sums) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
