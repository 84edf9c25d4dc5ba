"""`./dev bench`: the engine against eager PyTorch, torch.jit.freeze, torch.jit.optimize_for_inference and, with --peers, other systems,
in turn, each in a process of its own. With --precision below float32, also beside the engine in float32. With --device cuda on a GPU, where
PyTorch's ways are also captured into CUDA graphs.

Prints tables of medians and ratios, and of what each way costs beside its calls; --json keeps every figure, --plot draws the medians.
Speed is shown here and asserted nowhere. --neighbour and --memory measure other things, each in tables of its own: what an engine costs the
rest of its process, and whether memory stays flat.
"""

import pathlib
import shutil
import signal
import sys
import tempfile
import time

import ahead
import arguments
import cell
import devices
import flat
import job
import kept
import models
import neighbour
import plot
import processes
import report
from job import Cell, Job

BEGIN = time.monotonic()


def progress(text: str) -> None:
    print(f"[{time.monotonic() - BEGIN:6.0f} s] {text}", file=sys.stderr, flush=True)


def cell_of(model: str, dtype: str, batch: int, threads: int, device: str) -> Cell:
    """A scripted model has constants of one dtype, so that it stays in float32 where 16 bits are asked for."""
    stays = models.ALL[model].is_scripted and dtype in ("float16", "bfloat16")
    return Cell(model, batch, threads, device, "float32" if stays else dtype)


def find(cell: Cell, options, results: kept.Kept) -> dict | None:
    """The kept result of the cell with --resume."""
    names = devices.of(cell.device).names(cell.dtype, options.peers)
    return results.find(cell, names, options.rounds) if options.resume else None


def made_ahead(cells: list[Cell], options, results: kept.Kept) -> ahead.Ahead:
    """What --ahead makes lies beside the file of results. With --resume, what lies there is taken."""
    folder = pathlib.Path(options.json).with_suffix(".ahead")
    if not options.resume:
        shutil.rmtree(folder, ignore_errors=True)
    made = ahead.Ahead(folder)
    made.make([each for each in cells if not find(each, options, results)], options.ahead, options.limit, lambda text: progress(f"ahead: {text}"))
    return made


def run(cells: list[Cell], options, results: kept.Kept) -> list[dict]:
    """The results of the cells, kept ones with --resume; of fewer where the budget of time ends."""
    done, made = [], made_ahead(cells, options, results) if options.ahead else None
    for index, each in enumerate(cells):
        setting = f"threads {each.threads}, {each.dtype}" if each.device == job.CPU else each.dtype
        names = devices.of(each.device).names(each.dtype, options.peers)
        where = f"[{index + 1}/{len(cells)}] {each.model}, batch {each.batch}, {setting}"

        def say(text: str, where=where) -> None:
            progress(f"{where}: {text}")

        result = find(each, options, results)
        if result:
            say("kept")
        elif options.budget and time.monotonic() - BEGIN > options.budget * 60:
            say("left out, the budget of time is spent")
            continue
        else:
            try:
                result = cell.measure(each, names, options.rounds, options.limit, say, made.find(each) if made else None)
            except processes.Failed as failure:
                say(f"the model itself fails: {failure}")
                continue
            results.add(result)
        done.append(result)
    return done


def of_table(results: list[dict], asked: list[str], setting: tuple) -> list[dict]:
    """Those of the models that were measured with this dtype, batch, threads and device. Models that stay in float32 are named so."""
    by_cell = {Cell.of_result(result): result for result in results}
    rows = []
    for model in dict.fromkeys(asked):
        result = by_cell.get(cell_of(model, *setting))
        if result and result["dtype"] != setting[0]:
            result = result | {"model": f"{model} ({result['dtype']})", "dtype": setting[0]}
        rows += [result] if result else []
    return rows


def environment_of(device: str, limit: float) -> dict:
    """Raises processes.Failed if the GPU cannot be used."""
    environment = kept.environment(device)
    if device == job.CPU:
        return environment
    with tempfile.TemporaryDirectory(prefix="torchtrt-bench-") as folder:
        facts = processes.answer_of("gpu", Job.of_cell("gpu", Cell("lenet", 1, 1, device), folder), limit)
    return environment | facts | {"versions": environment["versions"] | facts["versions"]}


def title(environment: dict, dtypes: list[str]) -> str:
    gpu = f"{environment['gpu']}, driver {environment['driver']}; " if "gpu" in environment else ""
    versions = ", ".join(f"{name} {version}" for name, version in environment["versions"].items())
    return f"{gpu}{environment['cpu']}, {environment['cores']} cores; {versions}; {', '.join(dtypes)}"


def main() -> int:
    options = arguments.parse(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of all that ends processes and removes folders
    if options.neighbour:
        neighbour.main(options.chosen, max(options.threads), options.rounds, progress)
        return 0
    if options.memory:
        return 0 if flat.main(options.models, max(options.threads), options.limit, progress) else 1
    settings = [(dtype, batch, threads, options.device) for dtype in options.dtype for batch in options.batch for threads in options.threads]
    cells = list(dict.fromkeys(cell_of(model, *setting) for setting in settings for model in options.models))
    try:
        environment = environment_of(options.device, options.limit)
    except processes.Failed as failure:
        print(f"PyTorch cannot use {options.device} here: {failure}", file=sys.stderr)
        return 1
    results = run(cells, options, kept.Kept(options.json, environment))
    print(title(environment, options.dtype))
    tables = [rows for setting in settings if (rows := of_table(results, options.models, setting))]
    device = devices.of(options.device)
    for rows in tables:
        print("\n" + report.whole(rows, device.names(rows[0]["dtype"], options.peers)))
    if options.plot and results:
        plot.draw([row for rows in tables for row in rows], device.names(options.dtype[0], options.peers), options.plot)
    return 0 if len(results) == len(cells) else 1


if __name__ == "__main__":
    sys.exit(main())
