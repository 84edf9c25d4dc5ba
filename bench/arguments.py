"""The arguments of `./dev bench`, with the defaults of a CPU and of a GPU."""

import argparse
import pathlib
import re

import devices
import job
import models
import plot
import timing

MODELS = ["lenet", "mobilenet_v3_large", "resnet50", "efficientnet_b0"]
PEER_MODELS = ["lenet", "resnet50", "mobilenet_v3_large", "efficientnet_b0", "convnext_tiny", "vit_b_16", "swin_t", "bert_base", "minilm",
               "gpt2", "ssd300", "unet", "silero_vad"]
PRECISION_MODELS = ["resnet50", "mobilenet_v3_large", "efficientnet_b0", "convnext_tiny", "vit_b_16", "swin_t", "bert_base", "minilm", "gpt2",
                    "unet"]
DEFAULT_FILE = pathlib.Path(__file__).parents[1] / "build" / "bench.json"
ALL = "all"  # of the device's other systems


def _numbers(text: str) -> list[int]:
    values = [int(each) for each in text.split(",")]
    if min(values) < 1:
        raise ValueError(text)
    return values


def _device(text: str) -> str:
    if not re.fullmatch(r"cpu|cuda(:\d+)?", text):
        raise argparse.ArgumentTypeError(f'expected "cpu", "cuda" or for example "cuda:1", got "{text}"')
    return "cuda:0" if text == "cuda" else text


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _dtypes(text: str) -> list[str]:
    return [job.SHORT.get(name, name) for name in _names(text)]


def _parser(text: str) -> argparse.ArgumentParser:
    threads = timing.threads_available()
    parser = argparse.ArgumentParser(prog="./dev bench", description=text)
    parser.add_argument("--device", type=_device, default=job.CPU, help='"cpu", the default, "cuda" or for example "cuda:1"')
    parser.add_argument("--precision", "--dtype", dest="dtype", type=_dtypes, metavar="NAMES",
                        help=f"by commas, of: {', '.join([*job.SHORT, *job.DTYPES])}; default: float32, on a GPU float16. w4 is weights of 4 bits "
                             "alone, tf32 is a GPU's float32 whose factors may be rounded")
    parser.add_argument("--models", default="", metavar="NAMES", help=f"by commas, of: {', '.join(models.ALL)}")
    parser.add_argument("--peers", nargs="?", const=ALL, default="", metavar="NAMES",
                        help="with more models, batches and threads, and beside other systems: all, or those of NAMES, by commas")
    parser.add_argument("--ahead", type=int, default=0, metavar="N",
                        help="compile TorchInductor's modules of N models side by side before the first one is timed")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--neighbour", action="store_true",
                         help="ATen operators beside an engine, CPU time after a call, several callers, first calls (of --models)")
    instead.add_argument("--memory", action="store_true", help="over many calls and compiles, and (of --models) beside ONNX Runtime's")
    parser.add_argument("--batch", type=_numbers, metavar="N,...", help="default: 1, with --peers 1,8, with --precision 1, on a GPU 1,32")
    parser.add_argument("--threads", type=_numbers, metavar="N,...", help=f"default: {threads}, with --peers also 1, on a GPU {threads}")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--limit", type=float, default=600, metavar="S",
                        help="seconds for making or loading a way; more is a failure (600)")
    parser.add_argument("--budget", type=float, default=0, metavar="MIN",
                        help="begin with no model after so many minutes; --resume goes on")
    parser.add_argument("--json", default=str(DEFAULT_FILE), metavar="FILE", help="keep all figures there (build/bench.json)")
    parser.add_argument("--resume", action="store_true", help="take from that file what was measured on this machine with this build")
    parser.add_argument("--plot", metavar="FILE", help=f"draw medians and quartiles there: {', '.join(plot.FORMATS)}")
    return parser


def parse(text: str, given: list[str] | None = None) -> argparse.Namespace:
    """The arguments of `given`, by default the program's. Those that fit nothing end the program. `text` is for --help."""
    parser, threads = _parser(text), timing.threads_available()
    options = parser.parse_args(given)
    device, is_cpu = devices.of(options.device), options.device == job.CPU
    options.peers = list(device.peers) if options.peers == ALL else _names(options.peers)
    options.chosen = _names(options.models)
    is_below = is_cpu and bool(options.dtype)
    options.models = options.chosen or (PRECISION_MODELS if is_below else PEER_MODELS if options.peers or options.memory or not is_cpu else MODELS)
    options.dtype = options.dtype or (["float32"] if is_cpu else ["float16"])
    options.batch = options.batch or ([1, 32] if not is_cpu else [1, 8] if options.peers and not is_below else [1])
    options.threads = options.threads or (sorted({threads, 1}, reverse=True) if options.peers and is_cpu else [threads])
    for values, known, what in [(options.peers, device.peers, "peer"), (options.models, models.ALL, "model"), (options.dtype, job.DTYPES, "dtype")]:
        for name in values:
            if name not in known:
                parser.error(f"unknown {what} {name!r}: expected one of {', '.join(known)}")
    for name in options.dtype:
        if name not in device.dtypes:
            parser.error(f"--precision {name} is for a {'GPU' if is_cpu else 'CPU'}: expected {', '.join(device.dtypes)}")
    if options.plot and is_cpu and len(options.dtype) > 1:
        parser.error(f"--plot draws one precision of a CPU, got {', '.join(options.dtype)}")
    if not is_cpu and (options.neighbour or options.memory):
        parser.error(f"--{'neighbour' if options.neighbour else 'memory'} measures a CPU: expected --device cpu, got {options.device}")
    if options.ahead and "inductor" not in options.peers:
        parser.error("--ahead compiles TorchInductor's modules: expected --peers with inductor")
    if options.rounds < 2:
        parser.error(f"quartiles want at least 2 rounds, got {options.rounds}")
    if options.plot and not options.plot.endswith(plot.FORMATS):
        parser.error(f"cannot draw {options.plot!r}: expected a name that ends in {', '.join(plot.FORMATS)}")
    return options
