#!/usr/bin/env python3
"""Models that TorchScript does not take, by way of torch.export and of torch.compile: engines, graph breaks, differences from eager, times.

    ./dev build product && PYTHONPATH=build/release/python .venv/bin/python bench/ways_in.py [--only TEXT] [--times] [--inductor] [--json FILE]

A line per model of the list below, as its library makes it: keyword arguments, and results that are classes. "scripts" says if torch.jit.script
takes it. Differences are relative to the largest value of a result. With --times all ways are called in turn; --inductor adds TorchInductor,
which needs a C++ compiler and most of the time. Weights are random, sizes small: docs/performance.md has models at their full size.
"""

import argparse
import gc
import json
import logging
import math
import time
import warnings

import torch

import answers
import catalog
import catalog_wide
import table
import timing
import torchtrt
from torchtrt import _backend

TEXT = """Deberta DebertaV2 XLMRoberta MPNet RoFormer ConvBert SqueezeBert FNet Funnel XLNet ModernBert Longformer Canine OPT GPTNeo GPTJ GPTNeoX
    Bloom Falcon Mistral Qwen2 Qwen3 Gemma Gemma2 Phi3 Olmo Cohere BioGpt Mamba Mixtral""".lower().split()
BOTH = "t5 bart pegasus m2m100 whisper clip detr segformer".split()
SEEN = ["beit of transformers", "dinov2 of transformers", "yolos of transformers", "swin of transformers", "swinv2 of transformers",
        "levit of transformers", "mobilevit of transformers", "focalnet of transformers", "wav2vec2", "wavlm", "perceiver", "patchtst"]
TIMM = """eva02_tiny_patch14_224 swin_tiny_patch4_window7_224 swinv2_cr_tiny_224 gcvit_xxtiny halonet26t hiera_tiny_224 mvitv2_tiny
    volo_d1_224 test_maxvit convit_tiny""".split()
NAMES = [*TEXT, *BOTH, *SEEN, *(f"{name} of timm" for name in TIMM)]
ROUNDS = 15


def whole(name: str):
    """The library's own module, and the keyword arguments of a call, or the arguments alone."""
    torch.manual_seed(0)
    case = catalog_wide.WIDE[f"{name}, traced"]()
    module, (arguments,) = case.reference, case.calls
    if isinstance(module, catalog.FirstOnly):
        return module.inner.eval(), (), dict(zip(module.names, arguments))
    return module.eval(), arguments, {}


def scripts(module) -> bool:
    try:
        torch.jit.script(module)
    except Exception:  # noqa: BLE001 - of whatever kind
        return False
    return True


def exported(module, arguments, named) -> tuple[dict, object]:
    start = time.perf_counter()
    try:
        compiled = torchtrt.compile(module, ir="export", inputs=arguments or None, kwarg_inputs=named or None, progress=False)
    except torchtrt.CompileError as error:
        return {"error": str(error)}, None
    report = torchtrt.report(compiled)
    facts = {"seconds": time.perf_counter() - start, "engines": report.engine_segments, "torch_segments": report.torch_segments,
             "share": report.share_in_engines}
    return facts, lambda: compiled(*arguments, **named)


class Watch:
    """The compiled modules and logged lines of the backend, while it is entered."""

    def __enter__(self):
        self.reports, self.lines = [], []
        self._compile, self._log = torchtrt.compile, _backend.log
        torchtrt.compile, _backend.log = self._compiling, self.lines.append
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        return self

    def _compiling(self, *arguments, **options):
        module = self._compile(*arguments, **options)
        self.reports.append(torchtrt.report(module))
        return module

    def __exit__(self, *_):
        torchtrt.compile, _backend.log = self._compile, self._log


def dynamo(module, arguments, named) -> tuple[dict, object]:
    with Watch() as watch:
        start = time.perf_counter()
        compiled = torch.compile(module, backend="torchtrt", options={"progress": False})
        compiled(*arguments, **named)
        counters = torch._dynamo.utils.counters
        facts = {"seconds": time.perf_counter() - start, "graphs": counters["stats"]["unique_graphs"], "breaks": sum(counters["graph_break"].values()),
                 "engines": sum(report.engine_segments for report in watch.reports), "lines": watch.lines}
    return facts, lambda: compiled(*arguments, **named)


