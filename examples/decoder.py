"""A decoder that makes token after token: GPT-2's blocks with random weights, a cache that is changed in place, and weights of 4 bits.

    . .venv/bin/activate; PYTHONPATH=build/release/python python examples/decoder.py [--full] [--tokens 64]
"""

import argparse
import pathlib
import sys
import time
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))

import decoders  # noqa: E402
import torchtrt  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--full", action="store_true", help="GPT-2's own size, with 124 million weights")
    options = parser.parse_args()
    torch.set_grad_enabled(False)
    warnings.simplefilter("ignore")  # of tracing a model that has branches for other calls

    model = decoders.make("gpt2", decoders.GPT2 if options.full else decoders.SMALL_GPT2)
    capacity = options.tokens
    # The step gets a token, its position and the cache: tensors [1, heads, capacity, width] for the keys and values of each layer. It
    # writes into them with index_copy_, and returns logits alone. The engine writes one position of each, too, and copies nothing.
    step = decoders.traced(model, "in_place", capacity)
    inputs = [torchtrt.Input([1, 1], dtype=torch.int64), torchtrt.Input([1], dtype=torch.int64),
              *(torchtrt.Input(list(tensor.shape)) for tensor in decoders.cache(model, capacity))]
    ways = {"PyTorch, float32": step, "engine, float32": torchtrt.compile(step, inputs=inputs),
            "engine, 4 bits": torchtrt.compile(step, inputs=inputs, weight_precision="int4", group_size=32)}
    found = {}
    for name, way in ways.items():
        begin = time.perf_counter()
        found[name], _ = decoders.greedy(decoders.Generator(way, model, "in_place", capacity), first=5, count=options.tokens)
        print(f"{name}: {options.tokens / (time.perf_counter() - begin):.0f} tokens a second, {found[name][:8]} ...")
    report = torchtrt.report(ways["engine, 4 bits"])
    print(f"{report.engine_segments} engine, {report.torch_segments} segments in PyTorch")
    if found["engine, float32"] != found["PyTorch, float32"]:
        raise SystemExit("the engine in float32 made other tokens than PyTorch")


if __name__ == "__main__":
    main()
