"""The sections of tests/gpu/run.sh: engines on a GPU against eager PyTorch there. Prints FAIL, CRASH and SLOW lines, goes on, and sums up."""

import argparse
import sys

from gpu_batches import invariance, rows
from gpu_bench import precisions, tuned
from gpu_checks import capture, files, misuse, pack, smoke, threads
from gpu_common import exact_settings
from gpu_counters import counters, one_call
from gpu_exports import exports
from gpu_kernels import kernels
from gpu_models import models, one_model
from gpu_operators import operators, operators_of_shard
from gpu_processes import processes
from gpu_replay import replay
from gpu_startup import startup, try_start

SECTIONS = {each.__name__: each for each in (smoke, operators, models, exports, files, threads, capture, replay, misuse, processes, rows, kernels, precisions, startup, tuned, invariance, counters)}


def main() -> None:
    exact_settings()
    if sys.argv[1] == "pack":
        pack(sys.argv[2])
    elif sys.argv[1] == "one-model":
        one_model(sys.argv[2])
    elif sys.argv[1] == "one-call":
        one_call(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1] == "one-start":
        try_start(sys.argv[2:])
    else:
        parser = argparse.ArgumentParser()
        parser.add_argument("section", choices=[*SECTIONS, "operators-of-shard"])
        parser.add_argument("--out", default=".")
        parser.add_argument("--seconds", type=float, default=270)
        parser.add_argument("--shard", type=int, default=0)
        parser.add_argument("--shards", type=int, default=1)
        parser.add_argument("--skip", type=int, default=0)
        arguments = parser.parse_args()
        if arguments.section == "operators-of-shard":
            operators_of_shard(arguments.shard, arguments.shards, arguments.skip, arguments.seconds)
        else:
            SECTIONS[arguments.section](arguments)


if __name__ == "__main__":
    main()
