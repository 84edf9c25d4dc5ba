"""The benchmark as a picture: how many times as long as the engine every other way takes, a line per model."""

import math
import os
import tempfile

FORMATS = (".svg", ".png", ".pdf")
FORMATS = (".svg", ".png", ".pdf")
WIDTH_INCHES, ROW_INCHES, MARGIN_INCHES = 9, 0.62, 1.7
ENGINE = "engine"


def draw(results: list[dict], ways: list[str], file: str) -> None:
    """Writes `file` in the format that its ending, one of FORMATS, names, whole or not at all. `results` are those of bench.run, `ways`
    the order of the legend."""
    import matplotlib

    matplotlib.use("Agg")  # no display
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(WIDTH_INCHES, ROW_INCHES * len(results) + MARGIN_INCHES), layout="constrained")
    colors = dict(zip(ways, pyplot.colormaps["tab10"].colors))
    colors[ENGINE] = "black"
    named = set()  # in the legend
    for row, result in enumerate(results):
        timings, unit = result["milliseconds"], result["milliseconds"][ENGINE]["median"]
        for place, way in enumerate(ways):
            if way not in timings:
                continue
            median, lower, upper = (timings[way][key] / unit for key in ("median", "lower", "upper"))
            height = row + 0.7 * ((place + 0.5) / len(ways) - 0.5)
            axes.errorbar(median, height, xerr=[[max(median - lower, 0)], [max(upper - median, 0)]], fmt="D" if way == ENGINE else "o",
                          color=colors[way], markersize=6, capsize=2, label=None if way in named else way)
            named.add(way)
        if row % 2:
            axes.axhspan(row - 0.5, row + 0.5, color="0.95", zorder=0)
    axes.axvline(1, color=colors[ENGINE], linewidth=1, zorder=1)
    axes.set_xscale("log", base=2)
    low, high = axes.get_xlim()
    ticks = [2.0**power for power in range(math.floor(math.log2(low)), math.ceil(math.log2(high)) + 1)]
    axes.set_xticks(ticks, [f"{tick:g}x" for tick in ticks])
    axes.set_yticks(range(len(results)), [f"{r['model']}\n{r['milliseconds'][ENGINE]['median']:.3g} ms" for r in results])
    axes.set_ylim(len(results) - 0.5, -0.5)
    axes.set_xlabel("times as long as the engine takes (medians with quartiles); right of the line is slower")
    axes.set_title(f"batch {results[0]['batch']}, {results[0]['threads']} threads, float32")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    folder, name = os.path.split(os.path.abspath(file))
    with tempfile.TemporaryDirectory(dir=folder) as beside:
        figure.savefig(os.path.join(beside, name), dpi=150)
        os.replace(os.path.join(beside, name), file)
    pyplot.close(figure)
