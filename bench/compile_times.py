#!/usr/bin/env python3
"""Shows where compiling spends its time: a line per model and a column per phase.

    python bench/compile_times.py [--only TEXT] [--most 10] [--samples]

The models of catalog.py and catalog_wide.py, and scripted ones that are long to compile, for the sizes of their calls; with --samples for
the calls' tensors, so that results are compared with PyTorch's. The slowest stand first. "CPU" is what the process used on all its cores:
on a busy machine it says more than the time that passed.
"""

import argparse
import gc
import importlib
import pathlib
import sys
import time
import warnings

import torch

import catalog
import catalog_wide
import torchtrt
from settling import settle

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "python"))
import fallback  # noqa: E402: of the tests, which take the same inputs

PHASES = ["lowering", "partitioning", "conversion", "building", "loading", "stitching", "validation"]


def _torchvision(kind: str, name: str, *size: int):
    def build():
        x = catalog.noise(1, 3, *size)
        return catalog.scripted(settle(getattr(importlib.import_module(kind), name)(weights=None).eval(), x), (x,))

    return build


def _timm(name: str):
    def build():
        import timm

        x = catalog.noise(1, 3, 224, 224)
        return catalog.scripted(settle(timm.create_model(name, pretrained=False, scriptable=True).eval(), x), (x,))

    return build


LONG = {
    "densenet121, scripted": _torchvision("torchvision.models", "densenet121", 224, 224),
    "mvit_v2_s, scripted": _torchvision("torchvision.models.video", "mvit_v2_s", 16, 224, 224),
    "gcvit_xxtiny, scripted": _timm("gcvit_xxtiny"),
    "volo_d1_224, scripted": _timm("volo_d1_224"),
}


def timed(case, with_samples: bool):
    """The report, the seconds that passed and those of the processors."""
    samples = {"sample_inputs": list(case.calls[0])} if with_samples else {}
    with torchtrt.logging.errors():
        begin, begin_cpu = time.perf_counter(), time.process_time()
        compiled = torchtrt.compile(case.script, inputs=fallback.inputs_of(case), progress=False, **samples)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
    return torchtrt.report(compiled), seconds, cpu


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="models whose name contains it")
    parser.add_argument("--most", type=int, default=10, help="models of the table at the end (default 10)")
    parser.add_argument("--samples", action="store_true", help="compile for tensors, with which results are checked")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    rows = []
    for name, build in {**LONG, **catalog.CATALOG, **catalog_wide.WIDE}.items():
        if options.only not in name:
            continue
        torch.manual_seed(0)
        case = build()
        try:
            report, seconds, cpu = timed(case, options.samples)
        except Exception as error:  # noqa: BLE001: a model that cannot be compiled has no time
            print(f"{name}: {type(error).__name__}: {str(error).strip().splitlines()[0][:100]}", file=sys.stderr)
            continue
        milliseconds = {phase.name: phase.milliseconds for phase in report.phases}
        rows.append((seconds, cpu, name, [milliseconds[phase] for phase in PHASES]))
        print(f"{name}: {seconds:.2f} s, {cpu:.2f} s CPU", file=sys.stderr, flush=True)
        del case, report
        gc.collect()
    print("| model | seconds | CPU | " + " | ".join(PHASES) + " |")
    print("|---|" + "---|" * (len(PHASES) + 2))
    for seconds, cpu, name, phases in sorted(rows, reverse=True)[: options.most]:
        print(f"| {name} | {seconds:.2f} | {cpu:.2f} | " + " | ".join(f"{each / 1e3:.2f}" for each in phases) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
