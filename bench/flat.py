"""`./dev bench --memory`: does resident memory stay flat over many calls with random shapes and over many compiles, and how much is it
beside ONNX Runtime's?"""

import tempfile
from collections.abc import Callable

import cell
import processes
import table
import verdict
import ways
from job import Cell

SHAPES = ["u-net, traced", "bert, traced", "mobilenet_v3_small, traced", "lstm, scripted"]  # of shapes.py
COMPILED = ["lenet", "mobilenet_v3_small"]
CALLS, COMPILES = 10_000, 100
GROWTH_BYTES, GROWTH_SHARE = 8e6, 0.01  # whichever is more is no growth
PEER = "onnxruntime"
SECONDS = 3600
MEGABYTE = 1e6


def is_flat(before: float, after: float) -> bool:
    return after - before <= max(GROWTH_BYTES, GROWTH_SHARE * before)


def growth(kind: str, names: list[str], count: int, say: Callable[[str], None]) -> tuple[str, bool]:
    """A table, and whether all is flat."""
    rows, all_flat = [], True
    for name in names:
        say(f"{name}: {count} {kind}")
        with tempfile.TemporaryDirectory(prefix="torchtrt-bench-") as folder:
            process = processes.Process("flat_worker.py", [kind, name, str(count)], f"{folder}/flat.log")
            try:
                before, after = (process.listen(SECONDS)["bytes"] for _ in range(2))
            except processes.Failed as failure:
                rows.append([name, "", "", "", f"failed: {failure}"])
                all_flat = False
                continue
            finally:
                process.end()
        flat = is_flat(before, after)
        all_flat = all_flat and flat
        figures = [f"{before / MEGABYTE:.1f}", f"{after / MEGABYTE:.1f}", f"{(after - before) / MEGABYTE:+.1f}"]
        rows.append([name, *figures, "yes" if flat else "NO"])
    title = {"shapes": "calls with random shapes", "compiles": "compiles"}[kind]
    return table.render([f"resident MB after so many {title}", str(count // 10), str(count), "growth", "flat"], rows), all_flat


def beside(results: list[dict]) -> str:
    """Resident memory and its peak, of results of cell.measure that have both the engine and ONNX Runtime."""
    def shown(facts: dict, key: str) -> str:
        return "failed" if verdict.problem(facts) else f"{facts[key] / MEGABYTE:.1f}"

    rows = []
    for result in results:
        ours, theirs = result["ways"][ways.ENGINE], result["ways"][PEER]
        able = not verdict.problem(ours) and not verdict.problem(theirs)
        rows.append([
            result["model"], f"{result['weight_bytes'] / MEGABYTE:.1f}",
            *(shown(facts, key) for key in ("resident_bytes", "peak_bytes") for facts in (ours, theirs)),
            f"{ours['resident_bytes'] / theirs['resident_bytes']:.2f}" if able else "-"])
    header = ["MB beyond the bare libraries", "weights", "resident, engine", PEER, "peak, engine", PEER, "resident, engine's share"]
    return table.render(header, rows)


def main(models: list[str], threads: int, limit: float, say: Callable[[str], None]) -> bool:
    calls, calls_flat = growth("shapes", SHAPES, CALLS, say)
    print(calls + "\n")
    compiles, compiles_flat = growth("compiles", COMPILED, COMPILES, say)
    print(compiles + "\n")
    results = []
    for model in models:
        results.append(cell.measure(Cell(model, 1, threads), [PEER, ways.ENGINE], 2, limit, lambda text, model=model: say(f"{model}: {text}")))
    print(beside(results))
    return calls_flat and compiles_flat