def difference(call, expected) -> float:
    return answers.difference(answers.flat(list_of(call())), expected)


def list_of(value):
    """Named tuples and classes of transformers as lists."""
    if hasattr(value, "to_tuple"):
        return list_of(value.to_tuple())
    return [list_of(each) for each in value] if isinstance(value, (tuple, list)) else value


def measured(name: str, options) -> dict:
    module, arguments, named = whole(name)
    expected = answers.flat(list_of(module(*arguments, **named)))
    row = {"model": name, "scripts": scripts(module)}
    ways = {"eager": lambda: module(*arguments, **named)}
    for way, make in [("export", exported), ("compile", dynamo)]:
        row[way], call = make(module, arguments, named)
        if call is not None:
            row[way]["difference"] = difference(call, expected)
            ways[way] = call
    if options.inductor:
        inductor = torch.compile(module)
        ways["inductor"] = lambda: inductor(*arguments, **named)
    if options.times or options.inductor:
        row["ms"] = {way: time.median for way, time in timing.in_turn(ways, rounds=ROUNDS).items()}
    return row


def cells(row: dict) -> list[str]:
    """Of the table."""
    export, compiled, ms = row["export"], row["compile"], row.get("ms", {})
    first = ["-", "-", "-"] if "error" in export else [f"{export['engines']}", f"{export['share']:.0%}", f"{export['difference']:.1e}"]
    second = [f"{compiled['graphs']}", f"{compiled['breaks']}", f"{compiled['engines']}", f"{compiled['difference']:.1e}"]
    return [row["model"], "yes" if row["scripts"] else "no", *first, *second,
            *(f"{ms[way]:.2f}" if way in ms else "-" for way in ["eager", "export", "compile", "inductor"] if ms)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="models whose name contains this, or one of these, with commas between")
    parser.add_argument("--times", action="store_true", help="time all ways in turn")
    parser.add_argument("--inductor", action="store_true", help="time TorchInductor, too")
    parser.add_argument("--json", metavar="FILE", help="write all facts there")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    torchtrt.logging.set_reportable_log_level(torchtrt.logging.Level.Error)
    for library in ("torch._dynamo", "transformers"):
        logging.getLogger(library).setLevel(logging.ERROR)
    rows = []
    for name in (name for name in NAMES if any(part in name for part in options.only.split(","))):
        with torch.no_grad():
            rows.append(measured(name, options))
        print(f"{len(rows):>3} {'  '.join(cells(rows[-1]))}", flush=True)
        for line in [rows[-1]["export"].get("error", ""), *rows[-1]["compile"]["lines"]]:
            print("".join(f"      {part}\n" for part in line.splitlines()[:2]), end="", flush=True)
        gc.collect()
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(rows, file, indent=1)
    header = ["model", "scripts", "engines", "share", "difference", "graphs", "breaks", "engines", "difference"]
    print("\n" + table.render([*header, *(["eager ms", "export ms", "compile ms", "inductor ms"] if options.times or options.inductor else [])],
                              [cells(row) for row in rows]))
    taken = [row for row in rows if "error" not in row["export"]]
    worst = max((row[way]["difference"] for row in rows for way in ("export", "compile") if "difference" in row[way]), default=0)
    print(f"{len(rows)} models; {len(taken)} exported, {sum(row['export']['engines'] == 1 for row in taken)} as one engine; "
          f"{sum(bool(row['compile']['engines']) for row in rows)} in engines by torch.compile; the largest difference is {worst:.1e}")
    for way in ["export", "compile", "inductor"]:
        ratios = [math.log(row["ms"]["eager"] / row["ms"][way]) for row in rows if way in row.get("ms", {})]
        if ratios:
            print(f"eager takes {math.exp(sum(ratios) / len(ratios)):.2f} times as long as {way}, the geometric mean of {len(ratios)}")


if __name__ == "__main__":
    main()
