"""`./dev bench`: the engine against eager PyTorch, torch.jit.freeze, torch.jit.optimize_for_inference and, with --peers, other systems,
in turn in one run.

Prints a table of medians and ratios and one of build, load and first call; --json writes every figure, --plot draws the medians. Speed is
shown here and asserted nowhere.
"""

import argparse
import json
import platform
import statistics
import sys
import time
import warnings

import torch

import footprint
import models
import peers
import plot
import table
import timing

WAYS = ["eager", "script", "freeze", "optimize_for_inference", "engine"]
TORCHSCRIPT_WAYS = ["script", "freeze", "optimize_for_inference"]


PEER_MODELS = ["lenet", "resnet50", "mobilenet_v3_large", "efficientnet_b0", "convnext_tiny", "vit_b_16", "swin_t", "bert_base", "minilm",
               "gpt2", "unet"]


def candidates(name: str, batch: int, others: list[str]) -> tuple[dict, dict]:
    """Callables for every way of running the model, and facts about the compilation. What fails says so and is left out."""
    import torchtrt

    module, x = models.build(name), models.sample(name, batch)
    traced = torch.jit.trace(module, x, check_trace=False)
    frozen = torch.jit.freeze(torch.jit.trace(module, x, check_trace=False))
    optimized = torch.jit.optimize_for_inference(torch.jit.trace(module, x, check_trace=False))
    start = time.perf_counter()
    compiled = torchtrt.compile(traced, inputs=[torchtrt.Input(list(x.shape))])
    build_seconds = time.perf_counter() - start
    expected = module(x)
    error = ((compiled(x) - expected).abs().max() / expected.abs().max()).item()
    ways = dict(zip(WAYS, [module, traced, frozen, optimized, compiled]))
    calls = {way: (lambda f=f: f(x)) for way, f in ways.items()}
    seconds = {}
    for other in others:
        start = time.perf_counter()
        try:
            calls[other] = peers.make(other, module, x, torch.get_num_threads())
            seconds[other] = time.perf_counter() - start
        except Exception as problem:  # noqa: BLE001: whatever stops a peer, the others are measured
            print(f"  {other} does not run {name}: {str(problem).strip().splitlines()[0]}", file=sys.stderr)
    return calls, {"build_seconds": build_seconds, "relative_error": error, "peer_build_seconds": seconds}


def run(names: list[str], batch: int, threads: int, rounds: int, others: list[str]) -> list[dict]:
    torch.set_num_threads(threads)
    results = []
    with torch.inference_mode():
        for index, name in enumerate(names):
            print(f"[{index + 1}/{len(names)}] {name} ...", file=sys.stderr, flush=True)
            calls, facts = candidates(name, batch, others)
            for _ in range(3):
                load = timing.quiet()
                timings = timing.in_turn(calls, rounds)
                if load <= timing.LOAD_LIMIT:
                    break
            best = min(timings[way].median for way in TORCHSCRIPT_WAYS)
            results.append({
                "model": name, "batch": batch, "threads": threads, "load": round(load, 3), **facts, **footprint.measure(name, batch),
                "milliseconds": {way: vars(t) for way, t in timings.items()},
                "ratio_to_fastest_torchscript": best / timings["engine"].median,
                "ratio_to_best_of_all": min(t.median for way, t in timings.items() if way != "engine") / timings["engine"].median,
            })
    return results


def report(results: list[dict], others: list[str]) -> str:
    ways = [*WAYS[:-1], *others, WAYS[-1]]
    header = ["model", "batch", *(f"{way} ms" for way in ways), "quartiles of engine", "x fastest TorchScript",
              *(["x best of all"] if others else []), "rel. error"]
    rows = []
    for result in results:
        ms, engine = result["milliseconds"], result["milliseconds"]["engine"]
        rows.append([
            result["model"], result["batch"], *(f"{ms[way]['median']:.3f}" if way in ms else "-" for way in ways),
            f"{engine['lower']:.3f}..{engine['upper']:.3f}", f"{result['ratio_to_fastest_torchscript']:.2f}",
            *([f"{result['ratio_to_best_of_all']:.2f}"] if others else []), f"{result['relative_error']:.0e}"])
    return table.render(header, rows)


def costs(results: list[dict]) -> str:
    """What it takes to get a compiled model running."""
    header = ["model", "build s", "peak of the build MB", "weights MB", "file MB", "load s", "slowest", "first call ms", "x median call"]
    rows = []
    for r in results:
        rows.append([
            r["model"], f"{r['build_seconds']:.2f}", *(f"{r[key] / 1e6:.1f}" for key in ("compile_peak_bytes", "weight_bytes", "file_bytes")),
            f"{r['load_seconds']:.2f}", f"{max(r['load_seconds_of_each']):.2f}", f"{r['first_call_ms']:.2f}",
            f"{r['first_call_ms'] / r['call_ms']:.1f}"])
    return table.render(header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("models", nargs="*", help=f"of: {', '.join(models.ALL)}")
    parser.add_argument("--peers", nargs="?", const=",".join(peers.NAMES), default="", metavar="NAMES",
                        help="with more models, and beside other systems: all, or those of NAMES, by commas")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=timing.threads_available())
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    parser.add_argument("--plot", metavar="FILE", help=f"draw medians and quartiles there: {', '.join(plot.FORMATS)}")
    options = parser.parse_args()
    others = [name for name in options.peers.split(",") if name]
    strangers = [name for name in others if name not in peers.NAMES]
    if strangers:
        parser.error(f"unknown peer {strangers[0]!r}: expected one of {', '.join(peers.NAMES)}")
    if options.plot and not options.plot.endswith(plot.FORMATS):
        parser.error(f"cannot draw {options.plot!r}: expected a name that ends in {', '.join(plot.FORMATS)}")
    options.models = options.models or (PEER_MODELS if others else ["lenet", "mobilenet_v3_large", "resnet50", "efficientnet_b0"])
    unknown = [name for name in options.models if name not in models.ALL]
    if unknown:
        parser.error(f"unknown model {unknown[0]!r}: expected one of {', '.join(models.ALL)}")

    warnings.filterwarnings("ignore")  # of tracing and exporting
    results = run(options.models, options.batch, options.threads, options.rounds, others)
    print(f"{options.threads} threads, batch {options.batch}, torch {torch.__version__}, medians of {options.rounds} rounds in turn")
    print(report(results, others))
    print(f"\nwhat it costs, each from a process of its own; load, first call and call are medians of {footprint.LOADS} processes")
    print(costs(results))
    if others:
        ratios = [result["ratio_to_best_of_all"] for result in results]
        print(f"\ngeometric mean over the best of all others: {statistics.geometric_mean(ratios):.2f}")
    busy = [r["model"] for r in results if r["load"] > timing.LOAD_LIMIT]
    if busy:
        print(f"measured under load, repeat on a quiet machine: {', '.join(busy)}")
    if options.plot:
        plot.draw(results, [*WAYS[:-1], *others, WAYS[-1]], options.plot)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": platform.processor() or platform.machine(), "torch": torch.__version__, "results": results}, file,
                      indent=2)


if __name__ == "__main__":
    main()
