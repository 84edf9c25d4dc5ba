#!/usr/bin/env python3
"""Times decoders that make one token a call: GPT-2 and a model of the shape of Llama 3.2 1B, with random weights.

    python bench/decoder.py [--models gpt2 llama] [--ways eager float32 int4 int4-cat onnxruntime] [--threads 1 2] [--position 256]
                            [--capacity 1024] [--tokens 16] [--rounds 5] [--smoke]

"eager" is PyTorch in float32, "float32" and "int4" are engines; these three hold a cache of `capacity` positions and change it in place.
"int4-cat" and "onnxruntime" (MatMulNBits) get the past and give it with one token more. Every way has a process of its own, and all take
turns; the others sleep. "of memory" is the share of the speed at which this machine reads memory, measured in the same rounds, that a step
reaches with its weights and the keys and values that it sees. "divergence" is the mean of KL(eager, way) in nats over seeded tokens,
"same choice" the share of them after which the likeliest token is eager's. onnxruntime needs `./dev bench --peers` once, which installs it.
"""

import argparse
import json
import os
import statistics
import tempfile

import decoders
import processes
import table
import timing

WAYS = ["eager", "float32", "int4", "int4-cat", "onnxruntime"]
MODELS = {"gpt2": ("gpt2", decoders.GPT2), "llama": ("llama", decoders.LLAMA)}
SMALL = {"gpt2": ("gpt2", decoders.SMALL_GPT2), "llama": ("llama", decoders.SMALL_LLAMA)}
MAKE_SECONDS, SERVE_SECONDS = 3000, 900
GROUP_BYTES = 4 / 64  # a scale in float32 for 64 weights


def bytes_of_step(kind: str, configuration: dict, bytes_of_weight: float, position: int) -> float:
    """What one step has to read: the weights of products, and the keys and values up to the position in float32."""
    if kind == "gpt2":
        width, layers = configuration["n_embd"], configuration["n_layer"]
        weights, kept = layers * 12 * width**2 + configuration["vocab_size"] * width, 2 * layers * width
    else:
        width, layers = configuration["hidden_size"], configuration["num_hidden_layers"]
        heads = configuration["head_dim"] * (2 * configuration["num_attention_heads"] + 2 * configuration["num_key_value_heads"])
        weights = layers * width * (heads + 3 * configuration["intermediate_size"]) + configuration["vocab_size"] * width
        kept = 2 * layers * configuration["head_dim"] * configuration["num_key_value_heads"]
    return weights * bytes_of_weight + kept * (position + 1) * 4


def divergence(reference: str, other: str) -> tuple[float, float]:
    """KL in nats and the share of equal first choices, of two files of logits."""
    import torch

    expected, got = (torch.load(name).double().log_softmax(-1) for name in (reference, other))
    same = (expected.argmax(-1) == got.argmax(-1)).double().mean()
    return (expected.exp() * (expected - got)).sum(-1).mean().item(), same.item()


class Run:
    """The processes of one model, and the files that they share."""

    def __init__(self, options, name: str, folder: str):
        self.options, self.name, self.folder = options, name, folder
        self.kind, self.configuration = (SMALL if options.smoke else MODELS)[name]
        self.serving: dict[str, processes.Process] = {}
        self.said: dict[str, str] = {}

    def path(self, way: str, end: str) -> str:
        return os.path.join(self.folder, f"{self.name}-{way}.{end}")

    def start(self, action: str, way: str) -> processes.Process:
        job = {"kind": self.kind, "configuration": self.configuration, "way": way, "file": self.path(way, "step"),
               "capacity": self.options.capacity, "position": self.options.position}
        return processes.Process("decoder_worker.py", [action, json.dumps(job)], self.path(way, action + ".log"))

    def make(self, way: str) -> None:
        process = self.start("make", way)
        try:
            facts = process.listen(MAKE_SECONDS)
            if facts.get("segments", [1, 0]) != [1, 0]:
                self.said[way] = "{} engines and {} segments of PyTorch".format(*facts["segments"])
            self.serving[way] = self.start("serve", way)
            self.serving[way].listen(MAKE_SECONDS)
        except processes.Failed as failure:
            self.said[way] = str(failure)
            self.serving.pop(way, None)
        finally:
            process.end()

    def ask(self, way: str, question: dict) -> dict:
        answer = self.serving[way].ask(question, SERVE_SECONDS)
        self.serving[way].wait_until_idle()
        return answer

    def measure(self, reader: processes.Process, threads: int) -> tuple[dict[str, timing.Timing], float]:
        """Milliseconds a token by way, and GB/s of reading."""
        samples: dict[str, list[float]] = {way: [] for way in self.serving}
        speeds = []
        for round_index in range(self.options.rounds):
            speeds.append(reader.ask({"threads": threads}, SERVE_SECONDS)["gigabytes"])
            for way in timing.turned(list(self.serving), round_index):
                samples[way].append(self.ask(way, {"threads": threads, "tokens": self.options.tokens})["ms"])
        return {way: timing.of_samples(values) for way, values in samples.items()}, statistics.median(speeds)

    def rows(self, reader: processes.Process) -> list[list[str]]:
        for way in self.options.ways:
            self.make(way)
        for way in self.serving:
            self.ask(way, {"score": self.path(way, "logits")})
        found = []
        resident = {way: self.ask(way, {})["resident_bytes"] for way in self.serving}
        for threads in self.options.threads:
            times, speed = self.measure(reader, threads)
            for way, time in times.items():
                weight = 4 if way in ("eager", "float32") else 0.5 + GROUP_BYTES
                read = bytes_of_step(self.kind, self.configuration, weight, self.options.position) / time.median / 1e6
                nats, same = divergence(self.path("eager", "logits"), self.path(way, "logits")) if "eager" in times else (0, 0)
                found.append([f"{self.name}, {way}", str(threads), f"{time.median:.2f}", f"{1e3 / time.median:.1f}", f"{read:.1f}",
                              f"{read / speed:.0%}", f"{resident[way] / 1e6:.0f}", f"{nats:.2g}" if "eager" in times else "-",
                              f"{same:.0%}" if "eager" in times else "-"])
            found.append([f"{self.name}, reading", str(threads), "", "", f"{speed:.1f}", "", "", "", ""])
        return found

    def end(self) -> None:
        for process in self.serving.values():
            process.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS[:-1])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--position", type=int, default=256, help="positions in the cache before the first token that is timed")
    parser.add_argument("--capacity", type=int, default=1024)
    parser.add_argument("--tokens", type=int, default=16, help="in a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--smoke", action="store_true", help="small models and few tokens")
    options = parser.parse_args()
    if options.smoke:
        options.position, options.capacity, options.tokens, options.rounds = 20, 64, 4, 2
    if options.position + options.tokens + 2 > options.capacity:
        parser.error(f"--capacity has to be at least {options.position + options.tokens + 2} for these positions and tokens")
    print(f"position {options.position} of {options.capacity}, load of others {timing.quiet():.2f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        reader = processes.Process("decoder_worker.py", ["reading", "{}"], os.path.join(folder, "reading.log"))
        try:
            reader.listen(SERVE_SECONDS)
            for name in options.models:
                run = Run(options, name, folder)
                try:
                    print(table.render(["", "threads", "ms", "tokens/s", "GB/s", "of memory", "MB", "divergence", "same choice"],
                                       run.rows(reader)))
                    for way, text in run.said.items():
                        print(f"{name}, {way}: {text}")
                finally:
                    run.end()
        finally:
            reader.end()


if __name__ == "__main__":
    main()
