#!/usr/bin/env python3
"""60 models that TorchScript does not take, or hardly, by way of torch.compile and torch.export: engines, graph breaks, differences from eager
PyTorch, times beside eager and TorchInductor, and what a batch of another size compiles anew.

    ./dev build product && PYTHONPATH=build/release/python .venv/bin/python bench/ways_in.py [--times] [--inductor] [--only TEXT] [--jobs N]

Each model has a process of its own, with cores of its own. Models are those of ways_in_models.py; ways_in_worker.py measures one. Times are
medians of calls in turn; those under load of others are repeated, and marked with * where the load stays. Differences are relative to the
largest value of a result. TorchInductor needs a C++ compiler and most of the time.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import math
import os
import pathlib
import queue
import signal
import statistics
import sys
import tempfile
import time

import processes
import table
import timing
import ways_in_models
import ways_in_worker

BEGIN = time.monotonic()
WRONG = 1e-3  # a difference in float32 that is no rounding
NOT_REACHED = "the budget of time was spent"
WAYS = ["eager", "inductor", "torchtrt", "export"]


def measured(asked: ways_in_worker.Asked, seconds: float, log: str, pids: set[int]) -> dict:
    """All that the model's process tells within so many seconds, and how it ended where that was not its end. It is among `pids` meanwhile."""
    row: dict = {"model": asked.model, "failed": []}
    end = time.monotonic() + seconds
    worker = processes.Process("ways_in_worker.py", [json.dumps(dataclasses.asdict(asked))], log)
    pids.add(worker.pid)
    try:
        while row.get("stage") != "end":
            facts = worker.listen(max(0.0, end - time.monotonic()))
            row["failed"] += [facts.pop("failed")] if "failed" in facts else []
            row.update(facts)
    except processes.Failed as failure:
        told = "took too long" if time.monotonic() >= end else str(failure)
        row["failed"].append(f"{row.get('stage', 'start')}: {told}")
    finally:
        pids.discard(worker.pid)
        worker.end()
    return row


def shares(cores: list[int], jobs: int) -> list[list[int]]:
    """Gives each job the same number of cores. Some are left over if the number of jobs is no divisor."""
    each = len(cores) // jobs
    return [cores[i * each:(i + 1) * each] for i in range(jobs)]


def run(names: list[str], options, show) -> list[dict]:
    """The rows of all models, in the order of their names; of those that the budget does not reach, their names alone."""
    end = BEGIN + options.budget * 60 if options.budget else math.inf
    free: queue.SimpleQueue = queue.SimpleQueue()
    pids: set[int] = set()
    for cores in shares(sorted(os.sched_getaffinity(0)), options.jobs):
        free.put(cores)

    def one(name: str) -> dict:
        left = end - time.monotonic()
        if left < 5:
            return {"model": name, "failed": [NOT_REACHED]}
        cores = free.get()
        try:
            asked = ways_in_worker.Asked(name, options.device, cores, options.times, options.inductor, folder)
            return measured(asked, min(options.seconds, left), f"{folder}/{name}.log", pids)
        finally:
            free.put(cores)

    with tempfile.TemporaryDirectory(prefix="torchtrt-ways-in-") as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(one, name): name for name in reversed(names)}  # the largest models are the last of the list
        rows = {}
        try:
            for done in concurrent.futures.as_completed(running):
                rows[running[done]] = done.result()
                show(rows)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for pid in list(pids):
                os.killpg(pid, signal.SIGKILL)
            raise
    return [rows[name] for name in names]


def milliseconds(row: dict, way: str) -> float | None:
    return row["ms"][way]["median"] if way in row.get("ms", {}) else None


def best_of_others(row: dict) -> float | None:
    """Milliseconds of the better of eager PyTorch and TorchInductor, where the latter is asked for and right."""
    is_right = row.get("inductor", {}).get("difference", math.inf) <= WRONG
    given = [milliseconds(row, "eager"), milliseconds(row, "inductor") if is_right else None]
    return min((each for each in given if each is not None), default=None)


def ratio(row: dict, other: float | None) -> float | None:
    ours = milliseconds(row, "torchtrt")
    return other / ours if other is not None and ours else None


def _text(value, form: str) -> str:
    return "-" if value is None else format(value, form)


def recompiled(row: dict, way: str) -> str:
    """Graphs at each size of the batch behind the first."""
    found = row.get(f"{way} batches")
    return "-" if found is None else "+".join(map(str, found["compiled"][1:]))


def largest_difference(row: dict) -> float | None:
    return max((row[key]["difference"] for key in ("torchtrt", "torchtrt batches", "export") if "difference" in row.get(key, {})), default=None)


def _time(row: dict, way: str) -> str:
    found = row.get("ms", {}).get(way)
    return "-" if found is None else f"{found['median']:.3g}±{(found['upper'] - found['lower']) / 2 / found['median']:.0%}"


def header(options) -> list[str]:
    times = [*WAYS[:1], *(["Inductor"] if options.inductor else []), "torchtrt", "export"] if options.times else []
    return ["model (ms, compile s)", "engines", "graphs", "breaks", "share", "export", "error", *times, *(["ratio"] if times else []),
            "compile", *(["Inductor"] if options.inductor else []), "batches", *(["Inductor"] if options.inductor else [])]


