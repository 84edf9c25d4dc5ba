"""The tables of `./dev bench`, of results of one batch and number of threads, models by ways."""

from collections.abc import Callable

import table
import timing
import verdict
import ways

NONE = "-"
FAILED = "failed"
MEGABYTE = 1e6
# Lists the costs of a way beside its calls: a title, and a function that formats a way's figures.
COSTS: list[tuple[str, Callable[[dict], str]]] = [
    ("making, s (TorchScript's ways and the engine from TorchScript, the others from the Python module)", lambda f: f"{f['make_seconds']:.2f}"),
    ("loading what was made in another process, the engine with runtime.prepare, s", lambda f: f"{f['load_seconds']:.2f}"),
    ("the first call there, in calls of the median's length", lambda f: f"{f['first_call_ms'] / f['milliseconds']['median']:.1f}"),
    ("resident after the calls, MB beyond the bare libraries", lambda f: f"{f['resident_bytes'] / MEGABYTE:.0f}"),
    ("peak while loading and calling, MB beyond the bare libraries", lambda f: f"{f['peak_bytes'] / MEGABYTE:.0f}"),
]


def cell(facts: dict, show: Callable[[dict], str]) -> str:
    if "error" in facts:
        return FAILED
    try:
        return show(facts)
    except KeyError:
        return NONE


def by_way(results: list[dict], names: list[str], show: Callable[[dict], str]) -> str:
    rows = [[result["model"], *(cell(result["ways"].get(name, {}), show) for name in names)] for result in results]
    return table.render(["model", *names], rows)


def _shown(ratio: verdict.Ratio | None, with_name: bool) -> str:
    if ratio is None:
        return NONE
    return f"{ratio.value:.2f} ({ratio.lower:.2f}..{ratio.upper:.2f})" + (f" {ratio.best}" if with_name else "")


def times(results: list[dict], names: list[str]) -> str:
    """Medians in milliseconds, the engine's quartiles, and the ratios with those of the rounds."""
    with_peers = len(names) > len(ways.NAMES)
    rows = []
    for result in results:
        facts = result["ways"]
        rows.append([
            result["model"], *(cell(facts.get(name, {}), lambda f: f"{f['milliseconds']['median']:.3f}") for name in names),
            cell(facts[ways.ENGINE], lambda f: f"{f['milliseconds']['lower']:.3f}..{f['milliseconds']['upper']:.3f}"),
            _shown(verdict.ratio(result, ways.TORCHSCRIPT), False),
            *([_shown(verdict.ratio(result, names), True)] if with_peers else []),
            cell(facts[ways.ENGINE], lambda f: f"{f['difference']:.0e}")])
    return table.render(["model", *names, "quartiles of engine", "x fastest TorchScript", *(["x best of all"] if with_peers else []),
                         "rel. error"], rows)


def engines(results: list[dict]) -> str:
    """Returns a table of what the compiler makes. Building is timed alone and with tune=True, which also counts operators that are slower
    in engines. The last column is the speed reached, beside the machine's measured peak."""
    def row(result: dict) -> list[str]:
        facts = result["ways"][ways.ENGINE]

        def share(f: dict) -> str:
            speed = f["flops"] / f["milliseconds"]["median"] * 1e3
            return f"{speed / 1e9:.1f}, {speed / f['peak_flops_per_second']:.0%} of {f['peak_flops_per_second'] / 1e9:.0f}"

        shows = [
            lambda f: f"{f['engines']} + {f['torch_segments']}", lambda f: f"{f['make_seconds']:.2f}",
            lambda f: cell(f["tuning"], lambda t: f"{t['seconds']:.2f}"), lambda f: cell(f["tuning"], lambda t: str(t["slower"])),
            lambda f: f"{f['make_peak_bytes'] / MEGABYTE:.0f}", lambda f: f"{f['file_bytes'] / MEGABYTE:.1f}",
            lambda f: f"{f['flops'] / 1e9:.2f}", share]
        return [result["model"], f"{result['weight_bytes'] / MEGABYTE:.1f}", *(cell(facts, show) for show in shows)]

    return table.render(["model", "weights MB", "engines + PyTorch", "compile s", "tuned s", "slower operators", "peak of it MB", "file MB",
                         "GFLOP", "GFLOP/s, of peak"], [row(result) for result in results])


def problems(results: list[dict], names: list[str]) -> list[str]:
    lines = [f"{result['model']}, {name}: {text}" for result in results for name in names
             if name in result["ways"] and (text := verdict.problem(result["ways"][name]))]
    return lines + [f"{result['model']}, tuning: {text}" for result in results
                    if (text := result["ways"].get(ways.ENGINE, {}).get("tuning", {}).get("error"))]


def whole(results: list[dict], names: list[str]) -> str:
    """All that is to say of results of one batch and number of threads."""
    first = results[0]
    parts = [
        f"batch {first['batch']}, {first['threads']} thread{'s' * (first['threads'] > 1)}: milliseconds a call, medians of "
        f"{min(r['rounds'] for r in results)} rounds in turn",
        times(results, names), "", "engines", engines(results)]
    for title, show in COSTS:
        parts += ["", title, by_way(results, names, show)]
    if errors := problems(results, names):
        parts += ["", "what does not run, or is off:", *(f"  {line}" for line in errors)]
    parts.append("")
    if len(names) > len(ways.NAMES):
        parts.append(verdict.summary(results, names))
    if busy := [r["model"] for r in results if r["load"] > timing.LOAD_LIMIT]:
        parts.append(f"measured under load, repeat on a quiet machine: {', '.join(busy)}")
    return "\n".join(parts).rstrip()
