"""Times of engines on a GPU beside eager PyTorch and frozen TorchScript, each with and without a CUDA graph."""

import os
import time

import torch

from gpu_common import DEVICE, first_line, synchronize
from gpu_models import MODELS, cast, text_model

MODELS["bert-base"] = text_model("Bert", vocab_size=30522)
CASES = [(name, batch) for batch in (1, 32) for name in ("resnet50", "bert-base", "vit_b_16", "mobilenet_v3_large")]


def traced_case(name: str, batch: int) -> tuple:
    """Returns a model in float16 on the GPU, its trace, and the inputs of a call."""
    torch.manual_seed(0)
    model, inputs_of = MODELS[name]()
    model = model.eval().to(DEVICE).half()
    inputs = cast(inputs_of(batch), torch.float16)
    return model, torch.jit.trace(model, inputs, check_trace=False, strict=False), inputs


@torch.inference_mode()
def bench(arguments) -> None:
    import torchtrt

    end = time.monotonic() + arguments.seconds - 10
    for name, batch in CASES:
        if time.monotonic() > end:
            print(f"SLOW {name} batch {batch} was not reached")
            continue
        try:
            model, traced, inputs = traced_case(name, batch)
            specs = [torchtrt.Input(list(x.shape), dtype=x.dtype) for x in inputs]
            ways = {"eager": model, "freeze": torch.jit.freeze(traced)}
            ways["engine"] = torchtrt.compile(traced, inputs=specs, device=DEVICE, enabled_precisions={torch.float16})
            if batch == 1:  # what replay saves
                os.environ["TORCHTRT_CUDA_GRAPHS"] = "0"
                ways["engine without replay"] = torchtrt.compile(traced, inputs=specs, device=DEVICE, enabled_precisions={torch.float16})
                del os.environ["TORCHTRT_CUDA_GRAPHS"]
        except Exception as error:  # noqa: BLE001 - told, and the others run
            print("FAIL", name, batch, first_line(error))
            continue
        row = []
        for way, module in ways.items():
            for with_graph in (False, True) if way != "engine without replay" else (False,):
                try:
                    row.append(f"{way}{'+graph' if with_graph else ''} {milliseconds(module, inputs, with_graph):.3f}")
                except Exception as error:  # noqa: BLE001 - told, and the others run
                    row.append(f"{way}{'+graph' if with_graph else ''} -")
                    print("FAIL", name, batch, way, with_graph, first_line(error))
        print(f"TABLE {name:20} batch {batch:2} fp16 ms: " + ", ".join(row), flush=True)
    print("SUM bench done on", torch.cuda.get_device_name(0))


def milliseconds(module, inputs, with_graph: bool) -> float:
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(4):
            module(*inputs)
    synchronize()
    run = lambda: module(*inputs)  # noqa: E731 - replaced below
    if with_graph:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            module(*inputs)
        run = graph.replay
    times = []
    for _ in range(7):
        begin, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(10):
            run()
        stop.record()
        synchronize()
        times.append(begin.elapsed_time(stop) / 10)
    return sorted(times)[len(times) // 2]