def cells(row: dict, options) -> list[str]:
    """Returns one model's cells of the table."""
    compiled, export, inductor = row.get("torchtrt", {}), row.get("export", {}), row.get("inductor", {})
    facts = [_text(compiled.get("engines"), ""), _text(compiled.get("graphs"), ""), _text(compiled.get("breaks"), ""),
             _text(compiled.get("share"), ".0%"), _text(export.get("engines"), ""), _text(largest_difference(row), ".0e")]
    ways = [way for way in WAYS if options.inductor or way != "inductor"]
    times = [*(_time(row, way) for way in ways), _text(ratio(row, best_of_others(row)), ".2f")] if options.times else []
    beside = [[_text(inductor.get("seconds"), ".1f")], [recompiled(row, "inductor")]] if options.inductor else [[], []]
    mark = "*" if row.get("load", 0) > timing.LOAD_LIMIT or row.get("compiled_while_timed") else ""
    return [row["model"] + mark, *facts, *times, _text(compiled.get("seconds"), ".1f"), *beside[0], recompiled(row, "torchtrt"), *beside[1]]


def brief(row: dict) -> str:
    """A line as soon as the model is done."""
    compiled = row.get("torchtrt")
    told = "no engines" if compiled is None else f"{compiled['engines']} engines, {compiled['breaks']} breaks, difference {largest_difference(row):.0e}"
    times = ", ".join(f"{way} {milliseconds(row, way):.3g}" for way in WAYS if milliseconds(row, way) is not None)
    return f"{row['model'][:30]:30} {told}" + (f"; ms: {times}" if times else "") + (f"; {len(row['failed'])} FAILED" if row["failed"] else "")


def notes(row: dict) -> list[str]:
    """Returns the failures, and the backend's messages about graphs in eager mode."""
    inductor = row.get("inductor", {}).get("difference", 0.0)
    return [*row["failed"], *dict.fromkeys(row.get("torchtrt", {}).get("lines", [])), *([row["export"]["error"]] if "error" in row.get("export", {}) else []),
            *([f"Inductor differs by {inductor:.0e}"] if inductor > WRONG else [])]


def mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def summary(rows: list[dict]) -> list[str]:
    done = [row for row in rows if "torchtrt" in row]
    exported = [row["export"] for row in rows if "engines" in row.get("export", {})]
    lines = [f"{len(rows)} models, {sum(not row['failed'] for row in rows)} without a failure; torch.jit.script takes "
             f"{sum(row.get('scripts', False) for row in rows)} of {sum('scripts' in row for row in rows)}; torch.compile: "
             f"{sum(bool(row['torchtrt']['engines']) for row in done)} in engines, {sum(row['torchtrt']['engines'] == 1 for row in done)} as one, "
             f"{sum(row['torchtrt']['breaks'] for row in done)} breaks; torch.export: {len(exported)}, {sum(each['engines'] == 1 for each in exported)} as one; "
             f"largest difference {max((largest_difference(row) for row in done), default=0):.1e}"]
    for name, other in [("eager", lambda row: milliseconds(row, "eager")), ("Inductor", lambda row: milliseconds(row, "inductor")),
                        ("the better of them", best_of_others)]:
        ratios = [found for row in rows if (found := ratio(row, other(row))) is not None]
        if ratios:
            lines.append(f"{name} takes {mean(ratios):.2f} times as long as torchtrt, the geometric mean of {len(ratios)}; "
                         f"{min(ratios):.2f} to {max(ratios):.2f}; torchtrt is slower on {sum(each < 1 for each in ratios)}")
    for name, way in [("torchtrt", "torchtrt"), ("Inductor", "inductor")]:
        seconds = [row[way]["seconds"] for row in rows if way in row]
        counts = [row[f"{way} batches"]["compiled"] for row in rows if f"{way} batches" in row]
        if seconds:
            lines.append(f"{name} compiles for {statistics.median(seconds):.1f} s, the median, at most {max(seconds):.1f}; "
                         f"batches {', '.join(map(str, ways_in_worker.BATCHES))} compile {sum(sum(each[1:]) for each in counts)} graphs again in {len(counts)} models, "
                         f"{sum(sum(each[2:]) for each in counts)} of them behind the second size")
    return lines


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="models whose name contains this, or one of these, with commas between")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--times", action="store_true", help="time all ways in turn")
    parser.add_argument("--inductor", action="store_true", help="time TorchInductor, too")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many models side by side, each with its share of the cores (1)")
    parser.add_argument("--seconds", type=float, default=300, metavar="S", help="of a model; what takes longer is a row that says so (300)")
    parser.add_argument("--budget", type=float, default=0, metavar="MIN", help="of all models; those that it does not reach are rows that say so")
    parser.add_argument("--json", metavar="FILE", help="write all facts there")
    options = parser.parse_args()
    options.times |= options.inductor
    cores = len(os.sched_getaffinity(0))
    if not 1 <= options.jobs <= cores:
        parser.error(f"--jobs: expected 1 to {cores}, the cores that there are, got {options.jobs}")
    return options


def main() -> int:
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of all that ends processes and removes folders
    names = [name for name in ways_in_models.NAMES if any(part in name for part in options.only.split(","))]

    def show(rows: dict[str, dict]) -> None:
        *_, row = rows.values()
        print(f"[{len(rows):2}/{len(names)} {time.monotonic() - BEGIN:4.0f} s] {brief(row)}", flush=True)
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(list(rows.values()), indent=1), encoding="utf-8")

    rows = run(names, options, show)
    left = [row["model"] for row in rows if NOT_REACHED in row["failed"]]
    rows = [row for row in rows if row["model"] not in left]
    print("\n" + table.render(header(options), [cells(row, options) for row in rows]) + "\n")
    for row in rows:
        for line in notes(row):
            print(f"{row['model']}: {line.splitlines()[0][:150]}")
    print("\n".join(summary(rows)))
    if left:
        print(f"{len(left)} not reached, {NOT_REACHED}: {', '.join(left)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
