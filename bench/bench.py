"""`./dev bench`: the engine against eager PyTorch, torch.jit.freeze, torch.jit.optimize_for_inference and, with --peers, other systems,
in turn, each in a process of its own.

Prints tables of medians and ratios, and of what each way costs beside its calls; --json keeps every figure, --plot draws the medians.
Speed is shown here and asserted nowhere. --neighbour and --memory measure other things, each in tables of its own: what an engine costs the
rest of its process, and whether memory stays flat.
"""

import argparse
import pathlib
import signal
import sys
import time

import cell
import flat
import kept
import models
import neighbour
import peers
import plot
import processes
import report
import timing
import ways

MODELS = ["lenet", "mobilenet_v3_large", "resnet50", "efficientnet_b0"]
PEER_MODELS = ["lenet", "resnet50", "mobilenet_v3_large", "efficientnet_b0", "convnext_tiny", "vit_b_16", "swin_t", "bert_base", "minilm",
               "gpt2", "ssd300", "unet", "silero_vad"]
DEFAULT_FILE = pathlib.Path(__file__).parents[1] / "build" / "bench.json"


BEGIN = time.monotonic()


def progress(text: str) -> None:
    print(f"[{time.monotonic() - BEGIN:6.0f} s] {text}", file=sys.stderr, flush=True)


def run(cells: list[tuple[str, int, int]], names: list[str], options, results: kept.Kept) -> list[dict]:
    """The results of (model, batch, threads), kept ones with --resume; of fewer where the budget of time ends."""
    done = []
    for index, key in enumerate(cells):
        where = f"[{index + 1}/{len(cells)}] {key[0]}, batch {key[1]}, threads {key[2]}"

        def say(text: str, where=where) -> None:
            progress(f"{where}: {text}")

        result = results.find(*key, names, options.rounds) if options.resume else None
        if result:
            say("kept")
        elif options.budget and time.monotonic() - BEGIN > options.budget * 60:
            say("left out, the budget of time is spent")
            continue
        else:
            try:
                result = cell.measure(*key, names, options.rounds, options.limit, say)
            except processes.Failed as failure:
                say(f"the model itself fails: {failure}")
                continue
            results.add(result)
        done.append(result)
    return done


def numbers(text: str) -> list[int]:
    values = [int(each) for each in text.split(",")]
    if min(values) < 1:
        raise ValueError(text)
    return values


def parse() -> argparse.Namespace:
    threads = timing.threads_available()
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--models", default="", metavar="NAMES", help=f"by commas, of: {', '.join(models.ALL)}")
    parser.add_argument("--peers", nargs="?", const=",".join(peers.NAMES), default="", metavar="NAMES",
                        help="with more models, batches and threads, and beside other systems: all, or those of NAMES, by commas")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--neighbour", action="store_true",
                         help="ATen operators beside an engine, CPU time after a call, several callers, first calls (of --models)")
    instead.add_argument("--memory", action="store_true", help="over many calls and compiles, and (of --models) beside ONNX Runtime's")
    parser.add_argument("--batch", type=numbers, metavar="N,...", help="default: 1, with --peers 1,8")
    parser.add_argument("--threads", type=numbers, metavar="N,...", help=f"default: {threads}, with --peers also 1")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--limit", type=float, default=600, metavar="S",
                        help="seconds for making or loading a way; more is a failure (600)")
    parser.add_argument("--budget", type=float, default=0, metavar="MIN",
                        help="begin with no model after so many minutes; --resume goes on")
    parser.add_argument("--json", default=str(DEFAULT_FILE), metavar="FILE", help="keep all figures there (build/bench.json)")
    parser.add_argument("--resume", action="store_true", help="take from that file what was measured on this machine with this build")
    parser.add_argument("--plot", metavar="FILE", help=f"draw medians and quartiles there: {', '.join(plot.FORMATS)}")
    options = parser.parse_args()
    options.peers = [name for name in options.peers.split(",") if name]
    options.chosen = [name for name in options.models.split(",") if name]
    options.models = options.chosen or (PEER_MODELS if options.peers or options.memory else MODELS)
    options.batch = options.batch or ([1, 8] if options.peers else [1])
    options.threads = options.threads or (sorted({threads, 1}, reverse=True) if options.peers else [threads])
    for given, known, what in [(options.peers, peers.NAMES, "peer"), (options.models, models.ALL, "model")]:
        for name in given:
            if name not in known:
                parser.error(f"unknown {what} {name!r}: expected one of {', '.join(known)}")
    if options.rounds < 2:
        parser.error(f"quartiles want at least 2 rounds, got {options.rounds}")
    if options.plot and not options.plot.endswith(plot.FORMATS):
        parser.error(f"cannot draw {options.plot!r}: expected a name that ends in {', '.join(plot.FORMATS)}")
    return options


def main() -> int:
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of all that ends processes and removes folders
    if options.neighbour:
        neighbour.main(options.chosen, max(options.threads), options.rounds, progress)
        return 0
    if options.memory:
        return 0 if flat.main(options.models, max(options.threads), options.limit, progress) else 1
    names = [*ways.NAMES[:-1], *options.peers, ways.ENGINE]
    settings = [(batch, threads) for batch in options.batch for threads in options.threads]
    cells = [(model, batch, threads) for batch, threads in settings for model in options.models]
    environment = kept.environment()
    results = run(cells, names, options, kept.Kept(options.json, environment))
    print(f"{environment['cpu']}, {environment['cores']} cores; "
          + ", ".join(f"{name} {version}" for name, version in environment["versions"].items()) + "; float32")
    for setting in settings:
        if of_setting := [result for result in results if (result["batch"], result["threads"]) == setting]:
            print("\n" + report.whole(of_setting, names))
    if options.plot and results:
        plot.draw(results, names, options.plot)
    return 0 if len(results) == len(cells) else 1


if __name__ == "__main__":
    sys.exit(main())
