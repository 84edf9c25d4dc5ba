"""Times of engines on a GPU in other precisions and with timed kernels; bench/bench.py compares them with other ways of running a model."""

import copy
import time

import torch

from gpu_common import DEVICE, exact_settings, first_line, implementations, synchronize
from gpu_models import MODELS, allowed, case_of, cast, difference, text_model

MODELS["bert-base"] = text_model("Bert", vocab_size=30522)
CASES = [(name, batch) for batch in (1, 32) for name in ("resnet50", "bert-base", "vit_b_16", "mobilenet_v3_large")]


def traced_case(name: str, batch: int, dtype: torch.dtype = torch.float16) -> tuple:
    """Returns a model on the GPU, its trace, and the inputs of a call."""
    case = case_of(name)
    model = case.model.to(DEVICE, dtype)
    inputs = cast(case.arguments_of(batch), dtype)
    return model, torch.jit.trace(model, inputs, check_trace=False, strict=False), inputs


def engine_of(traced, inputs, **options):
    """The trace compiled for shapes and dtypes of these inputs."""
    import torchtrt

    specs = [torchtrt.Input(list(x.shape), dtype=x.dtype) for x in inputs]
    precisions = {next(traced.parameters()).dtype}
    return torchtrt.compile(traced, inputs=specs, device=DEVICE, enabled_precisions=precisions, progress=False, **options)


def int8_engine(name: str, batch: int) -> tuple:
    """Returns an engine in int8, calibrated on the inputs, and these. Layers without an int8 form stay in float32."""
    import torchtrt

    _, traced, inputs = traced_case(name, batch, torch.float32)
    calibrator = torchtrt.ptq.DataLoaderCalibrator([inputs], algo_type=torchtrt.ptq.CalibrationAlgo.MINMAX_CALIBRATION)
    specs = [torchtrt.Input(list(x.shape), dtype=x.dtype) for x in inputs]
    return torchtrt.compile(traced, inputs=specs, device=DEVICE, enabled_precisions={torch.float32, torch.int8}, calibrator=calibrator,
                            progress=False), inputs


def check_results(engine, model, inputs) -> None:
    """
    Compares several calls with float64, as eager PyTorch is compared.

    Calls of PyTorch in between leave other values in the memory that the engine works in.
    """
    exact = copy.deepcopy(model).double()(*cast(inputs, torch.float64))
    expected = difference(model(*inputs), exact)
    ours = []
    for _ in range(5):
        ours.append(difference(engine(*inputs), exact))
        model(*inputs)
    most = allowed(next(model.parameters()).dtype, expected)
    assert all(each <= most for each in ours), f"off by {', '.join(f'{each:.1e}' for each in ours)} in calls one after the other, PyTorch by {expected:.1e}"


def cases_in(seconds: float):
    """Yields the name and batch of each case until the seconds are over; names the others."""
    end = time.monotonic() + seconds - 10
    for name, batch in CASES:
        if time.monotonic() < end:
            yield name, batch
        else:
            print(f"SLOW {name} batch {batch} was not reached")


# Name -> the dtype, and whether PyTorch and engines may use TF32.
PRECISIONS = {"float32": (torch.float32, False), "TF32": (torch.float32, True), "bfloat16": (torch.bfloat16, False), "float16": (torch.float16, False)}


@torch.inference_mode()
def precisions(arguments) -> None:
    """Each precision of two models, frozen in a CUDA graph and as an engine."""
    end = time.monotonic() + arguments.seconds - 10
    for name, batch in [(name, batch) for name in ("resnet50", "bert-base") for batch in (1, 32)]:
        row = []
        for label, (dtype, uses_tf32) in PRECISIONS.items():
            if time.monotonic() > end:
                print(f"SLOW {name} batch {batch} {label} was not reached")
                continue
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = uses_tf32
            try:
                _, traced, inputs = traced_case(name, batch, dtype)
                engine = engine_of(traced, inputs)
                of_pytorch = milliseconds(torch.jit.freeze(traced), inputs, True)
                row.append(f"{label} {milliseconds(engine, inputs, False):.3f} / {of_pytorch:.3f}")
            except Exception as error:  # noqa: BLE001 - told, and the others run
                print("FAIL", name, batch, label, first_line(error))
            finally:
                exact_settings()
        try:
            row.append(f"int8 {milliseconds(*int8_engine(name, batch), False):.3f}")
        except Exception as error:  # noqa: BLE001 - told, and the others run
            print("FAIL", name, batch, "int8", first_line(error))
        print(f"TABLE {name:10} batch {batch:2} ms, engine / freeze+graph: " + ", ".join(row), flush=True)
    print("SUM precisions done on", torch.cuda.get_device_name(0))


@torch.inference_mode()
def tuned(arguments) -> None:
    """Engines whose kernels were timed beside those that are chosen by rule, in turns."""
    file = f"{arguments.out}/kernels.txt"
    for name, batch in cases_in(arguments.seconds):
        try:
            model, traced, inputs = traced_case(name, batch)
            by_rule, start = engine_of(traced, inputs), time.perf_counter()
            timed = engine_of(traced, inputs, tune=True, timing_cache=file, sample_inputs=list(inputs))
            seconds = time.perf_counter() - start
            check_results(timed, model, inputs)
            rounds = [[milliseconds(each, inputs, False) for each in (by_rule, timed)] for _ in range(3)]
            before, after = (sorted(each)[1] for each in zip(*rounds))
            chosen = implementations(timed) - implementations(by_rule)
            print(f"TABLE {name:20} batch {batch:2} fp16 ms: by rule {before:.3f}, timed {after:.3f}; compiled in {seconds:.1f} s; {dict(chosen)}", flush=True)
        except Exception as error:  # noqa: BLE001 - told, and the others run
            print("FAIL", name, batch, first_line(error))
    print("SUM tuned done on", torch.cuda.get_device_name(0))


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
