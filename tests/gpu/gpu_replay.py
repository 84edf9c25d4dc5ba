"""Calls that an engine replays as CUDA graphs: right with other pointers, threads and streams, and what a call costs the CPU."""

import concurrent.futures
import functools
import os
import time

import torch
from torch import nn

from gpu_checks import Checks
from gpu_common import DEVICE, synchronize


class Chain(nn.Module):
    """Steps that no rule of fusion joins on a GPU."""

    def __init__(self, steps: int):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(steps // 2))

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x


def _compiled(steps: int, replays: bool = True, dynamic: bool = False):
    import torchtrt

    torch.manual_seed(0)
    module = Chain(steps).eval()
    shape = torchtrt.Input(min_shape=[1, 16], opt_shape=[4, 16], max_shape=[64, 16]) if dynamic else torchtrt.Input([4, 16])
    before = os.environ.pop("TORCHTRT_CUDA_GRAPHS", None)
    try:
        if not replays:
            os.environ["TORCHTRT_CUDA_GRAPHS"] = "0"
        compiled = torchtrt.compile(torch.jit.script(module), inputs=[shape], device=DEVICE)
        return module.to(DEVICE), compiled
    finally:
        os.environ.pop("TORCHTRT_CUDA_GRAPHS", None)
        if before is not None:
            os.environ["TORCHTRT_CUDA_GRAPHS"] = before


def _close(got, expected):
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)


@torch.inference_mode()
def replay(arguments) -> None:
    check = Checks("replay")
    module, compiled = _compiled(20, dynamic=True)

    @check("other memory each time")
    def _():
        kept = [torch.randn(4, 16, device=DEVICE) for _ in range(30)]
        results = [compiled(x) for x in kept]
        for x, got in zip(kept, results):
            _close(got, module(x))

    @check("the same memory, other values")
    def _():
        x = torch.randn(4, 16, device=DEVICE)
        for _ in range(20):
            x.copy_(torch.randn_like(x))
            _close(compiled(x), module(x))

    @check("threads, streams and shapes")
    def _():
        def work(number):
            streams = [torch.cuda.Stream() for _ in range(3)]
            for call in range(300):
                with torch.inference_mode(), torch.cuda.stream(streams[call % 3]):
                    x = torch.full((1 + (call // 20 + number) % 5, 16), float(call % 7), device=DEVICE)
                    got = compiled(x)
                    if call % 10 == number:
                        _close(got, module(x))
            for stream in streams:  # waiting for the device would fail while another thread records
                stream.synchronize()

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))

    @check("memory stays flat")
    def _():
        used = []
        for _ in range(3):
            for rows in range(1, 41):
                for _ in range(4):
                    compiled(torch.randn(rows, 16, device=DEVICE))
            synchronize()
            free, total = torch.cuda.mem_get_info()
            used.append((total - free) >> 20)
        print("TABLE MiB in use after each round of 40 shapes:", *used)
        assert used[2] <= used[1] + 8, used

    check.close()
    _costs()


@torch.inference_mode()
def _costs() -> None:
    """Microseconds of the CPU, and of the GPU and CPU together, for a call of so many kernels."""
    for steps in (8, 40, 200):
        modules = {"launches": _compiled(steps, replays=False)[1], "replay": _compiled(steps)[1]}
        x = torch.randn(4, 16, device=DEVICE)
        others = [torch.randn(4, 16, device=DEVICE) for _ in range(8)]
        row = []
        for name, module in modules.items():
            call = functools.partial(module, x)
            row.append(f"{name} {_cpu(call):.1f} cpu {_both(call):.1f} whole")
            moving = functools.partial(_moving, module, others, [])
            row.append(f"{name} with other tensors {_cpu(moving):.1f} cpu {_both(moving):.1f} whole")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            modules["launches"](x)
        row.append(f"caller's graph {_cpu(graph.replay):.1f} cpu {_both(graph.replay):.1f} whole")
        print(f"TABLE {steps} kernels, us a call: " + "; ".join(row), flush=True)


def _moving(module, inputs, kept) -> None:
    """Input and output lie elsewhere each time."""
    kept.append(module(inputs[len(kept) % len(inputs)]))


def _cpu(call) -> float:
    """Times it without waiting for the GPU: few calls, so that its queue does not fill."""
    best = []
    for _ in range(9):
        synchronize()
        started = time.perf_counter()
        for _ in range(4):
            call()
        best.append((time.perf_counter() - started) / 4 * 1e6)
    synchronize()
    return sorted(best)[len(best) // 2]


def _both(call) -> float:
    best = []
    for _ in range(7):
        synchronize()
        started = time.perf_counter()
        for _ in range(50):
            call()
        synchronize()
        best.append((time.perf_counter() - started) / 50 * 1e6)
    return sorted(best)[len(best) // 2]
