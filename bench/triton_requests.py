"""Requests to a real Triton server with dynamic batching, at several numbers of clients: torchtrt against TorchScript on the same server, in turns.
`./dev test integrations` makes the environment that it needs:

    INTEGRATIONS/bin/python bench/triton_requests.py [--model mobilenet_v3_large] [--requests 400] [--clients 1,4,16] [--rounds 3] [--smoke]

The server runs in this process (pytriton), the clients in another one. A request is one image. All results are compared.
"""

import argparse
import concurrent.futures
import functools
import json
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy

import models
import table

WAYS = ["torchtrt", "TorchScript"]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def clients() -> None:
    """The other process: a line {"model", "clients", "requests"} in, a line of milliseconds out; then the results of the sample in a file."""
    import tritonclient.http as http

    port, sample = int(sys.argv[2]), numpy.load(sys.argv[3])
    own = threading.local()

    def ask(model: str, number: int) -> tuple[float, numpy.ndarray]:
        if not hasattr(own, "client"):
            own.client = http.InferenceServerClient(f"127.0.0.1:{port}", network_timeout=300, connection_timeout=300)
        image = sample[number % len(sample)][None]
        value = http.InferInput(sys.argv[4], list(image.shape), "FP32")
        value.set_data_from_numpy(image)
        begin = time.perf_counter()
        result = own.client.infer(model, [value]).as_numpy("OUTPUT__0")
        return (time.perf_counter() - begin) * 1e3, result

    for line in sys.stdin:
        job = json.loads(line)
        with concurrent.futures.ThreadPoolExecutor(job["clients"]) as pool:
            one = functools.partial(ask, job["model"])
            list(pool.map(one, range(4 * job["clients"])))  # connections, first calls
            begin = time.perf_counter()
            answers = list(pool.map(one, range(job["requests"])))
            seconds = time.perf_counter() - begin
        numpy.save(job["results"], numpy.concatenate([result for _, result in answers[:len(sample)]]))
        print(json.dumps({"milliseconds": [each for each, _ in answers], "seconds": seconds}), flush=True)


def serve(server, model: str, folder: str, most: int):
    """Both ways as models of one server. Returns the name of their argument."""
    import torch

    import torchtrt
    from torchtrt.integrations import triton

    module, x = models.build(model), models.sample(model)
    script = torch.jit.trace(module, x)
    sizes = list(x.shape[1:])
    rows = torchtrt.Input(min_shape=[1, *sizes], opt_shape=[min(8, most), *sizes], max_shape=[most, *sizes])
    torchtrt.compile(script, inputs=[rows], progress=False).save(f"{folder}/torchtrt.ts")
    found = triton.bind(server, f"{folder}/torchtrt.ts", max_queue_delay_us=2000)
    frozen = torch.jit.freeze(script.eval())
    triton._bind(server, "TorchScript", [triton._instance(frozen, found, torch.device("cpu"), None)], found, 2000)
    return found.inputs[0].name


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/triton_requests.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mobilenet_v3_large")
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--clients", default="1,4,16")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--smoke", action="store_true", help="few requests, one round: does it run")
    options = parser.parse_args()
    if options.smoke:
        options.requests, options.rounds = 32, 1
    from torchtrt.integrations import triton

    port = free_port()
    counts = [int(each) for each in options.clients.split(",")]
    taken: dict = {(way, count): [] for count in counts for way in WAYS}
    results = {}
    with tempfile.TemporaryDirectory(prefix="torchtrt-bench-") as folder:
        numpy.save(f"{folder}/sample.npy", models.sample(options.model, 16, seed=1).numpy())
        with triton.server(http_port=port, allow_grpc=False, allow_metrics=False) as server:
            argument = serve(server, options.model, folder, 16)
            command = [sys.executable, str(pathlib.Path(__file__)), "clients", str(port), f"{folder}/sample.npy", argument]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                for turn in range(options.rounds):
                    for way, count in taken:
                        print(f"round {turn + 1} of {options.rounds}: {way}, {count} clients", file=sys.stderr, flush=True)
                        job = {"model": way, "clients": count, "requests": options.requests, "results": f"{folder}/{way}.npy"}
                        process.stdin.write(json.dumps(job) + "\n")
                        process.stdin.flush()
                        taken[way, count].append(json.loads(process.stdout.readline()))
                        results[way] = numpy.load(f"{folder}/{way}.npy")
                process.stdin.close()
    rows = []
    for (way, count), parts in taken.items():
        cuts = statistics.quantiles([each for part in parts for each in part["milliseconds"]], n=100)
        speed = statistics.median(options.requests / part["seconds"] for part in parts)
        rows.append([f"{way}, {count} clients", f"{speed:.0f}", *(f"{cuts[percent - 1]:.1f}" for percent in (50, 90, 99))])
    difference = float(numpy.abs(results["torchtrt"] - results["TorchScript"]).max() / numpy.abs(results["TorchScript"]).max())
    print(f"{options.model}, one image a request, dynamic batches of up to 16\n")
    print(table.render(["way", "requests a second", "p50 ms", "p90 ms", "p99 ms"], rows))
    print(f"\nlargest difference of results: {difference:.1e}")
    return 0


if __name__ == "__main__":
    clients() if len(sys.argv) > 1 and sys.argv[1] == "clients" else sys.exit(main())
