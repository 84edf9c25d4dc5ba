#!/usr/bin/env python3
"""Compiles the models of catalog.py and shows segments, the share of nodes and of time in engines, and if the answers are eager's.

    ./dev models [--all] [--only TEXT] [--reasons]

Every model is compiled for the sizes of its calls and called; a line per model, and at the end how many are one engine, and the
convolutions, matrix multiplications and normalisations that are not in an engine, with their reasons. With --all those of catalog_wide.py too:
every architecture of transformers and timm that it names.
"""

import argparse
import collections
import gc
import pathlib
import re
import sys
import time
import warnings

import torch

import catalog
import torchtrt

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "python"))
import fallback  # noqa: E402 - of the tests, which compare in the same way

# An engine is expected to compute these operators: they take most of a model's time.
HEAVY = re.compile(r"aten::(_convolution|conv\w*|linear|matmul|addmm|bmm|baddbmm|mm|batch_norm|layer_norm|group_norm|instance_norm|"
                   r"scaled_dot_product_attention)\b")
# These reasons excuse a heavy operator in PyTorch.
GOOD_REASONS = {"torch-executed-op", "torch-executed-module", "mutation", "control-flow", "data-dependent"}


def engine_share_of_time(compiled, case) -> float:
    """Returns the share of time within engines, 0 to 1, in one profiled run of all calls."""
    with torch.inference_mode(), torch.autograd.profiler.profile(use_kineto=False) as profile:
        begin = time.perf_counter()
        for call in case.calls:
            compiled(*call)
        whole = (time.perf_counter() - begin) * 1e6
    inside = sum(event.cpu_time_total for event in profile.function_events if event.name == "tensorrt::execute_engine")
    return min(inside / whole, 1.0)


def left_out(report) -> list[tuple[str, str, str]]:
    """Heavy nodes in PyTorch whose reason is none of the good ones: (node, code, reason)."""
    return [(node.node, node.code, node.reason) for node in report.nodes
            if node.target != "engine" and HEAVY.search(node.node) and node.code not in GOOD_REASONS]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="the models of catalog_wide.py too (half an hour)")
    parser.add_argument("--only", default="", metavar="TEXT", help="models whose name contains this")
    parser.add_argument("--reasons", action="store_true", help="print for every model why nodes are in PyTorch")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    failed, heavy, shares, whole = [], [], [], 0
    if options.all:
        import catalog_wide

        catalog.CATALOG.update(catalog_wide.WIDE)
    print("| model | engines | segments in PyTorch | nodes in engines | time in engines | largest difference | compile |")
    print("|---|---|---|---|---|---|---|")
    for name in catalog.CATALOG:
        if options.only not in name:
            continue
        case = catalog.make(name)
        begin = time.perf_counter()
        try:
            compiled = fallback.compile_case(case)
            seconds = time.perf_counter() - begin
            worst, _ = fallback.compare(case, compiled)
        except Exception as error:  # noqa: BLE001 - a model that cannot be compiled is a line of the table, and the exit code
            print(f"| {name} | {type(error).__name__}: {str(error).strip().splitlines()[-1][:120]} | | | | | |", flush=True)
            failed.append(name)
            continue
        report = torchtrt.report(compiled)
        share = engine_share_of_time(compiled, case)
        is_right, judged = worst <= fallback.tolerance(case), ""
        if not is_right and worst < 1:
            ours, eagers = fallback.errors(case, compiled)
            is_right, judged = ours <= fallback.EQUALLY_FAR * eagers, f"; from float64 {ours:.1e}, eager's {eagers:.1e}"
        print(f"| {name} | {report.engine_segments} | {report.torch_segments} | {report.share_in_engines:.0%} | {share:.0%} | "
              f"{worst:.1e}{judged} | {seconds:.1f} s |", flush=True)
        shares.append(report.share_in_engines)
        whole += (report.engine_segments, report.torch_segments) == (1, 0)
        if not is_right:
            failed.append(name)
        heavy += [(name, *each) for each in left_out(report)]
        if options.reasons:
            reasons = collections.Counter(f"{node.code}: {node.reason}" for node in report.nodes if node.target != "engine")
            for reason, count in reasons.most_common():
                print(f"    {count}x {reason}")
        del case, compiled, report
        gc.collect()
    if shares:
        print(f"\n{len(shares)} models, {whole} of them one engine; {sum(shares) / len(shares):.1%} of the nodes in engines, the mean over models")
    print(f"\nconvolutions, matrix multiplications and normalisations in PyTorch for no good reason: {len(heavy)}")
    for each in heavy:
        print("  " + " | ".join(part.replace("\n", " ") for part in each))
    if failed:
        print("failed: " + ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
