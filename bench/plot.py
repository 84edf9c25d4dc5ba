"""The benchmark as a picture: how many times as long as the engine every other way takes, a line per model, a panel per batch and threads, on a
GPU per batch and dtype."""

import os
import tempfile

import job
import report
import verdict
import ways

FORMATS = (".svg", ".png", ".pdf")
WIDTH_INCHES, ROW_INCHES, MARGIN_INCHES = 9, 0.62, 1.7
STEPS = (1, 1.25, 1.5, 2, 3, 4, 6, 8)  # where the axis is labelled, from half as long as the engine on
COLORS = ["tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple", "tab:brown", "tab:pink", "tab:olive"]


def _panel(axes, results: list[dict], names: list[str], colors: dict[str, object]) -> None:
    for row, result in enumerate(results):
        facts = result["ways"]
        if row % 2:
            axes.axhspan(row - 0.5, row + 0.5, color="0.95", zorder=0)
        if verdict.problem(facts[ways.ENGINE]):
            continue
        unit = facts[ways.ENGINE]["milliseconds"]["median"]
        for place, name in enumerate(names):
            if name not in facts or verdict.problem(facts[name]):
                continue
            median, lower, upper = (facts[name]["milliseconds"][key] / unit for key in ("median", "lower", "upper"))
            height = row + 0.7 * ((place + 0.5) / len(names) - 0.5)
            axes.errorbar(median, height, xerr=[[max(median - lower, 0)], [max(upper - median, 0)]], color=colors[name],
                          fmt="D" if name == ways.ENGINE else "o", markersize=6, capsize=2, label=name)
    axes.axvline(1, color=colors[ways.ENGINE], linewidth=1, zorder=1)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    ticks = [tick for tick in (0.5, 0.75, *STEPS, *(10 * step for step in STEPS)) if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}x" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.grid(axis="x", color="0.85", linewidth=0.7, zorder=0.5)
    for row, result in enumerate(results):
        if failed := [name for name in names if name in result["ways"] and verdict.problem(result["ways"][name])]:
            axes.annotate(f"not shown: {', '.join(failed)}", (1, row + 0.47), xycoords=("axes fraction", "data"), xytext=(-4, 2),
                          textcoords="offset points", ha="right", va="bottom", fontsize=7, color="0.4")
    axes.set_yticks(range(len(results)), [_label(result) for result in results])
    axes.set_ylim(len(results) - 0.5, -0.5)
    axes.set_title(report.setting(results[0]) + (", float32" if (results[0]["device"], results[0]["dtype"]) == (job.CPU, "float32") else ""))


def _label(result: dict) -> str:
    facts = result["ways"][ways.ENGINE]
    return f"{result['model']}\n" + ("failed" if verdict.problem(facts) else f"{facts['milliseconds']['median']:.3g} ms")


def draw(results: list[dict], names: list[str], file: str) -> None:
    """Writes `file` in the format that its ending, one of FORMATS, names, whole or not at all. `results` are those of cell.measure, `names`
    the ways in the order of the legend; those that failed are named only."""
    import matplotlib

    matplotlib.use("Agg")  # no display
    from matplotlib import pyplot

    beside = "threads" if results[0]["device"] == job.CPU else "dtype"
    batches, settings = (list(dict.fromkeys(result[key] for result in results)) for key in ("batch", beside))
    height = sum(ROW_INCHES * max(sum((r["batch"], r[beside]) == (b, s) for r in results) for s in settings) + 0.6 for b in batches)
    figure, panels = pyplot.subplots(len(batches), len(settings), squeeze=False, layout="constrained",
                                     figsize=(WIDTH_INCHES * len(settings), height + MARGIN_INCHES))
    colors = dict(zip(names, COLORS)) | {ways.ENGINE: "black"}
    for row, batch in zip(panels, batches):
        for axes, setting in zip(row, settings):
            if of_panel := [r for r in results if (r["batch"], r[beside]) == (batch, setting)]:
                _panel(axes, of_panel, names, colors)
            else:  # of a run that ended early
                axes.set(xticks=[], yticks=[], title=f"batch {batch}, {beside} {setting}: not measured")
    for axes in panels[-1]:
        axes.set_xlabel("times as long as the engine takes (medians with quartiles); right of the line is slower")
    legend = {label: handle for axes in panels.flat for handle, label in zip(*axes.get_legend_handles_labels())}
    shown = [name for name in names if name in legend]
    figure.legend([legend[name] for name in shown], shown, loc="outside lower center", ncols=4)
    folder, name = os.path.split(os.path.abspath(file))
    with tempfile.TemporaryDirectory(dir=folder) as new:
        figure.savefig(os.path.join(new, name), dpi=150)
        os.replace(os.path.join(new, name), file)
    pyplot.close(figure)
