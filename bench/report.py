"""The tables of `./dev bench`, of results of one batch and number of threads, on a GPU of one batch and dtype, models by ways."""

from collections.abc import Callable

import columns
import devices
import job
import table
import timing
import verdict
import ways


def setting(result: dict) -> str:
    """What all results of a table share."""
    if result["device"] != job.CPU:
        return f"batch {result['batch']}, {result['dtype']}"
    below = "" if result["dtype"] == "float32" else f", {result['dtype']}"
    return f"batch {result['batch']}, {result['threads']} thread{'s' * (result['threads'] > 1)}{below}"


def by_way(results: list[dict], names: list[str], show: Callable[[dict], str]) -> str:
    rows = [[result["model"], *(columns.cell(result["ways"].get(name, {}), show) for name in names)] for result in results]
    return table.render(["model", *names], rows)


def _shown(ratio: verdict.Ratio | None, with_name: bool) -> str:
    if ratio is None:
        return columns.NONE
    return f"{ratio.value:.2f} ({ratio.lower:.2f}..{ratio.upper:.2f})" + (f" {ratio.best}" if with_name else "")


def _compares_all(results: list[dict], names: list[str]) -> bool:
    device = devices.of(results[0]["device"])
    return device.compares_all or any(name in device.peers for name in names)


def times(results: list[dict], names: list[str]) -> str:
    """Medians in milliseconds, the engine's quartiles, and the ratios with those of the rounds. Below float32 on a CPU the ratio to the engine in
    float32 takes the place of that to TorchScript."""
    with_best, single = _compares_all(results, names), [ways.FLOAT32] if ways.FLOAT32 in names else None
    base = single or devices.of(results[0]["device"]).torchscript
    rows = []
    for result in results:
        facts = result["ways"]
        rows.append([
            result["model"], *(columns.cell(facts.get(name, {}), lambda f: f"{f['milliseconds']['median']:.3f}") for name in names),
            columns.cell(facts[ways.ENGINE], lambda f: f"{f['milliseconds']['lower']:.3f}..{f['milliseconds']['upper']:.3f}"),
            _shown(verdict.ratio(result, base), False),
            *([_shown(verdict.ratio(result, verdict.others(names)), True)] if with_best else []),
            columns.cell(facts[ways.ENGINE], lambda f: f"{f['difference']:.0e}")])
    return table.render(["model", *names, "quartiles of engine", "x float32" if single else "x fastest TorchScript", *(["x best of all"] if with_best else []),
                         "rel. error"], rows)


def engines(results: list[dict]) -> str:
    """Returns a table of what the compiler makes."""
    shown = devices.of(results[0]["device"]).engine
    rows = [[result["model"], f"{result['weight_bytes'] / columns.MEGABYTE:.1f}",
             *(columns.cell(result["ways"][ways.ENGINE], show) for _, show in shown)] for result in results]
    return table.render(["model", "weights MB", *(title for title, _ in shown)], rows)


def problems(results: list[dict], names: list[str]) -> list[str]:
    lines = [f"{result['model']}, {name}: {text}" for result in results for name in names
             if name in result["ways"] and (text := verdict.problem(result["ways"][name]))]
    engine_of = [(result["model"], result["ways"].get(ways.ENGINE, {})) for result in results]
    lines += [f"{model}, tuning: {text}" for model, facts in engine_of if (text := facts.get("tuning", {}).get("error"))]
    return lines + [f"{model}, profile: {facts['profile_error']}" for model, facts in engine_of if "profile_error" in facts]


def whole(results: list[dict], names: list[str]) -> str:
    """All that is to say of results of one setting."""
    parts = [
        f"{setting(results[0])}: milliseconds a call, medians of {min(r['rounds'] for r in results)} rounds in turn",
        times(results, names), "", "engines", engines(results)]
    for title, show in devices.of(results[0]["device"]).costs:
        parts += ["", title, by_way(results, names, show)]
    if errors := problems(results, names):
        parts += ["", "what does not run, or is off:", *(f"  {line}" for line in errors)]
    parts.append("")
    if _compares_all(results, names):
        parts.append(verdict.summary(results, names))
    if busy := [r["model"] for r in results if r["load"] > timing.LOAD_LIMIT]:
        parts.append(f"measured under load, repeat on a quiet machine: {', '.join(busy)}")
    return "\n".join(parts).rstrip()
