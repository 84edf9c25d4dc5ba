"""Batches on a GPU with batch_invariant=True: each row of a batch has the bits of its single run, in layers and models, and what that costs."""

import statistics
import time

import torch

from gpu_common import DEVICE, first_line, implementations, synchronize

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
NUMBERS = (1, 2, 3, 5, 8, 17)
MODELS = ("resnet18, traced", "mobilenet_v3_small, traced", "efficientnet_b0, traced", "vision transformer, scripted", "swin transformer, scripted")


def _compiled(module, inputs, batch, **options):
    import batches

    return batches.compile_for(module, inputs, batch, device=DEVICE, batch_invariant=True, **options)


def _different(module, inputs) -> str:
    """The first batch of which a row differs from its single run, in a plan for all batches and in plans for one; empty if there is none."""
    import batches

    alone, of_all = _compiled(module, inputs, 1), _compiled(module, inputs, None)
    for batch in NUMBERS:
        for kind, run in (("one plan", of_all), ("a plan of its own", _compiled(module, inputs, batch))):
            if different := batches.rows_that_differ(alone, run, inputs, batch):
                return f"rows {different[:5]} of a batch of {batch}, {kind}: {dict(implementations(run))}"
    return ""


def _cases():
    """Names with what makes a module and its inputs on the GPU."""
    import batches
    import catalog

    def of_layer(name, dtype):
        module, inputs = batches.layer(name, dtype)
        return module.to(DEVICE), [x.to(DEVICE) for x in inputs]

    def of_model(name, dtype):
        case = catalog.make(name)
        x = catalog.noise(NUMBERS[-1], *case.calls[0][0].shape[1:], seed=3)
        return case.script.to(DEVICE).to(dtype), [x.to(DEVICE).to(dtype)]

    for dtype in DTYPES:
        for name in batches.LAYERS:
            yield f"{name} in {str(dtype).removeprefix('torch.')}", lambda name=name, dtype=dtype: of_layer(name, dtype)
        for name in MODELS:
            yield f"{name} in {str(dtype).removeprefix('torch.')}", lambda name=name, dtype=dtype: of_model(name, dtype)


def rows(arguments) -> None:
    begin, equal, failed = time.monotonic(), 0, 0
    for name, make in _cases():
        if time.monotonic() - begin > arguments.seconds - 20:
            print(f"stopped before {name}: time is up", flush=True)
            break
        try:
            with torch.inference_mode():
                different = _different(*make())
        except Exception as error:  # noqa: BLE001 - of whatever kind: the rest goes on
            different = first_line(error)
        equal, failed = equal + (not different), failed + bool(different)
        if different:
            print(f"FAIL rows: {name}: {different}", flush=True)
    print(f"SUM rows: {equal} passed, {failed} failed", flush=True)


def _milliseconds(run, x, calls: int) -> float:
    synchronize()
    begin = time.perf_counter()
    for _ in range(calls):
        run(x)
    synchronize()
    return 1e3 * (time.perf_counter() - begin) / calls


def invariance(arguments) -> None:
    """Times of calls with and without the option, in turns: medians of 20 rounds."""
    import models
    import torchtrt

    begin = time.monotonic()
    for name in ("resnet50", "bert_base"):
        for dtype in (torch.float32, torch.float16):
            for batch in (1, 8, 32):
                if time.monotonic() - begin > arguments.seconds - 40:
                    print("stopped: time is up", flush=True)
                    return
                module = models.build(name).to(DEVICE).to(dtype)
                x = models.sample(name, batch).to(DEVICE)
                x = x.to(dtype) if x.is_floating_point() else x
                with torch.inference_mode():
                    runs = [torchtrt.compile(module, inputs=[x], batch_invariant=asked, check_results=False) for asked in (False, True)]
                    times = [[_milliseconds(run, x, 10) for run in runs] for _ in range(21)][1:]
                plain, invariant = (statistics.median(column) for column in zip(*times))
                print(f"{name} {str(dtype).removeprefix('torch.')} batch {batch}: {plain:.3f} ms, batch_invariant {invariant:.3f} ms, "
                      f"{invariant / plain:.2f} times", flush=True)
